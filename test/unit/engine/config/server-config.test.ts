/** The server's own file: where it is looked for, and what becomes of one that is broken. */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  BrokenServerConfig,
  openServerConfig,
  type ServerConfigFile,
  type ServerConfigOptions,
} from "../../../../services/engine/config/server-config.ts";
import { type TemporaryFolder, temporaryFolder } from "../../../support/temporary-folder.ts";
import { until } from "../../../support/until.ts";

const TASK = "work_item_schemas: {task: {notes: [{key: plan, role: queue, required: true}]}}\n";
const BUG = "work_item_schemas: {bug: {notes: []}}\n";

describe("the server's configuration file", () => {
  let folder: TemporaryFolder;
  const open: ServerConfigFile[] = [];
  const told: { level: string; data: object; message: string }[] = [];
  const tell = (level: string) => (data: object, message: string) => void told.push({ level, data, message });
  const log = { info: tell("info"), warn: tell("warn"), error: tell("error") };

  beforeEach(() => {
    folder = temporaryFolder();
    told.length = 0;
  });
  afterEach(() => {
    for (const file of open.splice(0)) file.close();
    folder[Symbol.dispose]();
  });

  const at = (name: string): string => join(folder.path, name);

  function openFile(options: Partial<ServerConfigOptions> = {}): ServerConfigFile {
    const file = openServerConfig({
      paths: [at("first.yaml"), at("second.yaml")],
      required: false,
      log,
      everyMs: 10,
      ...options,
    });
    open.push(file);
    return file;
  }

  const typesOf = (file: ServerConfigFile): string[] => [...file.current().layer.schemas.keys()];

  it("the first place that has one counts", () => {
    writeFileSync(at("second.yaml"), BUG);
    expect(openFile()).toMatchObject({ path: at("second.yaml") });
    writeFileSync(at("first.yaml"), TASK);
    const file = openFile();
    expect([file.path, ...typesOf(file)]).toEqual([at("first.yaml"), "task"]);
  });

  it("none at all sets nothing, unless somebody named one", () => {
    expect(openFile().path).toBeNull();
    expect(() => openFile({ required: true })).toThrow(/no such file/);
  });

  it("a broken one ends the start, with its path and its faults", () => {
    writeFileSync(at("first.yaml"), "work_item_schemas: {task: {notes: [{key: plan, role: wrk}]}}");
    expect(() => openFile()).toThrow(BrokenServerConfig);
    expect(() => openFile()).toThrow(/first\.yaml[^]*notes\[0\]\.role: must be one of queue/);
    writeFileSync(at("first.yaml"), Buffer.from([0x61, 0x3a, 0x20, 0xff]));
    expect(() => openFile()).toThrow(/cannot be read/);
  });

  it("says what it ignores and what is probably not meant", () => {
    writeFileSync(
      at("first.yaml"),
      `${TASK}retrospective: {mode: nudge}\nresources: {db: {budgetLimit: 3}}\n`,
    );
    openFile();
    expect(told).toMatchObject([
      { level: "info", data: { ignoredSections: ["retrospective"] } },
      { level: "warn", message: expect.stringContaining("budgetLimit") as string },
    ]);
  });

  it("a change takes effect without a start", async () => {
    writeFileSync(at("first.yaml"), TASK);
    const file = openFile();
    const followed: (string | null)[] = [];
    file.onChange((config) => followed.push(config.layer.fingerprint));
    writeFileSync(at("first.yaml"), `${BUG}identity: actor\n`);
    await until(() => typesOf(file)[0] === "bug");
    expect(followed).toEqual([file.current().layer.fingerprint]);
    expect(told).toContainEqual(
      expect.objectContaining({ level: "warn", message: expect.stringContaining("next start") as string }),
    );
  });

  it("one that breaks later leaves what was good in force, and so does one that goes away [B84]", async () => {
    writeFileSync(at("first.yaml"), TASK);
    const file = openFile();
    const errors = (): number => told.filter(({ level }) => level === "error").length;
    writeFileSync(at("first.yaml"), "work_item_schemas: [");
    await until(() => errors() === 1);
    expect(typesOf(file)).toEqual(["task"]);
    rmSync(at("first.yaml"));
    await until(() => errors() === 2);
    expect(typesOf(file)).toEqual(["task"]);
    writeFileSync(at("first.yaml"), BUG);
    await until(() => typesOf(file)[0] === "bug");
  });
});
