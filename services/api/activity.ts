/**
 * When a server was last of use to somebody. One that was started in the background for an
 * MCP client counts as used while a call runs, and whenever a client asks whether it lives:
 * `muster mcp` does so every minute for as long as its own client is there.
 */
import type { Engine } from "../engine/engine.ts";
import type { Health } from "../runtime/health.ts";

export interface Activity {
  /** The same engine, watched. */
  watchEngine(engine: Engine): Engine;
  /** The same health, watched. */
  watchHealth(health: Health): Health;
  /** Milliseconds since the last sign of a client; 0 while a call runs or somebody follows events. */
  idleMs(): number;
}

export function createActivity(now: () => number = () => performance.now()): Activity {
  let running = 0;
  let lastAt = now();
  let followers = (): number => 0;
  return {
    watchEngine(engine) {
      followers = () => engine.events.size;
      return {
        ...engine,
        async execute(name, input, caller) {
          running += 1;
          try {
            return await engine.execute(name, input, caller);
          } finally {
            running -= 1;
            lastAt = now();
          }
        },
      };
    },
    watchHealth: (health) => ({
      ...health,
      live: () => {
        lastAt = now();
        return health.live();
      },
    }),
    idleMs: () => (running > 0 || followers() > 0 ? 0 : now() - lastAt),
  };
}
