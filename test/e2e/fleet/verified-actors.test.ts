/**
 * Two API processes that verify actors as their configuration file says, and know each other's
 * clients: what one has seen of a proof, the other knows; what one was told, the other goes on with.
 */
import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createFleet, type Fleet, isReady } from "../../support/fleet.ts";
import { type IdentityProvider, startIdentityProvider } from "../../support/identity-provider.ts";
import { type MusterProcess, runMuster } from "../../support/processes.ts";
import { callTool, initialize } from "../../support/raw-mcp.ts";
import { temporaryFolder, type TemporaryFolder } from "../../support/temporary-folder.ts";
import { until } from "../../support/until.ts";

type Answer = Readonly<Record<string, unknown>>;

let folder: TemporaryFolder;
let provider: IdentityProvider;
let fleet: Fleet;
let a: MusterProcess;
let b: MusterProcess;

beforeAll(async () => {
  folder = temporaryFolder();
  provider = await startIdentityProvider();
  const config = join(folder.path, "config.yaml");
  writeFileSync(
    config,
    `actor_authentication:
  verifier:
    type: jwks
    jwks_uri: ${provider.jwksUri}
    issuer: ${provider.issuer}
    audience: muster
    algorithms: [EdDSA]
    jti_replay_protection: true
`,
  );
  fleet = await createFleet({ env: { MUSTER_CONFIG: config } });
  [a, b] = await Promise.all([fleet.api(), fleet.api()]);
  await until(async () => (await isReady(a)) && (await isReady(b)), 60_000);
});
afterAll(async () => {
  await fleet?.[Symbol.asyncDispose]();
  await provider?.[Symbol.asyncDispose]();
  folder?.[Symbol.dispose]();
});

/** The answer of a tool, or its error under `error`. */
async function call(
  server: MusterProcess,
  name: string,
  input: Record<string, unknown>,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const era = "mcp-session-id" in headers ? "legacy" : "modern";
  const answer = await callTool(era, `${server.url}/mcp`, name, input, headers);
  return answer.json().result?.structuredContent ?? { status: answer.status };
}

async function ann(claims: Answer = {}) {
  // Younger than the processes, though the time of a proof is in whole seconds and they have just started.
  const iat = Math.floor(Date.now() / 1000) + 2;
  const proof = await provider.sign({ sub: "ann", aud: "muster", jti: randomUUID(), iat, ...claims });
  return { id: "ann", kind: "subagent", proof };
}

const create = (actor: object, title: string) => ({
  operation: "create",
  actor,
  requestId: randomUUID(),
  items: [{ title }],
});

const REJECTED = { error: { code: "rejected_by_policy", kind: "permanent" } };

describe("a fleet that verifies actors", () => {
  it("takes a proof once, whichever replica it comes to, and again only with the same call", async () => {
    const actor = await ann();
    const first = create(actor, "made once");
    const made = await call(a, "manage_items", first);
    expect(made).toMatchObject({ created: 1 });
    const idsOf = (answer: Answer) => (answer["items"] as { id: string }[]).map(({ id }) => id);
    expect(idsOf(await call(b, "manage_items", first))).toEqual(idsOf(made));
    for (const server of [a, b]) {
      expect(await call(server, "manage_items", create(actor, "made twice"))).toMatchObject(REJECTED);
    }
  });

  it("shows what became of a proof, and never the proof [B85]", async () => {
    const made = await call(a, "manage_items", create(await ann(), "shown"));
    const [{ id: itemId }] = made["items"] as [{ id: string }];
    const actor = await ann();
    const moved = await call(b, "advance_item", { actor, itemId, trigger: "start", requestId: randomUUID() });
    expect(moved).toMatchObject({
      results: [
        {
          applied: true,
          actor: { id: "ann", kind: "subagent" },
          verification: { status: "verified", verifier: "jwks" },
        },
      ],
    });
    expect(JSON.stringify(moved)).not.toContain("proof");
    const forged = { ...(await ann()), id: "ben" };
    const refused = await call(b, "advance_item", { actor: forged, itemId, trigger: "complete" });
    expect(refused).toMatchObject(REJECTED);
    expect(JSON.stringify(refused)).not.toContain(forged.proof);
    for (const { output } of [a, b]) {
      expect(output.stderr + output.stdout).not.toContain(forged.proof);
      expect(output.stderr + output.stdout).not.toContain(actor.proof);
    }
  });

  it("refuses what is not valid any more, or was never for it", async () => {
    const now = Math.floor(Date.now() / 1000);
    for (const claims of [{ iat: now - 900, exp: now - 300 }, { aud: "elsewhere" }, { jti: undefined }]) {
      expect(await call(a, "manage_items", create(await ann(claims), "never"))).toMatchObject(REJECTED);
    }
  });

  it("takes the stated name of who brings no proof, unless the environment says otherwise", async () => {
    const actor = { id: "ben", kind: "user" };
    expect(await call(a, "manage_items", create(actor, "unproven"))).toMatchObject({ created: 1 });
    const strict = await createFleet({
      env: { MUSTER_CONFIG: fleet.env["MUSTER_CONFIG"], DEGRADED_MODE_POLICY: "reject" },
    });
    try {
      const server = await strict.api();
      await until(() => isReady(server), 60_000);
      expect(await call(server, "manage_items", create(actor, "unproven"))).toMatchObject(REJECTED);
      const { actor: _, ...nobody } = create(actor, "unproven");
      expect(await call(server, "manage_items", nobody)).toMatchObject(REJECTED);
      expect(await call(server, "manage_items", create(await ann(), "proven"))).toMatchObject({ created: 1 });
    } finally {
      await strict[Symbol.asyncDispose]();
    }
  });

  it("does not start with a policy, or a verifier, that it does not know", async () => {
    const file = join(folder.path, "broken.yaml");
    writeFileSync(file, "actor_authentication: { verifier: { type: magic } }\n");
    const broken = await runMuster(["api"], { ...fleet.env, MUSTER_CONFIG: file });
    expect(broken).toMatchObject({ code: 78 });
    expect(broken.stderr).toContain("actor_authentication.verifier.type");
    const unknown = await runMuster(["api"], { ...fleet.env, DEGRADED_MODE_POLICY: "trust" });
    expect(unknown).toMatchObject({ code: 78 });
    expect(unknown.stderr).toContain("DEGRADED_MODE_POLICY");
  });
});

// Last: it leaves one replica.
it.each([["legacy"], ["modern"]] as const)(
  "clients of the %s era go on at another replica when theirs is killed, with their claims [B88]",
  async (era) => {
    const doomed = await fleet.api();
    await until(() => isReady(doomed), 60_000);
    const headers: Record<string, string> =
      era === "legacy" ? { "mcp-session-id": await initialize(`${doomed.url}/mcp`) } : {};
    const actor = { id: `worker of the ${era} era`, kind: "subagent" };
    const made = await call(doomed, "manage_items", create(actor, "kept"), headers);
    const [{ id: itemId }] = made["items"] as [{ id: string }];
    const claim = { actor, requestId: randomUUID(), claims: [{ itemId, start: true }] };
    const claimed = await call(doomed, "claim_item", claim, headers);
    expect(claimed).toMatchObject({ claims: [{ outcome: "success" }] });
    await doomed.kill();
    // A 2025-era client is known by its session header; one of 2026 passes the workerId that it was given.
    const known = era === "legacy" ? {} : { workerId: claimed["workerId"] };
    const moved = await call(b, "advance_item", { actor, ...known, itemId, trigger: "complete" }, headers);
    expect(moved).toMatchObject({ results: [{ applied: true, newRole: "terminal" }] });
  },
);
