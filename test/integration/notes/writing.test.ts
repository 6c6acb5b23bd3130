import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { describeEachDatabase } from "../../support/database.ts";
import { createTestEngine, type TestEngine, worker } from "../../support/engine.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { makeItem, manage, noteSpec, read, schemaOfType, write } from "./notebook.ts";

const SCHEMA = schemaOfType("task", {
  noteLimits: "reject",
  notes: [
    noteSpec("plan", "queue", { guidance: "Say what is to be done.", skill: "planning" }),
    noteSpec("risks", "queue", { guidance: "Say what may go wrong." }),
    noteSpec("result", "work", { maxLength: 10 }),
  ],
});

describeEachDatabase("writing notes", (database) => {
  let engine: TestEngine;
  beforeAll(() => {
    engine = createTestEngine(database(), { schemas: SCHEMA });
  });
  afterAll(() => engine.close());

  it("keeps id and creation when a key is written twice, and moves the time forward [B74]", async () => {
    const itemId = await makeItem(engine);
    const first = await write(engine, { itemId, body: "one" });
    const second = await write(engine, { itemId, body: "two" });
    expect(first).toMatchObject({ itemId, key: "plan", role: "queue", version: 1, bodyLength: 3 });
    expect(second).toMatchObject({ id: first.id, createdAt: first.createdAt, version: 2 });
    expect(second.modifiedAt > first.modifiedAt).toBe(true);
    expect(await read(engine, itemId)).toMatchObject({ body: "two", version: 2 });
  });

  it("takes null for an empty text, never for the word, and refuses a number [B72]", async () => {
    const itemId = await makeItem(engine);
    await write(engine, { itemId, body: null });
    expect(await read(engine, itemId)).toMatchObject({ body: "", bodyLength: 0 });
    await write(engine, { itemId, key: "none" });
    expect(await read(engine, itemId, "none")).toMatchObject({ body: "" });
    await expect(write(engine, { itemId, key: "n", body: 7 as unknown as string })).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
    });
  });

  it("refuses a key of the schema under another role, naming index, key and the right role [B71] [B14]", async () => {
    const itemId = await makeItem(engine, { type: "task" });
    const answer = await manage(engine, {
      operation: "upsert",
      notes: [
        { itemId, key: "plan", role: "queue", body: "p" },
        { itemId, key: "risks", role: "work", body: "r" },
        { itemId, key: "own", role: "work", body: "free" },
      ],
    });
    expect(answer).toMatchObject({ upserted: 2, failed: 1 });
    expect(answer.failures).toMatchObject([
      {
        index: 1,
        code: "validation_failed",
        errorKind: "permanent",
        details: { index: 1, key: "risks", expectedRole: "queue", submittedRole: "work" },
      },
    ]);
    expect(answer.failures[0]?.error).toMatch(/1.*risks.*queue/);
    await expect(read(engine, itemId, "risks")).rejects.toMatchObject({ code: "RESOURCE_NOT_FOUND" });
  });

  it("says after each write what the phase still needs", async () => {
    const itemId = await makeItem(engine, { type: "task" });
    const free = await makeItem(engine);
    const send = async (notes: object[]) => {
      const { itemContext } = await manage(engine, { operation: "upsert", notes });
      return itemContext;
    };
    expect(await send([{ itemId, key: "risks", role: "queue", body: " \n " }])).toEqual({
      [itemId]: {
        guidancePointer: "Say what is to be done.",
        skillPointer: "planning",
        noteProgress: { filled: 0, remaining: 2, total: 2 },
      },
    });
    const both = await send([
      { itemId, key: "plan", role: "queue", body: "p" },
      { itemId, key: "risks", role: "queue", body: "r" },
      { itemId: free, key: "any", role: "work", body: "b" },
    ]);
    expect(both).toEqual({
      [itemId]: { guidancePointer: null, noteProgress: { filled: 2, remaining: 0, total: 2 } },
      [free]: { guidancePointer: null, noteProgress: null },
    });
  });

  it("an item is offered to be started once its notes say what its start asks for, and no longer without them", async () => {
    const tag = `t-${randomUUID()}`;
    const itemId = await makeItem(engine, { type: "task", tags: tag });
    const offer = () =>
      engine.call("claim_item", {
        actor: worker("ann"),
        workerId: randomUUID(),
        requestId: randomUUID(),
        claims: [{ selector: { tags: tag, startable: true }, ttlSeconds: 60 }],
      }) as Promise<{ claims: { outcome: string }[] }>;
    expect((await offer()).claims).toMatchObject([{ outcome: "none_eligible" }]);
    await write(engine, { itemId, key: "plan", body: "p" });
    await write(engine, { itemId, key: "risks", body: "r" });
    await manage(engine, { operation: "delete", itemId, key: "risks" });
    expect((await offer()).claims).toMatchObject([{ outcome: "none_eligible" }]);
    await write(engine, { itemId, key: "risks", body: " " });
    expect((await offer()).claims).toMatchObject([{ outcome: "none_eligible" }]);
    await write(engine, { itemId, key: "risks", body: "r" });
    expect((await offer()).claims).toMatchObject([{ outcome: "success" }]);
  });

  it("the holder hears with its next heartbeat of what others wrote, and not of what it wrote itself", async () => {
    const itemId = await makeItem(engine);
    const ann = { actor: worker("ann"), workerId: "ann-1" };
    const call = async (more: object) =>
      (await engine.call("claim_item", { ...ann, requestId: randomUUID(), ...more })) as {
        claims: { fence: number }[];
        refreshes: { changed?: boolean }[];
      };
    const [claimed] = (await call({ claims: [{ itemId, ttlSeconds: 60 }] })).claims;
    const beat = async () =>
      (await call({ refreshes: [{ itemId, fence: claimed?.fence, ttlSeconds: 60 }] })).refreshes;
    const changedAfter = async (note: object, who: object): Promise<unknown> => {
      await database().advance(1_000);
      await write(engine, { itemId, body: "x", ...note }, who);
      // Written through, so that the answer comes from the row.
      await database().advance(31_000);
      return (await beat())[0]?.changed;
    };
    await beat();
    expect(await changedAfter({ key: "mine" }, ann)).toBeUndefined();
    expect(await changedAfter({ key: "yours" }, { actor: worker("ben") })).toBe(true);
    expect(await changedAfter({ key: "mine" }, ann)).toBeUndefined();
  });

  it("refuses a text beyond what the schema allows, or tells, as configured", async () => {
    const itemId = await makeItem(engine, { type: "task" });
    const long = { itemId, key: "result", role: "work", body: "eleven char" };
    expect(await write(engine, long)).toMatchObject({
      code: "NOTE_BODY_TOO_LONG",
      key: "result",
      maxLength: 10,
      actualLength: 11,
    });
    const lenient = createTestEngine(database(), {
      schemas: schemaOfType("task", {
        noteLimits: "warn",
        notes: [noteSpec("result", "work", { maxLength: 10 })],
      }),
    });
    const note = await write(lenient, long);
    expect(note.warning).toMatch(/11.*10/);
    await lenient.close();
  });

  it("holds a text at 64 KiB of UTF-8, each note by itself, and makes one kind of line end", async () => {
    const itemId = await makeItem(engine);
    const answer = await manage(engine, {
      operation: "upsert",
      notes: [
        { itemId, key: "a", role: "queue", body: "ä".repeat(32_769) },
        { itemId, key: "b", role: "queue", body: "ä".repeat(32_768) },
        { itemId, key: "c", role: "queue", body: "one\r\ntwo\r\n" },
      ],
    });
    expect(answer).toMatchObject({ upserted: 2, failures: [{ index: 0, code: "NOTE_BODY_TOO_LARGE" }] });
    expect(await read(engine, itemId, "c")).toMatchObject({ body: "one\ntwo\n" });
  });

  it("fails one note of an item that is not there, and writes the others", async () => {
    const itemId = await makeItem(engine);
    const answer = await manage(engine, {
      operation: "upsert",
      notes: [
        { itemId: randomUUID(), key: "a", role: "queue", body: "x" },
        { itemId, key: "a", role: "queue", body: "x\u0000y" },
        { itemId: itemId.replaceAll("-", "").slice(0, 20), key: "a", role: "queue", body: "x" },
      ],
    });
    expect(answer.notes).toMatchObject([{ itemId, key: "a" }]);
    expect(answer.failures).toMatchObject([
      { index: 0, code: "RESOURCE_NOT_FOUND" },
      { index: 1, code: "validation_failed" },
    ]);
  });

  it("writes a version only over the one that the caller knows [P-21]", async () => {
    const itemId = await makeItem(engine);
    await write(engine, { itemId, body: "one", expectedVersion: 1 }).then((failure) =>
      expect(failure).toMatchObject({ code: "version_conflict", details: { expected: 1, actual: 0 } }),
    );
    await write(engine, { itemId, body: "one" });
    await write(engine, { itemId, body: "two", expectedVersion: 1 });
    expect(await write(engine, { itemId, body: "three", expectedVersion: 1 })).toMatchObject({
      code: "version_conflict",
      details: { expected: 1, actual: 2 },
    });
    expect(await read(engine, itemId)).toMatchObject({ body: "two" });
    await expect(write(engine, { itemId, body: "x", expectedVersion: 0 })).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
    });
  });

  it("says who wrote a note: the author of the note, else that of the call", async () => {
    const itemId = await makeItem(engine);
    const { notes } = await manage(engine, {
      operation: "upsert",
      actor: worker("lead"),
      notes: [
        { itemId, key: "a", role: "queue", body: "x" },
        { itemId, key: "b", role: "queue", body: "x", actor: { ...worker("ann"), parent: "lead" } },
      ],
    });
    expect(notes).toMatchObject([{ actor: { id: "lead" } }, { actor: { id: "ann", parent: "lead" } }]);
    expect(await read(engine, itemId, "b")).toMatchObject({ actor: { id: "ann", kind: "subagent" } });
    expect(notes[0]?.verification).toBeUndefined();
  });

  it("writes once per requestId, element by element, and goes on where it failed", async () => {
    const itemId = await makeItem(engine);
    const call = {
      operation: "upsert",
      requestId: randomUUID(),
      actor: worker("ann"),
      notes: [
        { itemId, key: "a", role: "queue", body: "x" },
        { itemId, key: "b", role: "queue", body: "x", expectedVersion: 1 },
      ],
    };
    expect(await manage(engine, call)).toMatchObject({ upserted: 1, failed: 1 });
    await write(engine, { itemId, key: "b", body: "first" });
    const again = await manage(engine, call);
    expect(again).toMatchObject({
      upserted: 2,
      failed: 0,
      notes: [{ key: "a", version: 1, replayed: true }, { version: 2 }],
    });
    expect(await read(engine, itemId, "a")).toMatchObject({ version: 1 });
    const other = { ...call, notes: [{ ...call.notes[0], body: "y" }] };
    await expect(manage(engine, other)).rejects.toMatchObject({ code: "idempotency_mismatch" });
  });
});

