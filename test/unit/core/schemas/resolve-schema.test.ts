import { describe, expect, it } from "vitest";
import * as fc from "fast-check";
import { DEFAULT_LABELS } from "../../../../services/core/roles.ts";
import { keysOf, layers, note, schemaOf } from "./layers.ts";

const task = (more: object): object => ({ work_item_schemas: { task: more } });

describe("what traits add to an item", () => {
  const TRAITS = {
    traits: {
      audited: { notes: [note("audit", "review"), note("result", "queue", { required: false })] },
      tested: { notes: [note("tests"), note("audit", "work")] },
    },
  };

  it("notes of traits follow those of the schema; a key that is there already stays as it is", () => {
    const between = layers(null, {
      ...TRAITS,
      ...task({ default_traits: ["audited"], notes: [note("result")] }),
    });
    const schema = schemaOf(between, { type: "task", traits: ["tested"] });
    expect(schema.notes.map(({ key, role, required }) => [key, role, required])).toEqual([
      ["result", "work", true],
      ["audit", "review", true],
      ["tests", "work", true],
    ]);
    expect(schema).toMatchObject({ traits: ["audited", "tested"], unknownTraits: [] });
  });

  it("a review note of a trait makes a review phase [B3]", () => {
    const between = layers(null, { ...TRAITS, ...task({ notes: [note("result")] }) });
    expect(schemaOf(between, { type: "task" }).policy.hasReviewPhase).toBe(false);
    expect(schemaOf(between, { type: "task", traits: ["audited"] }).policy.hasReviewPhase).toBe(true);
  });

  it("a trait that nobody defines is named and skipped", () => {
    const between = layers(null, task({ default_traits: ["ghost"], notes: [] }));
    expect(schemaOf(between, { type: "task", traits: ["ghost", "spook"] })).toMatchObject({
      traits: [],
      unknownTraits: ["ghost", "spook"],
    });
  });

  it("without a schema the notes of traits do not count, and their resources do", () => {
    const between = layers(null, { traits: { deploys: { notes: [note("log")], resources: ["staging"] } } });
    expect(schemaOf(between, { traits: ["deploys"] })).toMatchObject({
      matched: false,
      notes: [],
      resources: [{ key: "staging", mode: "exclusive", ttlSeconds: 3_600, capacity: 1 }],
    });
  });

  it("a project's trait takes the place of the server's part by part", () => {
    const global = {
      traits: { careful: { notes: [note("check")], resources: ["db"], dispatch: { work: { agent: "a" } } } },
      ...task({ notes: [] }),
    };
    const only = (own: object) =>
      schemaOf(layers({ traits: { careful: own } }, global), { type: "task", traits: ["careful"] });
    expect(keysOf(only({ dispatch: { work: { agent: "b" } } }))).toEqual(["check"]);
    expect(only({ dispatch: { work: { agent: "b" } } }).dispatch).toEqual({ work: { agent: "b" } });
    expect(only({ dispatch: { review: { agent: "b" } } }).dispatch).toEqual({ review: { agent: "b" } });
    expect(keysOf(only({ notes: [] }))).toEqual([]);
    expect(only({ notes: [] }).resources).toMatchObject([{ key: "db" }]);
    expect(only({ resources: [] }).resources).toEqual([]);
  });

  it("a trait never takes a note away, never loosens one and never moves one, whatever it says", () => {
    const someNote = fc.record({
      key: fc.constantFrom("a", "b", "c"),
      role: fc.constantFrom("queue", "work", "review"),
      required: fc.boolean(),
    });
    const notes = fc.uniqueArray(someNote, { selector: (one) => one.key });
    fc.assert(
      fc.property(notes, fc.array(notes, { maxLength: 4 }), (own, added) => {
        const traits = Object.fromEntries(added.map((list, index) => [`t${index}`, { notes: list }]));
        const between = layers(null, { traits, ...task({ notes: own }) });
        const plain = schemaOf(between, { type: "task" });
        const merged = schemaOf(between, { type: "task", traits: Object.keys(traits) });
        expect(merged.notes.slice(0, plain.notes.length)).toEqual(plain.notes);
        expect(new Set(keysOf(merged)).size).toBe(merged.notes.length);
        expect(new Set(keysOf(merged))).toEqual(new Set([...own, ...added.flat()].map((one) => one.key)));
      }),
    );
  });
});

describe("what an item takes", () => {
  const take = (...modes: [trait: string, mode: string, ttlSeconds?: number][]) => ({
    traits: Object.fromEntries(
      modes.map(([trait, mode, ttlSeconds]) => [trait, { resources: [{ key: "db", mode, ttlSeconds }] }]),
    ),
  });

  it("a key is taken once, in the strictest mode, for the time that was named first", () => {
    const between = layers(null, take(["a", "advisory", 60], ["b", "exclusive", 120], ["c", "shared"]));
    const modeOf = (...traits: string[]) => schemaOf(between, { traits }).resources[0];
    expect(modeOf("a")).toMatchObject({ mode: "advisory", ttlSeconds: 60 });
    expect(modeOf("a", "b")).toMatchObject({ mode: "exclusive", ttlSeconds: 60 });
    expect(modeOf("b", "a")).toMatchObject({ mode: "exclusive", ttlSeconds: 120 });
    expect(modeOf("a", "c")).toMatchObject({ mode: "shared", ttlSeconds: 60 });
  });

  it("what is known of a resource is the server's word before the project's", () => {
    const needs = take(["a", "shared"]);
    const root = { ...needs, resources: { db: { defaultTtlSeconds: 10, maxHolders: 9 } } };
    const global = { resources: { db: { defaultTtlSeconds: 7_200, maxHolders: 2 } } };
    expect(schemaOf(layers(root, global), { traits: ["a"] }).resources).toEqual([
      { key: "db", mode: "shared", ttlSeconds: 7_200, capacity: 2 },
    ]);
    expect(schemaOf(layers(root), { traits: ["a"] }).resources).toEqual([
      { key: "db", mode: "shared", ttlSeconds: 10, capacity: 9 },
    ]);
  });
});

