/**
 * For every place where any operation names something: what a caller is answered about something
 * outside its scope is what it is answered about something that never existed, byte for byte. The
 * places are found in the schemas of the registry, so one that is added later is asked for here.
 */
import { randomUUID } from "node:crypto";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { errorBody, isMusterError } from "../../../services/contract/errors.ts";
import { operationByName, type OperationName, OPERATIONS } from "../../../services/contract/registry.ts";
import { NAMING_KEYS } from "../../../services/engine/scope/named-ids.ts";
import { describeEachDatabase, createTestDatabase } from "../../support/database.ts";
import { createTestEngine, type TestEngine } from "../../support/engine.ts";
import { type IdPath, idPositions } from "../../support/id-positions.ts";
import { type Call, callsOn, type Named } from "./calls.ts";
import { type Inside, plant, plantInside, plantOutside, SECRET, seeing } from "./two-sides.ts";

const UUIDS = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
const INSTANTS = /\d{4}-\d\d-\d\dT[\d:.]+Z/g;

/** Ids as they come, each under a number, so that equal stays equal; instants and minted names without their value. */
function withoutNames(text: string): string {
  const numbers = new Map<string, number>();
  return text
    .replaceAll(UUIDS, (id) => {
      numbers.set(id, numbers.get(id) ?? numbers.size);
      return `id-${numbers.get(id)}`;
    })
    .replaceAll(INSTANTS, "instant")
    .replaceAll(/"(retryAfterMs|msLeft)":\d+/g, '"$1":0')
    .replaceAll(/"(cursor|workerId)":"[^"]*"/g, '"$1":""');
}

async function answerTo(muster: TestEngine, { operation, input }: Call, top: string): Promise<string> {
  try {
    return JSON.stringify(await muster.call(operation, input, seeing(top)));
  } catch (error) {
    if (!isMusterError(error)) throw error;
    return JSON.stringify(errorBody(error));
  }
}

function idsOf(side: Named): string[] {
  return [side.item, side.other, side.root, side.deleted, side.note, side.edge, side.trash];
}

interface Place {
  readonly at: readonly (string | number)[];
  readonly path: IdPath;
}

/** The places of a call that hold an id, as they stand in it and as the schema calls them. */
function placesIn(call: Call): Place[] {
  const known = new Set(positionsOf(call.operation));
  const found: Place[] = [];
  const look = (value: unknown, at: readonly (string | number)[]): void => {
    const path = at.map((step) => (typeof step === "number" ? "*" : step));
    if (typeof value === "string") {
      if (known.has(path.join("."))) found.push({ at, path });
    } else if (Array.isArray(value)) value.forEach((part, index) => look(part, [...at, index]));
    else if (typeof value === "object" && value !== null)
      for (const [key, part] of Object.entries(value)) look(part, [...at, key]);
  };
  look(call.input, []);
  return found;
}

/**
 * Ids of what is no part of the tree. Webhooks and deliveries are for callers without a scope
 * only; reminders and schedules are looked up together with the item that they are of.
 */
const NOT_OF_THE_TREE = new Set(["reminderId", "scheduleId", "webhookId", "deliveryIds"]);
const isOfTheTree = (path: readonly string[]): boolean => !path.some((step) => NOT_OF_THE_TREE.has(step));

function positionsOf(operation: OperationName): string[] {
  const found = operationByName.get(operation);
  if (found === undefined) throw new Error(`no operation ${operation}`);
  return idPositions(found.input).map((path) => path.join("."));
}

function withAt(call: Call, at: Place["at"], value: string): Call {
  const input = structuredClone(call.input) as Record<string, unknown>;
  const last = at.at(-1) ?? "";
  let holder: Record<string | number, unknown> = input;
  for (const step of at.slice(0, -1)) holder = holder[step] as Record<string | number, unknown>;
  holder[last] = value;
  return { ...call, input };
}

/** What of a side a place may name: what it is for, and for an item also others than a plain one. */
function namesFor(call: Call, place: Place, side: Named): string[] {
  const key = place.path.findLast((step) => step !== "*") ?? "";
  const special = call.names?.[key];
  if (special !== undefined) return [side[special]];
  return [side.item, side.root, side.deleted];
}

