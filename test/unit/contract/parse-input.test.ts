import { assert, constantFrom, object, property } from "fast-check";
import { describe, expect, it } from "vitest";
import { isMusterError, type MusterError } from "../../../services/contract/errors.ts";
import { schemasOf, type JsonSchema } from "../../../services/contract/json-schema.ts";
import { parseInput } from "../../../services/contract/parse.ts";
import {
  OPERATIONS,
  operationByName,
  type InputOf,
  type OperationName,
} from "../../../services/contract/registry.ts";

const ITEM = "0f8fad5b-d9cb-469f-a165-70867728950e";
const KEY = "7c9e6679-7425-40de-944b-e07fc1f90ae7";
const actor = { id: "worker-1", kind: "subagent" };

function parse<N extends OperationName>(name: N, raw: unknown): InputOf<N> {
  const operation = operationByName.get(name);
  if (operation === undefined) throw new Error(`no operation ${name}`);
  return parseInput(operation, raw) as InputOf<N>;
}

function refusalOf(name: OperationName, raw: unknown): MusterError {
  try {
    parse(name, raw);
  } catch (thrown) {
    if (isMusterError(thrown)) return thrown;
    throw thrown;
  }
  throw new Error(`${name} accepted ${JSON.stringify(raw)}`);
}

function fieldNames(schema: JsonSchema): string[] {
  const inItems = schema.items === undefined ? [] : fieldNames(schema.items);
  const fields = Object.entries(schema.properties ?? {});
  return [...inItems, ...fields.flatMap(([name, field]) => [name, ...fieldNames(field)])];
}

const claim = (entry: unknown, rest: object = {}): unknown => ({
  actor,
  requestId: KEY,
  claims: [entry],
  ...rest,
});

describe("unknown keys", () => {
  it("a key of an element, sent at the top level, is refused naming the element [P-31]", () => {
    const error = refusalOf("claim_item", claim({ selector: {} }, { ttlSeconds: 60 }));
    expect(error.code).toBe("VALIDATION_ERROR");
    expect(error.message).toContain('unknown key "ttlSeconds": it belongs into claims[]');
  });

  it("a key of the top level, sent in an element, is refused naming the top level [P-31]", () => {
    const error = refusalOf("claim_item", claim({ selector: {}, waitSeconds: 5 }));
    expect(error.message).toContain('claims[0]: unknown key "waitSeconds": it belongs into the top level');
  });

  it.each([
    ["itemid", "itemId"],
    ["item_id", "itemId"],
    ["item", "itemId"],
    ["tllSeconds", "ttlSeconds"],
  ])("the misspelt key %s is refused naming %s [P-31]", (wrong, right) => {
    expect(refusalOf("claim_item", claim({ [wrong]: ITEM })).message).toContain(`did you mean "${right}"?`);
  });

  it("a key like nothing known is refused naming what is accepted there", () => {
    const { message } = refusalOf("get_next_status", { itemId: ITEM, zzzzzz: 1 });
    expect(message).toContain('unknown key "zzzzzz": accepted here are itemId, agent, workerId');
  });

  it("a role on creation is refused, saying how roles change [B11]", () => {
    const error = refusalOf("manage_items", { operation: "create", items: [{ title: "a", role: "work" }] });
    expect(error.message).toContain('items[0]: unknown key "role": items start in queue');
  });

  it("keys that every object inherits are unknown like any other", () => {
    const raw = JSON.parse(`{"itemId":"${ITEM}","__proto__":{"agent":"x"},"constructor":1}`) as unknown;
    const { message } = refusalOf("explain_item", raw);
    expect(message).toContain('unknown key "__proto__"');
    expect(message).toContain('unknown key "constructor"');
  });

  it("client metadata at the top level is dropped, elsewhere refused", () => {
    const meta = { _meta: { progressToken: 1 }, progressToken: "x", traceparent: "00-1-1-01" };
    expect(parse("explain_item", { itemId: ITEM, ...meta })).toEqual({ itemId: ITEM });
    expect(refusalOf("claim_item", claim({ selector: {}, _meta: {} })).message).toContain(
      'unknown key "_meta"',
    );
  });

  it("every operation refuses a key it does not know", () => {
    for (const { name } of OPERATIONS) {
      expect(refusalOf(name as OperationName, { surelyUnknown: 1 }).message).toContain("surelyUnknown");
    }
  });
});

