/** What becomes due without anybody calling, for the schedulers that see to it. */
import { type DueInstant, findNextInstants } from "../../db/stores/instant-store.ts";
import { SWEEP_GRACE_MAX_MS } from "./claims/free-lapsed.ts";
import type { EngineDeps } from "./deps.ts";
import { CLAIMABLE } from "./writing/transact.ts";

export type { DueInstant };

export interface Instants {
  /** The next instant of each kind. */
  next(): Promise<readonly DueInstant[]>;
  /** An item's wait is over: claims that wait look again. */
  wakeWaiting(): void;
}

export function createInstants({ db, coordination }: Pick<EngineDeps, "db" | "coordination">): Instants {
  return {
    next: () => findNextInstants(db, SWEEP_GRACE_MAX_MS),
    wakeWaiting: () => coordination.wakeUps.publish([CLAIMABLE]),
  };
}