describe("bodies from files", () => {
  const folders = [temporaryFolder(), temporaryFolder()] as const;
  const [folder, outside] = [folders[0].path, folders[1].path];
  beforeAll(() => {
    mkdirSync(join(folder, "logs"));
    writeFileSync(join(folder, "logs/run.txt"), "all\r\ngreen\r\n");
    writeFileSync(join(folder, "exact.txt"), "x".repeat(65_536));
    writeFileSync(join(folder, "large.txt"), "x".repeat(65_537));
    writeFileSync(join(folder, "bytes.bin"), Buffer.from([0xff, 0xfe, 0x00]));
    writeFileSync(join(outside, "secret.txt"), "secret");
    symlinkSync(join(outside, "secret.txt"), join(folder, "link.txt"));
    symlinkSync(outside, join(folder, "linked"));
  });
  afterAll(() => {
    for (const one of folders) one[Symbol.dispose]();
  });

  describeEachDatabase("are read", (database) => {
    it("from the configured folder only; each refused one fails by itself [B76]", async () => {
      const engine = createTestEngine(database(), { settings: { filesDir: folder } });
      const itemId = await makeItem(engine);
      const paths = [
        "logs/run.txt",
        join(folder, "logs/run.txt"),
        "../secret.txt",
        "logs/../../secret.txt",
        "link.txt",
        "linked/secret.txt",
        "large.txt",
        "logs",
        "bytes.bin",
        "absent.txt",
        "C:\\windows\\win.ini",
        "exact.txt",
      ];
      const answer = await manage(engine, {
        operation: "upsert",
        notes: paths.map((path, n) => ({ itemId, key: `k${n}`, role: "work", bodyFromFile: path })),
      });
      expect(answer.notes).toMatchObject([{ key: "k0" }, { key: "k11", bodyLength: 65_536 }]);
      expect(answer.failures.map(({ index, code }) => [index, code])).toEqual([
        [1, "validation_failed"],
        [2, "validation_failed"],
        [3, "validation_failed"],
        [4, "validation_failed"],
        [5, "validation_failed"],
        [6, "NOTE_BODY_TOO_LARGE"],
        [7, "validation_failed"],
        [8, "validation_failed"],
        [9, "RESOURCE_NOT_FOUND"],
        [10, "validation_failed"],
      ]);
      expect(JSON.stringify(answer)).not.toContain("secret\\n");
      expect(await read(engine, itemId, "k0")).toMatchObject({ body: "all\ngreen\n" });
      await engine.close();
    });

    it("nowhere, unless a folder is configured, and never beside a body", async () => {
      const engine = createTestEngine(database());
      const itemId = await makeItem(engine);
      const note = { itemId, key: "k", role: "work", bodyFromFile: "logs/run.txt" };
      expect(await write(engine, note)).toMatchObject({ index: 0, code: "validation_failed" });
      await expect(write(engine, { ...note, body: "x" })).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
      await engine.close();
    });
  });
});