describe("types", () => {
  it("every fault is named at once, with its path", () => {
    const error = refusalOf("claim_item", {
      actor: { id: "", kind: "robot" },
      requestId: 5,
      claims: [{ selector: { complexityMax: 11, priority: "urgent" } }],
      waitSeconds: 51,
    });
    expect(error.message).toContain("actor.id: must be filled in");
    expect(error.message).toContain("actor.kind: must be one of orchestrator, subagent, user, external");
    expect(error.message).toContain("requestId: must be a string, not 5");
    expect(error.message).toContain("claims[0].selector.complexityMax: must be at most 10, not 11");
    expect(error.message).toContain("claims[0].selector.priority: must be one of high, medium, low");
    expect(error.message).toContain("waitSeconds: must be at most 50, not 51");
    expect(error.details).toMatchObject({
      faults: [{ path: "actor.id", message: "must be filled in, not empty" }, {}, {}, {}, {}, {}],
    });
  });

  it("many faults are cut short, and counted", () => {
    const items = Array.from({ length: 50 }, () => ({}));
    expect(refusalOf("manage_items", { operation: "create", items }).message).toMatch(/; and 30 more$/);
  });

  it.each([null, undefined, [], "text", 7])("an input of %j is refused in words", (raw) => {
    expect(refusalOf("explain_item", raw).message).toContain("an object");
  });

  it("null for a field that cannot be cleared is refused, never read as absence", () => {
    expect(refusalOf("claim_item", claim({ selector: { parentId: null } })).message).toContain(
      "must be a string, not null",
    );
  });

  it("the strings true and false count at boolean fields only", () => {
    const input = parse("claim_item", claim({ selector: { containers: "false" }, start: "true" }));
    expect(input.claims[0]).toMatchObject({ start: true, selector: { containers: false } });
    expect(refusalOf("claim_item", claim({ selector: {}, start: "yes" })).message).toContain(
      "claims[0].start: must be true or false",
    );
    const titled = parse("manage_items", { operation: "create", items: [{ title: "true" }] });
    expect(titled).toMatchObject({ items: [{ title: "true" }] });
  });

  it("triggers and other closed values are matched whatever their case [B8]", () => {
    expect(parse("advance_item", { itemId: ITEM, trigger: "START" }).transitions).toMatchObject([
      { trigger: "start" },
    ]);
    expect(parse("get_next_item", { orderBy: "Oldest" }).orderBy).toBe("oldest");
  });

  it("the trigger cascade is refused to callers [B8]", () => {
    for (const trigger of ["cascade", "CASCADE"]) {
      const error = refusalOf("advance_item", { transitions: [{ itemId: ITEM, trigger }] });
      expect(error.message).toContain("transitions[0].trigger: cascade is not a trigger for callers");
    }
  });

  it("whatever is sent under known names, the answer is a parsed input or an error of ours", () => {
    const words = [
      null,
      true,
      "true",
      "fail",
      "linear",
      "constructor",
      "create",
      "update",
      "delete",
      1,
      ITEM,
      "aaaa",
    ];
    const values = [constantFrom<unknown>(...words)];
    const names = OPERATIONS.flatMap((operation) => fieldNames(schemasOf(operation).parsed));
    const raws = object({ key: constantFrom(...names, "constructor"), values, maxDepth: 4, maxKeys: 8 });
    assert(
      property(constantFrom(...OPERATIONS), raws, (operation, raw) => {
        try {
          parseInput(operation, raw);
        } catch (thrown) {
          if (!isMusterError(thrown)) throw thrown;
        }
      }),
      { numRuns: 3_000 },
    );
  });

  it("elements that are no objects are refused in words", () => {
    const raws: [OperationName, object][] = [
      ["advance_item", { transitions: [null, 3], requestId: KEY, claimNext: { selector: {} } }],
      ["manage_items", { operation: "create", items: [null, "x"] }],
      ["manage_dependencies", { operation: "create", dependencies: [null, []] }],
      ["claim_item", { actor, requestId: KEY, claims: [null] }],
    ];
    for (const [name, raw] of raws)
      expect(refusalOf(name, raw).message).toContain("[0]: must be an object, not null");
  });
});