const NOTHING: Named = {
  item: randomUUID(),
  other: randomUUID(),
  root: randomUUID(),
  deleted: randomUUID(),
  note: randomUUID(),
  edge: randomUUID(),
  trash: randomUUID(),
};

describe("the calls of this test", () => {
  it("name something in every place where an operation takes an id", () => {
    const calls = callsOn(NOTHING);
    const covered = new Set(
      calls.flatMap((call) => placesIn(call).map(({ path }) => `${call.operation} ${path.join(".")}`)),
    );
    const places = OPERATIONS.flatMap((one) =>
      idPositions(one.input)
        .filter(isOfTheTree)
        .map((path) => `${one.name} ${path.join(".")}`),
    );
    expect(places.length).toBeGreaterThan(60);
    expect(places.filter((place) => !covered.has(place))).toEqual([]);
  });

  it("have a call of every operation that reads", () => {
    const called = new Set<string>(callsOn(NOTHING).map(({ operation }) => operation));
    const reads = OPERATIONS.filter((one) => one.annotations.readOnlyHint).map((one) => one.name);
    expect(reads.filter((name) => !called.has(name))).toEqual([]);
  });

  it("name things under keys that the engine knows to look at", () => {
    const keys = OPERATIONS.flatMap((one) =>
      idPositions(one.input)
        .filter(isOfTheTree)
        .map((path) => path.findLast((step) => step !== "*") ?? ""),
    );
    expect(keys.filter((key) => !NAMING_KEYS.has(key))).toEqual([]);
  });
});

describeEachDatabase("a caller with a scope", (database) => {
  let muster: TestEngine;
  let inside: Inside;
  let outside: Named;
  /** Answers of what only reads, from before there was an outside. */
  const before = new Map<string, string>();
  const reads = (): Call[] =>
    callsOn(inside).filter(
      ({ operation }) => operationByName.get(operation)?.annotations.readOnlyHint === true,
    );
  const keyOf = ({ operation, input }: Call): string => `${operation} ${JSON.stringify(input)}`;

  beforeAll(async () => {
    muster = createTestEngine(database());
    inside = await plantInside(muster);
    for (const call of reads()) before.set(keyOf(call), await answerTo(muster, call, inside.top));
    outside = await plantOutside(muster, inside);
  }, 120_000);
  afterAll(() => muster.close());

  it("is answered as if there were nothing outside: the same items, hits, totals and pages", async () => {
    const changed: unknown[] = [];
    for (const call of reads()) {
      const now = withoutNames(await answerTo(muster, call, inside.top));
      const earlier = withoutNames(before.get(keyOf(call)) ?? "");
      if (now !== earlier) changed.push({ call: keyOf(call), earlier, now });
    }
    expect(changed).toEqual([]);
  }, 120_000);

  it("is never told a title, a text or an id of the outside by anything that reads", async () => {
    for (const call of reads()) {
      const answer = await answerTo(muster, call, inside.top);
      expect(answer).not.toContain(SECRET);
      for (const id of [...idsOf(outside), inside.above]) expect(answer).not.toContain(id);
    }
  }, 120_000);

  it("gets for what is outside the bytes that it gets for what never existed, in every place of every operation", async () => {
    const differing: unknown[] = [];
    let compared = 0;
    const compare = async (
      make: (id: string) => Promise<string>,
      id: string,
      what: string,
    ): Promise<void> => {
      const unknown = withoutNames(await make(randomUUID()));
      const hidden = withoutNames(await make(id));
      compared += 1;
      if (hidden !== unknown) differing.push({ what, unknown, hidden });
    };
    for (const [index, sample] of callsOn(inside).entries()) {
      for (const place of placesIn(sample)) {
        const names = [
          ...namesFor(sample, place, outside),
          ...(sample.names === undefined ? [inside.above] : []),
        ];
        for (const id of names) {
          // A fresh item beside it, for calls that do something before they come to the place.
          const make = async (named: string): Promise<string> => {
            const other = await plant(muster, "other", inside.top);
            const call = callsOn({ ...inside, other })[index];
            if (call === undefined) throw new Error("the calls changed");
            return await answerTo(muster, withAt(call, place.at, named), inside.top);
          };
          await compare(
            make,
            id,
            `${sample.operation} ${place.at.join(".")} ${JSON.stringify(sample.input)}`,
          );
        }
      }
    }
    expect(differing).toEqual([]);
    expect(compared).toBeGreaterThan(200);
  }, 300_000);

  it("finds nothing outside by the beginning of an id, nor is such a beginning ambiguous for it", async () => {
    const begin = (id: string): string => id.replaceAll("-", "").slice(0, 12);
    const nothing = begin(randomUUID());
    const ask = (prefix: string): Call => ({
      operation: "query_items",
      input: { operation: "get", itemId: prefix },
    });
    for (const id of [outside.item, outside.root, inside.above]) {
      const hidden = (await answerTo(muster, ask(begin(id)), inside.top)).replaceAll(begin(id), "prefix");
      const unknown = (await answerTo(muster, ask(nothing), inside.top)).replaceAll(nothing, "prefix");
      expect(hidden).toBe(unknown);
    }
    expect(await answerTo(muster, ask(begin(inside.item)), inside.top)).toContain(inside.item);
  });

  it("can make no root, lift nothing to the top, and move nothing out of its sight", async () => {
    const update = (itemId: string, parentId: string | null): Promise<string> =>
      answerTo(
        muster,
        { operation: "manage_items", input: { operation: "update", items: [{ itemId, parentId }] } },
        inside.top,
      );
    expect(await update(inside.other, null)).toContain("insufficient_capability");
    expect(await update(inside.other, outside.root)).toContain("RESOURCE_NOT_FOUND");
    const create = await answerTo(
      muster,
      { operation: "manage_items", input: { operation: "create", items: [{ title: "root" }] } },
      inside.top,
    );
    expect(create).toContain("insufficient_capability");
    const tree = { operation: "create_work_tree", input: { root: { title: "root" } } } as const;
    expect(await answerTo(muster, tree, inside.top)).toContain("insufficient_capability");
  });
});

