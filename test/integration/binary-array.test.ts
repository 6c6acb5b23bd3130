import { sql } from "kysely";
import { expect, it } from "vitest";
import { Column, type ColumnType, type ColumnValue } from "../../db/binary-array.ts";
import { describeEachDatabase } from "../support/database.ts";

const ID = "0f8fad5b-d9cb-469f-a165-70867728950e";
const INSTANT = Date.UTC(1969, 6, 20, 20, 17, 40, 123);

/** What goes in, and the text that the database makes of it. */
const CASES: readonly (readonly [ColumnType, readonly ColumnValue[], readonly (string | null)[]])[] = [
  ["uuid", [ID, null], [ID, null]],
  [
    "text",
    ["", "a \u{1f600} b", null, '{"quoted": "\\\\"}'],
    ["", "a \u{1f600} b", null, '{"quoted": "\\\\"}'],
  ],
  ["int4", [-2_147_483_648, 0, null], ["-2147483648", "0", null]],
  ["int8", [Number.MAX_SAFE_INTEGER, -1, null], ["9007199254740991", "-1", null]],
  ["bool", [true, false, null], ["true", "false", null]],
  ["timestamptz", [INSTANT, null], ["1969-07-20 20:17:40.123+00", null]],
];

describeEachDatabase("a column of values", (database) => {
  for (const [type, values, expected] of CASES) {
    it(`arrives as it was sent: ${type}`, async () => {
      const { db } = database();
      const array = sql.raw(`::${type}[]`);
      const { rows } = await db.connection().execute(async (one) => {
        await sql`set time zone 'UTC'`.execute(one);
        const answer = await sql<{ n: string; v: string | null }>`
          select n, v::text from unnest(${new Column(type, values)}${array}) with ordinality as u(v, n) order by n`.execute(
          one,
        );
        await sql`reset time zone`.execute(one);
        return answer;
      });
      expect(rows.map((row) => row.v)).toEqual(expected);
    });

    it(`arrives empty when it is empty: ${type}`, async () => {
      const array = sql.raw(`::${type}[]`);
      const { rows } = await sql<{
        n: number;
      }>`select cardinality(${new Column(type, [])}${array}) as n`.execute(database().db);
      expect(rows).toEqual([{ n: 0 }]);
    });
  }

  it("with something that is no uuid is refused before it is sent", async () => {
    expect(() => new Column("uuid", ["not-one"]).toBinary()).toThrow("not a uuid");
  });
});