describe("ttl", () => {
  it.each([0, -1, 86_401, 1.5, "900", null])(
    "a ttl of %j is refused naming the range [B41]",
    (ttlSeconds) => {
      const { message } = refusalOf("claim_item", claim({ selector: {}, ttlSeconds }));
      expect(message).toContain("claims[0].ttlSeconds: must be a whole number of seconds from 1 to 86400");
    },
  );

  it("a ttl is 900 unless given, and 1 and 86400 are allowed [B41]", () => {
    expect(parse("claim_item", claim({ selector: {} })).claims[0]?.ttlSeconds).toBe(900);
    for (const ttlSeconds of [1, 86_400]) {
      expect(parse("claim_item", claim({ itemId: ITEM, ttlSeconds })).claims[0]?.ttlSeconds).toBe(ttlSeconds);
    }
  });
});

describe("ids", () => {
  it("a full id or a prefix of 4 to 35 hex digits is taken, in lower case [B79]", () => {
    for (const itemId of [ITEM.toUpperCase(), "0f8f", "0F8FAD5B", "a".repeat(35)]) {
      expect(parse("explain_item", { itemId }).itemId).toBe(itemId.toLowerCase());
    }
  });

  it.each([
    ["abc", "too short: an id prefix has 4 to 35 hex digits"],
    ["xyzw", "only hex digits"],
    ["0f8fad5b-d9cb", "not a full UUID"],
    ["", "not an item id"],
    ["a".repeat(36), "too long"],
  ])("the id %j is refused: %s [B79]", (itemId, words) => {
    expect(refusalOf("explain_item", { itemId }).message).toContain(words);
  });

  it("a delete needs the full id", () => {
    const { message } = refusalOf("manage_items", { operation: "delete", itemIds: ["0f8fad5b"] });
    expect(message).toContain("itemIds[0]");
    expect(message).toContain("a prefix is not enough");
  });
});

describe("request ids", () => {
  it("a malformed requestId is refused by every operation that takes one [B57]", () => {
    const raws: Partial<Record<OperationName, object>> = {
      claim_item: { actor, claims: [{ selector: {} }] },
      advance_item: { itemId: ITEM, trigger: "start" },
      manage_items: { operation: "create", items: [{ title: "a" }] },
      manage_dependencies: { operation: "create", dependencies: [{ fromItemId: "aaaa", toItemId: "bbbb" }] },
    };
    for (const [name, raw] of Object.entries(raws) as [OperationName, object][]) {
      expect(refusalOf(name, { ...raw, requestId: "not-a-uuid" }).message).toContain("requestId");
      expect(() => parse(name, { ...raw, requestId: KEY })).not.toThrow();
    }
  });

  it("claim_item needs one [B57]", () => {
    expect(refusalOf("claim_item", { actor, claims: [{ selector: {} }] }).message).toContain(
      "requestId: is missing",
    );
  });

  it("a batch under one requestId has one actor", () => {
    const other = { id: "worker-2", kind: "subagent" };
    const transitions = [
      { itemId: ITEM, trigger: "start", actor },
      { itemId: ITEM, trigger: "start", actor: other },
    ];
    expect(refusalOf("advance_item", { transitions, requestId: KEY }).message).toContain("same actor.id");
    expect(() => parse("advance_item", { transitions })).not.toThrow();
  });
});

