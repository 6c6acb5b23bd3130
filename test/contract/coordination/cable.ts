/** A stretch of network that can be cut without either end being told, as real cables are. */
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

export interface Cable {
  readonly port: number;
  /** How many connections were made through it, cut or not. */
  connections(): number;
  /** From now on nothing passes, old connections and new. */
  cut(): void;
  /** New connections pass again; the old ones stay mute. */
  mend(): void;
  [Symbol.asyncDispose](): Promise<void>;
}

export async function startCable(toPort: number): Promise<Cable> {
  const sockets = new Set<Socket>();
  let isCut = false;
  let connections = 0;

  const server = createServer((near) => {
    connections += 1;
    const far = connect(toPort, "127.0.0.1");
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on("error", () => socket.destroy());
    }
    if (isCut) return;
    near.pipe(far);
    far.pipe(near);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("A TCP server has a port.");

  return {
    port: address.port,
    connections: () => connections,
    cut() {
      isCut = true;
      for (const socket of sockets) socket.unpipe().pause();
    },
    mend() {
      isCut = false;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
