import { describe, expect, it } from "vitest";
import * as fc from "fast-check";
import {
  type Parsed,
  parseProjectConfig,
  parseServerConfig,
} from "../../../../services/contract/config/parse-config.ts";

const faultsOf = (parsed: Parsed<unknown>): readonly string[] => (parsed.ok ? [] : parsed.faults);

describe("checking a configuration", () => {
  it("a text that says nothing is a configuration that sets nothing", () => {
    for (const nothing of [null, undefined, {}, { work_item_schemas: null, traits: {} }])
      expect(parseProjectConfig(nothing)).toMatchObject({
        ok: true,
        config: { ignoredSections: [], warnings: [] },
      });
    expect(faultsOf(parseProjectConfig("task"))).toEqual([expect.stringContaining("list of sections")]);
  });

  it("windows of retention are set one by one, and none may be nothing or shorter than a tenure", () => {
    const parsed = parseServerConfig({ retention: { events_days: 3, idempotency_hours: 24 } });
    expect(parsed).toMatchObject({
      ok: true,
      config: { retention: { eventsDays: 3, idempotencyHours: 24, auditDays: 90 } },
    });
    const faults = faultsOf(parseServerConfig({ retention: { events_days: 0, idempotency_hours: 12 } }));
    expect(faults.map((one) => one.split(":")[0])).toEqual([
      "retention.events_days",
      "retention.idempotency_hours",
    ]);
  });

  it("names every fault with its place and what would be right", () => {
    const faults = faultsOf(
      parseProjectConfig({
        work_item_schemas: {
          task: {
            lifecycle: "automatic",
            notes: [
              { key: "plan", role: "wrk" },
              { role: "work", maxLength: 0 },
            ],
          },
          bug: null,
        },
        traits: { t: { resources: ["DB"], dispatch: { work: { effort: "High" } } } },
        status_labels: { start: 5 },
        independence: { mode: false },
        schema_resolution: "LAYERED",
        retry: { max_attempts: 0, backoff: { factor: 0.5 } },
      }),
    );
    expect(faults).toEqual(
      [
        'work_item_schemas.task.lifecycle: must be one of auto, manual, permanent, auto-reopen, not the string "automatic"',
        'work_item_schemas.task.notes[0].role: must be one of queue, work, review, not the string "wrk"',
        "work_item_schemas.task.notes[1].key: is missing; it must be a string",
        "work_item_schemas.task.notes[1].maxLength: must be at least 1, not 0",
        "work_item_schemas.bug: must be an object, not null (leave out what you do not want to set)",
        expect.stringContaining("traits.t.resources[0].key: must be lower-case letters"),
        expect.stringContaining("traits.t.dispatch.work.effort: must be one of low"),
        expect.stringContaining("schema_resolution: must be one of legacy"),
        expect.stringContaining("independence.mode: must be one of off"),
        expect.stringContaining("status_labels.start: must be a string"),
        expect.stringContaining("retry.max_attempts: must be at least 1"),
        expect.stringContaining("retry.backoff.factor: must be at least 1"),
      ].toSorted((a, b) => order(faults, a) - order(faults, b)),
    );
  });

  /** Where among the faults the expected one is; the order of sections is not the point. */
  function order(faults: readonly string[], expected: unknown): number {
    const matcher = expected as { asymmetricMatch?: (text: string) => boolean };
    return faults.findIndex((one) => one === expected || matcher.asymmetricMatch?.(one) === true);
  }

  it("shows the first twenty faults of many", () => {
    const notes = Array.from({ length: 30 }, () => ({ key: "a", role: "nowhere" }));
    const faults = faultsOf(parseProjectConfig({ work_item_schemas: { task: { notes } } }));
    expect(faults).toHaveLength(21);
    expect(faults.at(-1)).toBe("and 10 more");
  });

  const SLIPS: readonly [object, string][] = [
    [{ work_item_schema: {} }, "work_item_schemas"],
    [{ traits: { t: { note: [] } } }, "notes"],
    [{ work_item_schemas: { task: { default_trait: ["t"] } } }, "default_traits"],
    [{ work_item_schemas: { task: { notes: [{ key: "a", role: "work", requierd: true }] } } }, "required"],
    [{ work_item_schemas: { task: { notes: [{ key: "a", role: "work", max_length: 9 }] } } }, "maxLength"],
    [{ status_labels: { strt: "doing" } }, "start"],
  ];

  it.each(SLIPS)("a key one slip away from one that is known is a fault: %j", (text, meant) => {
    expect(faultsOf(parseProjectConfig(text)).join()).toContain(`did you mean ${meant}?`);
  });

  it("a key that is nothing like ours is ignored and said so", () => {
    const text = {
      work_item_schemas: { task: { colour: "red", notes: [{ key: "a", role: "work", owner: "ann" }] } },
      dashboards: {},
    };
    expect(parseProjectConfig(text)).toMatchObject({
      ok: true,
      config: {
        ignoredSections: ["dashboards"],
        warnings: [
          "work_item_schemas.task.colour: is not known and was ignored",
          "work_item_schemas.task.notes[0].owner: is not known and was ignored",
        ],
      },
    });
  });

  it("sections of clients are ignored in every text, those of the server in a project's", () => {
    const text = {
      retrospective: {},
      orchestration: {},
      actor_attribution: {},
      actor_authentication: { enabled: true },
      identity: "actor",
      project: { rootId: "x" },
    };
    const project = parseProjectConfig(text);
    expect(project).toMatchObject({ ok: true, config: { rootId: "x" } });
    expect(project.ok && project.config.ignoredSections).toEqual([
      "retrospective",
      "orchestration",
      "actor_attribution",
      "actor_authentication",
      "identity",
    ]);
    expect(parseServerConfig(text)).toMatchObject({
      ok: true,
      config: {
        ignoredSections: ["retrospective", "orchestration", "actor_attribution", "project"],
        identity: "actor",
        actorAuthentication: { enabled: true },
      },
    });
    expect(faultsOf(parseServerConfig({ auditing: {} }))).toEqual([
      expect.stringContaining("actor_authentication"),
    ]);
  });

  it("how actors are verified is checked to the last key: nothing of it is skipped", () => {
    const verifier = { type: "jwks", jwks_uri: "https://keys.example/jwks.json", algorithms: ["EdDSA"] };
    expect(parseServerConfig({ actor_authentication: { verifier } })).toMatchObject({
      ok: true,
      config: { actorAuthentication: { degraded_mode_policy: "accept-cached", verifier: { type: "jwks" } } },
    });
    const nothing = parseServerConfig({});
    expect(nothing.ok && nothing.config.actorAuthentication?.verifier.type).not.toBe("jwks");
    const faulty: readonly [object, string][] = [
      [{ verifier: { ...verifier, algorithms: [] } }, "actor_authentication.verifier.algorithms"],
      [{ verifier: { type: "magic" } }, "actor_authentication.verifier.type"],
      [{ verifier: { ...verifier, colour: "red" } }, "colour is not known here"],
      [{ degraded_mode_policy: "trust" }, "actor_authentication.degraded_mode_policy"],
    ];
    for (const [section, place] of faulty)
      expect(faultsOf(parseServerConfig({ actor_authentication: section })).join()).toContain(place);
  });

  it("truth values of older YAML are read as what they meant", () => {
    const notes = [
      { key: "a", role: "work", required: "yes" },
      { key: "b", role: "work", required: "off" },
    ];
    const parsed = parseProjectConfig({ work_item_schemas: { task: { notes } } });
    const task = parsed.ok ? parsed.config.layer.schemas.get("task") : undefined;
    expect(task?.notes.map((note) => note.required)).toEqual([true, false]);
  });

  it("what is allowed and probably not meant is said", () => {
    const text = {
      work_item_schemas: {
        task: {
          lifecycle: "auto-reopen",
          default_traits: ["ghost"],
          notes: [
            { key: "a", role: "work" },
            { key: "a", role: "queue" },
          ],
        },
      },
      note_schemas: { task: [] },
      traits: { a: { resources: ["db"] }, b: { resources: ["db"] }, c: { resources: ["db"] } },
    };
    const parsed = parseProjectConfig(text);
    expect(parsed.ok && parsed.config.warnings).toEqual([
      expect.stringContaining("auto-reopen is read as auto"),
      expect.stringContaining("ghost is not defined"),
      expect.stringContaining("a is there twice"),
      expect.stringContaining("work_item_schemas.task is used instead"),
      expect.stringContaining("db is not described"),
      expect.stringContaining("db is taken by 3 traits"),
    ]);
  });

  const SEATS: readonly [string, object[], string][] = [
    ["the reserved name", [{ name: "unowned", phase: "work" }], "unowned"],
    [
      "a name twice",
      [
        { name: "a", phase: "work" },
        { name: "a", phase: "review" },
      ],
      "twice",
    ],
    [
      "two that enter a phase",
      [
        { name: "a", phase: "work", enters: true },
        { name: "b", phase: "work", enters: true },
      ],
      "two seats enter work",
    ],
    [
      "a ring",
      [
        { name: "a", phase: "work", after: ["b"] },
        { name: "b", phase: "work", after: ["a"] },
      ],
      "a after b after a",
    ],
  ];

  it.each(SEATS)(
    "seats with %s are a fault, of a type, of a trait and of both together",
    (_, seats, cause) => {
      const [first, ...rest] = seats;
      const together = {
        traits: { t: { seats: rest } },
        work_item_schemas: { task: { default_traits: ["t"], seats: [first] } },
      };
      for (const text of [{ traits: { t: { seats } } }, { work_item_schemas: { task: { seats } } }, together])
        expect(faultsOf(parseProjectConfig(text)).join()).toContain(cause);
    },
  );

  it("no text that is taken has fewer required notes than it was written with", () => {
    const written = fc.record(
      {
        key: fc.constantFrom("a", "b", "c", "", 5),
        role: fc.constantFrom("queue", "work", "review", "done"),
        required: fc.constantFrom(true, "true", "yes", "maybe", 1),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.array(written, { maxLength: 4 }), (notes) => {
        const parsed = parseProjectConfig({ work_item_schemas: { task: { notes } } });
        if (!parsed.ok) return;
        const kept = parsed.config.layer.schemas.get("task")?.notes ?? [];
        expect(kept.filter((note) => note.required)).toHaveLength(
          notes.filter((note) => note.required === true || note.required === "yes").length,
        );
      }),
    );
  });
});
