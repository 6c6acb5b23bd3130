/**
 * What models and clients see of Muster, held against files in `test/golden`.
 *
 * After a deliberate change: raise TOOL_SURFACE_VERSION, add a line to its changelog,
 * then run this file once with MUSTER_UPDATE_GOLDEN=1 and commit the files.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TOOL_SURFACE_CHANGELOG, TOOL_SURFACE_VERSION } from "../../../services/contract/tool-surface.ts";
import { readGolden, UPDATE_GOLDEN, writeGolden } from "../../support/golden.ts";
import { INITIALIZE_PARAMS, legacy, modern } from "../../support/raw-mcp.ts";
import { scriptedEngine } from "../../support/scripted-engine.ts";
import { serveEngine, type TestServer } from "../../support/server.ts";

const TOOLSETS = ["all", "worker", "orchestrator"] as const;
/** Bytes as sent; a quarter of it is about what a model pays in tokens, in every prompt. */
const BUDGET_BYTES = { initialize: 4_096, worker: 10_240, orchestrator: 40_960, all: 40_960 };

let server: TestServer;

beforeAll(async () => {
  server = await serveEngine(scriptedEngine(() => ({})));
});
afterAll(() => server.close());

interface Golden {
  readonly toolSurface: string;
  readonly result: unknown;
}

/** Compares with the file, and says what to do when they differ. */
function holdAgainstGolden(name: string, result: unknown): void {
  const golden = readGolden(name) as Golden | undefined;
  const changed = JSON.stringify(golden?.result) !== JSON.stringify(result);
  if (UPDATE_GOLDEN && changed) {
    const first = golden === undefined;
    expect(
      first || golden.toolSurface !== TOOL_SURFACE_VERSION,
      `${name} changed, but TOOL_SURFACE_VERSION is still ${TOOL_SURFACE_VERSION}: raise it and add a line to its changelog, then update again.`,
    ).toBe(true);
    writeGolden(name, { toolSurface: TOOL_SURFACE_VERSION, result });
    return;
  }
  expect(
    result,
    `${name} differs from test/golden/${name}.json. If that is meant: raise TOOL_SURFACE_VERSION (now ${TOOL_SURFACE_VERSION}), add a line to its changelog, and run this file once with MUSTER_UPDATE_GOLDEN=1.`,
  ).toEqual(golden?.result);
  expect(TOOL_SURFACE_CHANGELOG.map(({ version }) => version)).toContain(golden?.toolSurface);
  // Key order is part of the bytes that a prompt cache sees.
  expect(JSON.stringify(result)).toBe(JSON.stringify(golden?.result));
}

async function listed(toolset: string): Promise<string> {
  return (await legacy(`${server.mcpUrl}?toolset=${toolset}`, "tools/list")).text;
}

describe("the tool surface", () => {
  it.each(TOOLSETS)("lists the %s toolset as recorded [P-34]", async (toolset) => {
    const { result } = JSON.parse(await listed(toolset)) as { result: unknown };
    holdAgainstGolden(`tools-list-${toolset}`, result);
  });

  it("greets clients of the 2025 era as recorded [P-34]", async () => {
    holdAgainstGolden(
      "initialize",
      (await legacy(server.mcpUrl, "initialize", INITIALIZE_PARAMS)).json().result,
    );
  });

  it("greets clients of the 2026 era as recorded [P-34]", async () => {
    holdAgainstGolden("server-discover", (await modern(server.mcpUrl, "server/discover")).json().result);
  });

  it("is the same list in both eras", async () => {
    const old = (await legacy(server.mcpUrl, "tools/list")).json().result;
    const current = (await modern(server.mcpUrl, "tools/list")).json().result;
    expect(JSON.stringify(current?.["tools"])).toBe(JSON.stringify(old?.["tools"]));
    expect(current).toMatchObject({ ttlMs: 300_000, cacheScope: "public" });
  });

  it("has a version whose change is written down, advertised in both eras", async () => {
    expect(TOOL_SURFACE_CHANGELOG[0]?.version).toBe(TOOL_SURFACE_VERSION);
    const experimental = { muster: { toolSurface: TOOL_SURFACE_VERSION } };
    const answers = [
      [await legacy(server.mcpUrl, "initialize", INITIALIZE_PARAMS), {}],
      [await modern(server.mcpUrl, "server/discover"), { subscribe: true }],
    ] as const;
    for (const [answer, resources] of answers) {
      expect(answer.json().result?.["capabilities"]).toEqual({ tools: {}, resources, experimental });
    }
  });

  it("sets every annotation of every tool, since the protocol's defaults are the alarming ones", async () => {
    const { tools } = (await legacy(server.mcpUrl, "tools/list")).json().result as {
      tools: { title: string; annotations: Record<string, unknown> }[];
    };
    for (const { title, annotations } of tools) {
      expect(title).not.toBe("");
      expect(annotations).toEqual({
        readOnlyHint: expect.any(Boolean) as boolean,
        destructiveHint: expect.any(Boolean) as boolean,
        idempotentHint: expect.any(Boolean) as boolean,
        openWorldHint: false,
      });
    }
  });
});

describe("the size of the prompt", () => {
  it("initialize stays within its budget [P-34]", async () => {
    const { text } = await legacy(server.mcpUrl, "initialize", INITIALIZE_PARAMS);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(BUDGET_BYTES.initialize);
  });

  it.each(TOOLSETS)("the list of the %s toolset stays within its budget [P-34]", async (toolset) => {
    expect(Buffer.byteLength(await listed(toolset))).toBeLessThanOrEqual(BUDGET_BYTES[toolset]);
  });
});