describe("claims", () => {
  it("two claims in a call are refused before anything else that is wrong [B42]", () => {
    const error = refusalOf("claim_item", { claims: [{ itemId: "x" }, { nonsense: 1 }], alsoUnknown: true });
    expect(error.code).toBe("multi_claim_not_supported");
    expect(error.message).toMatch(/^claim_item: claims: has 2 entries/);
  });

  it.each([{}, { itemId: ITEM, selector: {} }])(
    "an entry with neither or both of itemId and selector is refused: %j",
    (entry) => {
      expect(refusalOf("claim_item", claim(entry)).message).toContain("exactly one of itemId and selector");
    },
  );

  it("a call without any entry is refused", () => {
    expect(refusalOf("claim_item", { actor, requestId: KEY, claims: [] }).message).toContain(
      "claims, releases or refreshes",
    );
  });

  it("a selector takes one role or several, and all filters of get_next_item", () => {
    const selector = {
      role: "work, queue",
      ancestorId: "abcd",
      tags: "a,b,a",
      modifiedAfter: "2026-01-01",
      orderBy: "fair",
    };
    expect(parse("claim_item", claim({ selector })).claims[0]?.selector).toMatchObject({
      role: ["work", "queue"],
      tags: ["a", "b"],
      modifiedAfter: new Date("2026-01-01T00:00:00Z"),
      orderBy: "fair",
    });
    expect(parse("get_next_item", selector)).toMatchObject({ role: ["work", "queue"], orderBy: "fair" });
  });

  it("terminal is not a role to claim from", () => {
    expect(refusalOf("claim_item", claim({ selector: { role: "terminal" } })).message).toContain(
      '"terminal" is not a role here',
    );
  });

  it("an inverted window of time is refused", () => {
    const selector = { createdAfter: "2026-02-01T00:00:00Z", createdBefore: "2026-01-01T00:00:00Z" };
    expect(refusalOf("claim_item", claim({ selector })).message).toContain("must be before createdBefore");
  });

  it("agentId is accepted, as the original accepts it", () => {
    expect(() => parse("claim_item", claim({ selector: {}, agentId: "x" }))).not.toThrow();
  });

  it.each(["two words", "", "ä", "a".repeat(201)])("the workerId %j is refused [P-08]", (workerId) => {
    expect(refusalOf("claim_item", claim({ selector: {} }, { workerId })).message).toContain("workerId:");
  });

  it("claimNext needs a requestId and an actor", () => {
    const { message } = refusalOf("advance_item", {
      itemId: ITEM,
      trigger: "complete",
      claimNext: { selector: {} },
    });
    expect(message).toContain("requestId: is needed with claimNext");
    expect(message).toContain("actor: is needed with claimNext");
  });
});

describe("transitions", () => {
  it("a single transition becomes a batch of one", () => {
    const single = parse("advance_item", {
      itemId: ITEM,
      trigger: "complete",
      summary: "done",
      fence: 3,
      actor,
    });
    expect(single.transitions).toMatchObject([
      { itemId: ITEM, trigger: "complete", summary: "done", fence: 3 },
    ]);
    expect(single.actor).toEqual(actor);
  });

  it("fail needs a reason, and only fail takes a class", () => {
    expect(refusalOf("advance_item", { itemId: ITEM, trigger: "fail" }).message).toContain(
      "reason: is needed",
    );
    expect(refusalOf("advance_item", { itemId: ITEM, trigger: "start", class: "item" }).message).toContain(
      "class: belongs to",
    );
  });
});

