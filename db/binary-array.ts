/**
 * Columns of values as PostgreSQL's own binary arrays. A batch that travels as JSON is
 * parsed character by character on the other side, which cost more than the inserts.
 */
import { Buffer } from "node:buffer";

/** Types that batches are made of. `json` travels as text and is cast by the statement. */
export type ColumnType = "uuid" | "text" | "int4" | "int8" | "bool" | "timestamptz";

const OIDS: Readonly<Record<ColumnType, number>> = {
  bool: 16,
  int8: 20,
  int4: 23,
  text: 25,
  timestamptz: 1184,
  uuid: 2950,
};

/** Bytes of a value; -1: as many as the text has. */
const WIDTHS: Readonly<Record<ColumnType, number>> = {
  bool: 1,
  int8: 8,
  int4: 4,
  text: -1,
  timestamptz: 8,
  uuid: 16,
};

/** The database counts microseconds from here. */
const EPOCH_MS = Date.UTC(2000, 0, 1);
const HEADER_BYTES = 20;
const LENGTH_BYTES = 4;

export type ColumnValue = string | number | boolean | null;

/** One column of a batch: a parameter of type `type[]`. Instants are milliseconds since 1970. */
export class Column {
  readonly type: ColumnType;
  readonly values: readonly ColumnValue[];

  constructor(type: ColumnType, values: readonly ColumnValue[]) {
    this.type = type;
    this.values = values;
  }

  /** The array as `array_recv` reads it. */
  toBinary(): Buffer {
    const { type, values } = this;
    const array = Buffer.allocUnsafe(HEADER_BYTES + this.#bodyBytes());
    // One dimension, maybe nulls, its type, its length, counted from 1; an empty array has no dimension.
    array.writeInt32BE(values.length === 0 ? 0 : 1, 0);
    array.writeInt32BE(1, 4);
    array.writeInt32BE(OIDS[type], 8);
    array.writeInt32BE(values.length, 12);
    array.writeInt32BE(1, 16);
    if (values.length === 0) return array.subarray(0, 12);
    let at = HEADER_BYTES;
    for (const value of values) {
      if (value === null) {
        at = array.writeInt32BE(-1, at);
        continue;
      }
      const written = write(array, at + LENGTH_BYTES, type, value);
      array.writeInt32BE(written, at);
      at += LENGTH_BYTES + written;
    }
    return array;
  }

  /** The array for a driver that converts by itself. */
  toValues(): readonly unknown[] {
    if (this.type !== "timestamptz") return this.values;
    return this.values.map((value) => (value === null ? null : new Date(Number(value)).toISOString()));
  }

  #bodyBytes(): number {
    const width = WIDTHS[this.type];
    let bytes = LENGTH_BYTES * this.values.length;
    for (const value of this.values) {
      if (value !== null) bytes += width < 0 ? Buffer.byteLength(String(value)) : width;
    }
    return bytes;
  }
}

function write(array: Buffer, at: number, type: ColumnType, value: string | number | boolean): number {
  switch (type) {
    case "text":
      return array.write(String(value), at);
    case "uuid": {
      const written = array.write(String(value).replaceAll("-", ""), at, "hex");
      if (written !== WIDTHS.uuid) throw new TypeError(`not a uuid: ${String(value)}`);
      return written;
    }
    case "int4":
      return array.writeInt32BE(Number(value), at) - at;
    case "int8":
      return array.writeBigInt64BE(BigInt(value), at) - at;
    case "bool":
      return array.writeUInt8(value === true ? 1 : 0, at) - at;
    case "timestamptz":
      return array.writeBigInt64BE(BigInt(Math.round((Number(value) - EPOCH_MS) * 1000)), at) - at;
  }
}