describe("who should do the work", () => {
  const CONFIG = {
    traits: {
      usual: { dispatch: { work: { agent: "implementer", effort: "high" }, review: { agent: "reviewer" } } },
      quick: {
        dispatch: {
          work: { model: "small", seats: { tester: { agent: "tester" }, scribe: { model: null } } },
        },
      },
    },
    work_item_schemas: {
      task: {
        default_traits: ["usual"],
        seats: [
          { name: "maker", phase: "work", enters: true },
          { name: "tester", phase: "work", after: ["maker"], reads_exclude: ["plan"] },
          { name: "scribe", phase: "work" },
          { name: "critic", phase: "review" },
        ],
      },
    },
  };

  it("the item's own traits count before those of its schema, profile by profile and never mixed", () => {
    const between = layers(null, CONFIG);
    expect(schemaOf(between, { type: "task" }).dispatch).toEqual({
      work: { agent: "implementer", effort: "high" },
      review: { agent: "reviewer" },
    });
    expect(schemaOf(between, { type: "task", traits: ["quick"] }).dispatch).toEqual({
      work: { model: "small" },
      review: { agent: "reviewer" },
    });
  });

  it("a seat has what its phase has, with its own said over it and null taking away", () => {
    const { seats } = schemaOf(layers(null, CONFIG), { type: "task", traits: ["quick"] });
    expect(seats.map(({ name, dispatch }) => [name, dispatch])).toEqual([
      ["maker", { model: "small" }],
      ["tester", { agent: "tester", model: "small" }],
      ["scribe", null],
      ["critic", { agent: "reviewer" }],
    ]);
    expect(seats[1]).toMatchObject({ after: ["maker"], readsExclude: ["plan"], enters: false });
  });

  it("of two seats that enter a phase the later one gives way when texts are merged", () => {
    const between = layers(
      { traits: { extra: { seats: [{ name: "other", phase: "work", enters: true }] } } },
      CONFIG,
    );
    const { seats } = schemaOf(between, { type: "task", traits: ["extra"] });
    expect(seats.filter((seat) => seat.enters).map((seat) => seat.name)).toEqual(["maker"]);
  });
});

describe("settings that hold for a project", () => {
  it("a list of labels with start alone leaves complete without one; a project changes single ones [B12]", () => {
    const labels = (root: object | null, global: object = {}) => schemaOf(layers(root, global)).labels;
    expect(labels(null)).toEqual(DEFAULT_LABELS);
    expect(labels(null, { status_labels: { start: "doing" } })).toEqual({ start: "doing" });
    const own = { status_labels: { start: "busy", cancel: null } };
    expect(labels(own)).toEqual({ ...DEFAULT_LABELS, start: "busy", cancel: null });
    expect(labels(own, { status_labels: { complete: "shipped", cancel: "gone" } })).toEqual({
      start: "busy",
      complete: "shipped",
      cancel: null,
    });
  });

  it("retry rules come from the type, else the project, else the server, else from us", () => {
    const global = { retry: { on_expiry: "hold", max_attempts: 7, max_review_rounds: 2 } };
    const root = {
      retry: { max_attempts: 3 },
      ...task({ notes: [], backoff: { first_seconds: 1, factor: 2 } }),
    };
    expect(schemaOf(layers(root, global), { type: "task" })).toMatchObject({
      maxReviewRounds: 2,
      policy: { onExpiry: "hold", maxAttempts: 3, backoff: { firstMs: 1_000, factor: 2, maxMs: 3_600_000 } },
    });
    expect(schemaOf(layers(null))).toMatchObject({
      maxReviewRounds: 5,
      policy: { onExpiry: "requeue", maxAttempts: 5 },
    });
  });

  it("a project's word on independence, note limits and cancelled blockers counts before the server's", () => {
    const global = {
      independence: { mode: "reject", require_verified: true },
      note_limits: { mode: "reject" },
      on_cancelled: "release",
    };
    expect(schemaOf(layers({}, global))).toMatchObject({
      independence: "reject",
      requireVerified: true,
      noteLimits: "reject",
      onCancelled: "release",
    });
    const root = { independence: { mode: "off" }, note_limits: { mode: "warn" }, on_cancelled: "hold" };
    expect(schemaOf(layers(root, global))).toMatchObject({
      independence: "off",
      requireVerified: false,
      noteLimits: "warn",
      onCancelled: "hold",
    });
  });

  it("lifecycles are those of the type, and auto-reopen is auto", () => {
    for (const lifecycle of ["auto", "manual", "permanent"]) {
      const between = layers(null, task({ lifecycle, notes: [] }));
      expect(schemaOf(between, { type: "task" }).policy.lifecycle).toBe(lifecycle);
    }
    const between = layers(null, task({ lifecycle: "auto-reopen", notes: [] }));
    expect(schemaOf(between, { type: "task" }).policy.lifecycle).toBe("auto");
  });
});
