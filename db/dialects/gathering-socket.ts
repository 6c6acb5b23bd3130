/**
 * A socket that sends at once what is written in one turn of the event loop. The driver writes
 * each statement by itself, and a transaction sends many at a time: every write was a call of
 * the system, which cost more than making the statements.
 */
import { Socket } from "node:net";

export function gatheringSocket(): Socket {
  const socket = new Socket();
  // Not before: `connect` puts the plain `write` back.
  socket.once("connect", () => {
    const write: Socket["write"] = socket.write.bind(socket);
    let gathers = false;
    const gather = (...written: Parameters<Socket["write"]>): boolean => {
      if (!gathers) {
        gathers = true;
        socket.cork();
        setImmediate(() => {
          gathers = false;
          socket.uncork();
        });
      }
      return write(...written);
    };
    socket.write = gather as Socket["write"];
  });
  return socket;
}
