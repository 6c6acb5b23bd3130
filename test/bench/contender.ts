/** One system under measurement, and what a cycle of it is. */
export interface Contender {
  readonly name: string;
  /** What one cycle does, for the report. */
  readonly cycle: string;
  /** Fills `rows` queued rows, outside of the measured time. */
  prepare(rows: number): Promise<void>;
  /** One cycle by caller number `caller`. Returns the id that it worked on, for the count of duplicates. */
  run(caller: number): Promise<string>;
  close(): Promise<void>;
}
