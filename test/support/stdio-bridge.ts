/** The stdio bridge as a process of its own: the addresses of Muster are its arguments. */
import { serveStdioBridge } from "../../services/api/mcp/stdio.ts";
import { TEST_VERSION } from "./server.ts";

const bridge = serveStdioBridge({
  urls: process.argv.slice(2),
  version: TEST_VERSION,
  note: (message) => process.stderr.write(`${message}\n`),
});
await bridge.closed;