describe("items", () => {
  it("shared defaults of a creation reach the elements without their own", () => {
    const items = [{ title: "a" }, { title: "b", parentId: null, traits: "own" }];
    const input = parse("manage_items", { operation: "create", parentId: "abcd", traits: "one,two", items });
    expect(input).toMatchObject({
      items: [
        { title: "a", parentId: "abcd", traits: ["one", "two"], priority: "medium", summary: "" },
        { title: "b", parentId: null, traits: ["own"] },
      ],
    });
  });

  it("an update keeps what is absent, clears what is null, and empties traits [B78]", () => {
    const input = parse("manage_items", {
      operation: "update",
      items: [{ itemId: ITEM, type: null, traits: "" }, { itemId: ITEM }],
      traits: "shared",
    });
    if (input.operation !== "update") throw new Error("not an update");
    expect(input.items).toEqual([
      { itemId: ITEM, type: null, traits: [] },
      { itemId: ITEM, traits: ["shared"] },
    ]);
  });

  it("properties are an object, or the JSON text of one", () => {
    const items = [
      { title: "a", properties: '{"k":1}' },
      { title: "b", properties: { k: 2 } },
    ];
    expect(parse("manage_items", { operation: "create", items })).toMatchObject({
      items: [{ properties: { k: 1 } }, { properties: { k: 2 } }],
    });
    const bad = refusalOf("manage_items", {
      operation: "create",
      items: [{ title: "a", properties: "[1]" }],
    });
    expect(bad.message).toContain("items[0].properties: must be an object");
  });

  it("fields of another operation are refused", () => {
    const { message } = refusalOf("manage_items", {
      operation: "delete",
      items: [{ title: "a" }],
      itemIds: [ITEM],
    });
    expect(message).toContain("items: does not go with delete");
  });

  it("both spellings of the detail flag are one field", () => {
    expect(parse("get_next_item", { includeItemDetails: true }).includeDetails).toBe(true);
    expect(parse("get_blocked_items", { includeDetails: "true" }).includeItemDetails).toBe(true);
  });
});

describe("dependencies", () => {
  it("a pattern becomes its edges", () => {
    const line = parse("manage_dependencies", {
      operation: "create",
      pattern: "linear",
      itemIds: ["aaaa", "bbbb", "cccc"],
    });
    expect(line).toMatchObject({
      dependencies: [
        { fromItemId: "aaaa", toItemId: "bbbb", type: "BLOCKS" },
        { fromItemId: "bbbb", toItemId: "cccc", type: "BLOCKS" },
      ],
    });
    const fan = {
      operation: "create",
      pattern: "fan-in",
      fromItemIds: ["aaaa", "bbbb"],
      toItemId: "cccc",
      onCancelled: "hold",
    };
    expect(parse("manage_dependencies", fan)).toMatchObject({
      dependencies: [
        { fromItemId: "aaaa", toItemId: "cccc", onCancelled: "hold" },
        { fromItemId: "bbbb", toItemId: "cccc", onCancelled: "hold" },
      ],
    });
  });

  it("a line of one item is refused [B23]", () => {
    const { message } = refusalOf("manage_dependencies", {
      operation: "create",
      pattern: "linear",
      itemIds: ["aaaa"],
    });
    expect(message).toContain("at least two items");
  });

  it("a threshold on RELATES_TO is refused, however it is written [B19]", () => {
    const edge = { fromItemId: "aaaa", toItemId: "bbbb", type: "relates-to", unblockAt: "work" };
    const { message } = refusalOf("manage_dependencies", { operation: "create", dependencies: [edge] });
    expect(message).toContain("dependencies[0].unblockAt: does not go with RELATES_TO");
  });

  it("the case of a threshold does not matter [B20]", () => {
    const edge = { fromItemId: "aaaa", toItemId: "bbbb", unblockAt: "Work" };
    expect(parse("manage_dependencies", { operation: "create", dependencies: [edge] })).toMatchObject({
      dependencies: [{ unblockAt: "work" }],
    });
  });
});
