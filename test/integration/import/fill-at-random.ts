/** A database full of everything that task-orchestrator can hold, the same for the same seed. */
import { idOf, type TaskOrchestratorDatabase } from "../../support/task-orchestrator-file.ts";

/** A small generator of its own: a failing seed must fail again. */
function randomOf(seed: number): () => number {
  let state = seed * 2_654_435_761;
  return () => {
    state = Math.imul(state ^ (state >>> 15), 2_246_822_519) + 0x9e3779b9;
    state ^= state >>> 13;
    return (state >>> 0) / 2 ** 32;
  };
}

const ITEMS = 400;

export function fillAtRandom(file: TaskOrchestratorDatabase, seed: number): void {
  const random = randomOf(seed);
  const upTo = (count: number): number => Math.floor(random() * count);
  const one = <T>(list: readonly [T, ...T[]]): T => list[upTo(list.length)] ?? list[0];
  const maybe = <T>(value: T): T | null => (random() < 0.5 ? value : null);
  const at = (): string => {
    const day = String(1 + upTo(28)).padStart(2, "0");
    const time = `${String(upTo(24)).padStart(2, "0")}:${String(upTo(60)).padStart(2, "0")}:07`;
    return `2026-01-${day} ${time}${one(["", ".5", ".123"])}`;
  };
  const actor = () => ({
    actor_id: maybe(`agent-${upTo(9)}`),
    actor_kind: "subagent",
    actor_parent: maybe("boss"),
    verification_status: maybe("verified"),
    verification_verifier: "jwks",
  });
  const items: { id: string; depth: number; root: string }[] = [];
  for (let n = 0; n < ITEMS; n += 1) {
    const parent = n < 5 ? undefined : items[upTo(items.length)];
    const under = parent !== undefined && parent.depth < 8 ? parent : undefined;
    const role = one(["queue", "queue", "work", "review", "blocked", "terminal"]);
    const id = file.item({
      title: `Item ${n} — "quoted" 漢字 \u{1F600}`,
      parent_id: under === undefined ? null : idOf(under.id),
      depth: under === undefined ? 0 : under.depth + 1,
      description: maybe(`Line one\nline two of ${n}`),
      summary: random() < 0.5 ? "" : `summary ${n}`,
      role,
      previous_role: role === "blocked" ? one(["queue", "work", "review"]) : null,
      status_label: maybe("in-progress"),
      priority: one(["high", "medium", "low"]),
      complexity: maybe(1 + upTo(10)),
      requires_verification: upTo(2),
      metadata: maybe("free text"),
      tags: maybe(`backend,t${upTo(5)}`),
      type: maybe("feature"),
      properties: one([
        null,
        '{"traits":["security","db"],"estimate":3}',
        '{"traits":"security,db"}',
        '{"big":"9007199254740993"}',
      ]),
      created_at: at(),
      modified_at: at(),
      role_changed_at: at(),
      version: 1 + upTo(50),
      ...(random() < 0.1
        ? { claimed_by: "worker", claimed_at: at(), claim_expires_at: at(), original_claimed_at: at() }
        : {}),
    });
    const root = under?.root ?? id;
    items.push({ id, depth: under === undefined ? 0 : under.depth + 1, root });
    for (const key of ["plan", "report", "review"].slice(0, upTo(4)))
      file.note(id, {
        key,
        role: one(["queue", "work", "review"]),
        body: one(["", "short", "long ".repeat(500)]),
        created_at: at(),
        modified_at: at(),
        ...actor(),
      });
    for (let moves = upTo(4); moves > 0; moves -= 1)
      file.move(id, {
        transitioned_at: at(),
        summary: maybe("because"),
        consumed_credentials: maybe('["key-1"]'),
        ...actor(),
      });
  }
  file.stampRoots(items);
  // From earlier to later roots only, so that nothing runs in a circle.
  const leaves = items.toSorted(
    (a, b) => items.findIndex((x) => x.id === a.root) - items.findIndex((x) => x.id === b.root),
  );
  const drawn = new Set<string>();
  for (let n = 0; n < ITEMS; n += 1) {
    const [from, to] = [upTo(leaves.length), upTo(leaves.length)]
      .toSorted((a, b) => a - b)
      .map((index) => leaves[index]);
    if (from === undefined || to === undefined || from.root === to.root || drawn.has(`${from.id}${to.id}`))
      continue;
    drawn.add(`${from.id}${to.id}`);
    const type = one(["BLOCKS", "IS_BLOCKED_BY", "RELATES_TO"]);
    const [first, second] = type === "IS_BLOCKED_BY" ? [to, from] : [from, to];
    file.edge(first.id, second.id, {
      type,
      unblock_at: type === "RELATES_TO" ? null : one([null, "work", "terminal"]),
      created_at: at(),
    });
  }
  const [first, second] = items.filter((item) => item.depth === 0);
  if (first === undefined || second === undefined) return;
  file.config(
    first.id,
    "work_item_schemas:\n  feature:\n    notes:\n      - key: plan\n        role: queue\n        required: true\n        description: The plan\n",
  );
  file.plan(first.id, { slug: "first", status: "adopted", adopted_by_item_id: idOf(second.id) });
  file.plan(second.id, { slug: "second", body: "# Second\n" });
}
