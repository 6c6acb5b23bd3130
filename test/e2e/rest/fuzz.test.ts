/**
 * Nothing that can be written into a request may end in a fault of ours, or bring out how the
 * server works. Run again with MUSTER_FUZZ_SEED to repeat what failed.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RestClient, restClient } from "../../support/rest-client.ts";
import { FUZZ_CONFIG, type OpenApi, RequestFuzz, type FuzzRequest } from "../../support/request-fuzz.ts";
import { startTestServer, type RealServer } from "../../support/server.ts";

const REQUESTS = 5_400;
const SEED = Number(process.env["MUSTER_FUZZ_SEED"] ?? Math.floor(Math.random() * 2 ** 31));
const ITEMS_KEPT = 40;

/** What only somebody who looks into the server can know: statements, tables, files, drivers, stacks. */
const INTERNALS =
  /\bselect\b.+\bfrom\b|insert into|item_state|pg_catalog|syntax error|kysely|pglite|node_modules|\.ts:\d+|\bat \w+ \(|file:\/\/|\/services\/|ECONN|TypeError|RangeError|SQLSTATE|invalid input syntax|violates|constraint "/i;

let server: RealServer;
beforeAll(async () => {
  server = await startTestServer({ database: "pglite" });
});
afterAll(() => server.close());

interface Sent {
  readonly status: number;
  readonly text: string;
  readonly etag: string | null;
}

async function send({ method, target, headers, body }: FuzzRequest): Promise<Sent> {
  const answer = await fetch(server.url + target, {
    method,
    headers,
    ...(body === undefined ? {} : { body }),
  });
  return { status: answer.status, text: await answer.text(), etag: answer.headers.get("etag") };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}

/** A project with everything that routes read. */
async function furnish(rest: RestClient): Promise<{ root: string; task: string }> {
  const root = (await rest("POST /items", { body: { title: "Home", type: "project" } })).body.id;
  await rest(`PUT /roots/${root}/config`, { body: FUZZ_CONFIG, type: "application/yaml" });
  await rest(`PUT /roots/${root}/plans/launch`, { body: "# Launch", type: "text/plain" });
  await rest(`PUT /roots/${root}/plans/rule%2Fstyle`, { body: "Be brief.", type: "text/plain" });
  const task = (await rest("POST /items", { body: { title: "Task", type: "task", parentId: root } })).body.id;
  await rest(`PUT /items/${task}/notes/spec`, { body: { role: "queue", body: "What to do" } });
  return { root, task };
}

describe("requests made up from the OpenAPI document", () => {
  it(
    `end in no 500 and tell nothing of the inside (MUSTER_FUZZ_SEED=${SEED})`,
    { timeout: 600_000 },
    async () => {
      // oxlint-disable-next-line no-console -- whoever sees it fail needs the seed, and so does the record of a run
      console.info(`REST fuzz: MUSTER_FUZZ_SEED=${SEED}`);
      const document = (await (await fetch(`${server.url}/api/v1/openapi.json`)).json()) as OpenApi;
      const fuzz = new RequestFuzz(document, SEED);
      const counts = new Map<string, { sent: number; good: number }>();
      const faults: unknown[] = [];

      const run = async (request: FuzzRequest): Promise<void> => {
        const { status, text, etag } = await send(request);
        const count = counts.get(request.route) ?? { sent: 0, good: 0 };
        counts.set(request.route, { sent: count.sent + 1, good: count.good + (status < 300 ? 1 : 0) });
        fuzz.learn(request, status, parsed(text), etag);
        // What was sent may come back; it is no secret.
        const own = JSON.stringify(text).replaceAll(/drop table items/g, "");
        const leaks = status >= 400 && INTERNALS.test(own);
        if (status >= 500 || leaks || !fuzz.isDocumented(request.route, status))
          faults.push({ ...request, status, text: text.slice(0, 500) });
      };

      const create = (): Promise<void> => run(fuzz.next("POST /api/v1/items", false));
      const seedItems = async (): Promise<void> => {
        while (fuzz.found.items.length < ITEMS_KEPT || fuzz.found.roots.length < 5) {
          const made = await fetch(`${server.url}/api/v1/items`, {
            method: "POST",
            headers: { "content-type": "application/json" },
            body: JSON.stringify({ title: "Seed" }),
          });
          fuzz.learn(
            {
              route: "POST /api/v1/items",
              method: "POST",
              target: "",
              headers: {},
              body: "",
              malformed: false,
            },
            made.status,
            await made.json(),
            made.headers.get("etag"),
          );
        }
      };
      fuzz.found.home = await furnish(restClient(server));
      const { routes } = fuzz;
      for (let sent = 0; sent < REQUESTS && faults.length < 20; sent += 1) {
        await seedItems();
        if (sent % 50 === 0) await create();
        const route = routes[sent % routes.length];
        if (route !== undefined) await run(fuzz.next(route));
      }
      expect(faults).toEqual([]);
      const all = [...counts.values()];
      const total = all.reduce((sum, one) => sum + one.sent, 0);
      expect(total).toBeGreaterThanOrEqual(5_000);
      expect(Math.min(...routes.map((route) => counts.get(route)?.sent ?? 0))).toBeGreaterThanOrEqual(20);
      expect(all.reduce((sum, one) => sum + one.good, 0) / total).toBeGreaterThan(1 / 3);
    },
  );
});