/** Parameters, of which lists of ids travel as bytes; ids without their dashes. */
function asText(values: unknown): string {
  if (!Array.isArray(values)) return "";
  return values
    .map((value: unknown) => (Buffer.isBuffer(value) ? value.toString("hex") : JSON.stringify(value)))
    .join(" ")
    .replaceAll("-", "");
}

describe("statements for a caller with a scope", () => {
  it("never carry an id from outside, but the one that asks what may be seen", async () => {
    await using database = await createTestDatabase({ kind: "pg" });
    const muster = createTestEngine(database);
    const inside = await plantInside(muster);
    const outside = await plantOutside(muster, inside);
    const seen: { text: string; values: string }[] = [];
    const original = Client.prototype.query;
    const spy = vi.spyOn(Client.prototype, "query").mockImplementation(function record(
      this: Client,
      ...sent: unknown[]
    ) {
      const [query, values] = sent as [{ text?: string; values?: unknown } | string, unknown];
      const text = typeof query === "string" ? query : (query.text ?? "");
      seen.push({
        text,
        values: asText(typeof query === "string" ? values : (query as { values?: unknown }).values),
      });
      return Reflect.apply(original, this, sent) as unknown;
    });
    try {
      for (const sample of callsOn(inside)) {
        for (const place of placesIn(sample)) {
          for (const id of namesFor(sample, place, outside))
            await answerTo(muster, withAt(sample, place.at, id), inside.top);
        }
      }
    } finally {
      spy.mockRestore();
      await muster.close();
    }
    const ids = idsOf(outside).map((id) => id.replaceAll("-", ""));
    const named = seen.filter(({ values }) => ids.some((id) => values.includes(id)));
    expect(named.length).toBeGreaterThan(100);
    // Who asked for it is written down, for those who may know: that is what an audit is for.
    const read = named.filter(({ text }) => !text.startsWith("insert into audit_log"));
    expect(read.filter(({ text }) => !text.includes("as hidden"))).toEqual([]);
  }, 300_000);
});
