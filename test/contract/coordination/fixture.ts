import type { Coordination } from "../../../services/coordination/port.ts";

/** A fresh store and two processes that use it. */
export interface CoordinationFixture {
  /** Where a process is alone, the same one twice. */
  replicas(): readonly [Coordination, Coordination];
  /** The store loses everything it remembers. */
  forget(): Promise<void>;
  close(): Promise<void>;
}

export type MakeFixture = () => Promise<CoordinationFixture>;

/** Some instant of the database's clock. */
export const START_MS = Date.UTC(2030, 0, 1);
