/** What an import did, table by table, and exactly what it left out or changed, and why. */

export interface TableTally {
  found: number;
  imported: number;
  /** In Muster before: left as it is there. */
  alreadyThere: number;
  leftOut: number;
}

export interface Remark {
  readonly table: string;
  readonly id: string;
  readonly reason: string;
}

export interface ImportReport {
  readonly tables: Readonly<Record<string, TableTally>>;
  /** Claims that were live, and ended. */
  readonly claimsReleased: number;
  readonly leftOut: readonly Remark[];
  /** Rows that came over with a value that reads differently. */
  readonly changed: readonly Remark[];
  /** More than these lists hold. */
  readonly remarksDropped: number;
}

/** Each remark is kept, up to so many: a file that is wrong everywhere must not fill the memory. */
const REMARKS_MAX = 20_000;

export class ImportLedger {
  readonly #tables = new Map<string, TableTally>();
  readonly #leftOut: Remark[] = [];
  readonly #changed: Remark[] = [];
  #dropped = 0;
  #released = 0;

  constructor(counts: ReadonlyMap<string, number>) {
    for (const [table, found] of counts)
      this.#tables.set(table, { found, imported: 0, alreadyThere: 0, leftOut: 0 });
  }

  imported(table: string, count = 1): void {
    this.#tally(table).imported += count;
  }

  alreadyThere(table: string, count = 1): void {
    this.#tally(table).alreadyThere += count;
  }

  leftOut(table: string, id: string, reason: string): void {
    this.#tally(table).leftOut += 1;
    this.#keep(this.#leftOut, { table, id, reason });
  }

  /** A whole table, or all that hangs on something. */
  leftOutMany(table: string, count: number, id: string, reason: string): void {
    if (count === 0) return;
    this.#tally(table).leftOut += count;
    this.#keep(this.#leftOut, { table, id, reason: `${count} ${count === 1 ? "row" : "rows"}: ${reason}` });
  }

  changed(table: string, id: string, reason: string): void {
    this.#keep(this.#changed, { table, id, reason });
  }

  released(): void {
    this.#released += 1;
  }

  /** What another ledger says: of a transaction that is through. */
  add(other: ImportReport): void {
    for (const [table, tally] of Object.entries(other.tables)) {
      const mine = this.#tally(table);
      mine.imported += tally.imported;
      mine.alreadyThere += tally.alreadyThere;
      mine.leftOut += tally.leftOut;
    }
    for (const remark of other.leftOut) this.#keep(this.#leftOut, remark);
    for (const remark of other.changed) this.#keep(this.#changed, remark);
    this.#dropped += other.remarksDropped;
    this.#released += other.claimsReleased;
  }

  report(): ImportReport {
    return {
      tables: Object.fromEntries(this.#tables),
      claimsReleased: this.#released,
      leftOut: this.#leftOut,
      changed: this.#changed,
      remarksDropped: this.#dropped,
    };
  }

  #tally(table: string): TableTally {
    const known = this.#tables.get(table) ?? { found: 0, imported: 0, alreadyThere: 0, leftOut: 0 };
    this.#tables.set(table, known);
    return known;
  }

  #keep(list: Remark[], remark: Remark): void {
    if (list.length < REMARKS_MAX) list.push(remark);
    else this.#dropped += 1;
  }
}
