/**
 * Edges of an import. Which of them can be drawn is decided over all of them at once, by the rules that
 * every edge is judged by; of a cycle, the youngest edge stays away.
 */
import {
  addEdges,
  findDrawn,
  findLineage,
  findPlaced,
  findStaged,
  type ImportedEdge,
} from "../../../db/stores/import-store.ts";
import { inTransaction } from "../../../db/transaction.ts";
import { DEPENDENCIES_PER_ITEM_MAX } from "../../contract/limits.ts";
import { findCycle, type OrderGraph } from "../../core/cycle.ts";
import { type EdgeRefusal, judgeNewEdges } from "../../core/new-edges.ts";
import type { EngineDeps } from "../deps.ts";
import type { ImportLedger } from "./import-report.ts";
import { shownId, Unfit } from "./read-values.ts";
import { readEdgeRow } from "./read-rows.ts";
import type { ImportSource } from "./source.ts";

const TABLE = "dependencies";
const BATCH = 1_000;

interface Candidate {
  readonly row: ImportedEdge;
  readonly changes: readonly string[];
}

export async function importEdges(
  deps: Pick<EngineDeps, "db">,
  source: ImportSource,
  ledger: ImportLedger,
): Promise<void> {
  const candidates = readCandidates(source, ledger);
  const ends = [...new Set(candidates.flatMap(({ row }) => [row.from_item, row.to_item]))];
  const there = await collect(ends, async (ids) => (await findPlaced(deps.db, ids)).keys());
  const staged = await collect(ends, async (ids) => await findStaged(deps.db, ids));
  // Between items that were there before, what is drawn is Muster's business alone.
  const fresh = candidates.filter(({ row }) => {
    const isOld = [row.from_item, row.to_item].every((end) => there.has(end) && !staged.has(end));
    if (isOld) ledger.alreadyThere(TABLE);
    return !isOld;
  });
  const drawn = await readDrawn(deps, ends);
  const toDraw = judged(fresh, drawn, there, ledger);
  const accepted = await withoutCycles(deps, toDraw, drawn, ledger);
  for (let at = 0; at < accepted.length; at += BATCH) {
    const batch = accepted.slice(at, at + BATCH);
    const added = await inTransaction(deps.db, (tx) =>
      addEdges(
        tx,
        batch.map(({ row }) => row),
      ),
    );
    for (const { row, changes } of batch) {
      if (!added.has(row.id)) {
        ledger.alreadyThere(TABLE);
        continue;
      }
      ledger.imported(TABLE);
      for (const change of changes) ledger.changed(TABLE, row.id, change);
    }
  }
}

function readCandidates(source: ImportSource, ledger: ImportLedger): Candidate[] {
  const candidates: Candidate[] = [];
  for (const row of source.dependencies()) {
    try {
      candidates.push(readEdgeRow(row));
    } catch (error) {
      if (!(error instanceof Unfit)) throw error;
      ledger.leftOut(TABLE, shownId(row["id"]), error.message);
    }
  }
  return candidates;
}

interface Drawn {
  readonly from_item: string;
  readonly to_item: string;
  readonly type: ImportedEdge["type"];
}

async function readDrawn(deps: Pick<EngineDeps, "db">, ends: readonly string[]): Promise<Drawn[]> {
  const found = new Map<string, Drawn>();
  for (let at = 0; at < ends.length; at += BATCH) {
    for (const edge of await findDrawn(deps.db, ends.slice(at, at + BATCH)))
      found.set(`${edge.from_item} ${edge.to_item} ${edge.type}`, edge);
  }
  return [...found.values()];
}

async function collect(
  ids: readonly string[],
  find: (ids: readonly string[]) => Promise<Iterable<string>>,
): Promise<Set<string>> {
  const found = new Set<string>();
  for (let at = 0; at < ids.length; at += BATCH)
    for (const id of await find(ids.slice(at, at + BATCH))) found.add(id);
  return found;
}

/** Without those that have no ends, are there already, or are one too many. */
function judged(
  candidates: readonly Candidate[],
  drawn: readonly Drawn[],
  there: ReadonlySet<string>,
  ledger: ImportLedger,
): Candidate[] {
  const edgesOf = new Map<string, number>();
  for (const edge of drawn)
    for (const end of [edge.from_item, edge.to_item]) edgesOf.set(end, (edgesOf.get(end) ?? 0) + 1);
  const asEdge = (edge: Drawn) => ({
    from: edge.from_item,
    to: edge.to_item,
    blocks: edge.type === "BLOCKS",
  });
  const before = new Set(drawn.map((edge) => JSON.stringify(asEdge(edge))));
  const refusals = judgeNewEdges(
    candidates.map(({ row }) => asEdge(row)),
    {
      exists: (id) => there.has(id),
      drawn: drawn.map(asEdge),
      edgesOf,
      edgesMax: DEPENDENCIES_PER_ITEM_MAX,
      order: null,
    },
  );
  return candidates.filter(({ row }, at) => {
    const refusal = refusals[at] ?? null;
    if (refusal === null) return true;
    // Drawn by an earlier run that did not come to its end.
    if (refusal.code === "duplicate" && before.has(JSON.stringify(asEdge(row)))) ledger.alreadyThere(TABLE);
    else ledger.leftOut(TABLE, row.id, reasonOf(refusal, row));
    return false;
  });
}

function reasonOf(refusal: EdgeRefusal, { from_item: from, to_item: to }: ImportedEdge): string {
  switch (refusal.code) {
    case "missing":
      return `its end ${refusal.id} does not exist, or was left out`;
    case "self":
      return "both of its ends are the same item";
    case "duplicate":
      return `another edge says the same: ${from} and ${to}`;
    case "too_many":
      return `${refusal.id} has ${DEPENDENCIES_PER_ITEM_MAX} edges already`;
    case "cycle":
      return `it closes a cycle: ${refusal.path.join(" -> ")}`;
  }
}

async function withoutCycles(
  deps: Pick<EngineDeps, "db">,
  candidates: readonly Candidate[],
  drawn: readonly Drawn[],
  ledger: ImportLedger,
): Promise<readonly Candidate[]> {
  const order = await orderOf(deps, [...candidates.map(({ row }) => row), ...drawn]);
  const ageOf = new Map(
    candidates.flatMap(({ row }, age) =>
      row.type === "BLOCKS" ? [[`${row.from_item} ${row.to_item}`, age] as const] : [],
    ),
  );
  const away = new Set<number>();
  for (let cycle = findCycle(order); cycle !== null; cycle = findCycle(order)) {
    const path = cycle;
    const ages = path.flatMap((id, at) => ageOf.get(`${id} ${path[at + 1] ?? ""}`) ?? []);
    const youngest = Math.max(...ages);
    const edge = candidates[youngest];
    // One of the edges that were there before would have to go: not by an import.
    if (edge === undefined) break;
    const { from_item: from, to_item: to } = edge.row;
    away.add(youngest);
    ageOf.delete(`${from} ${to}`);
    order.blocks.set(
      from,
      (order.blocks.get(from) ?? []).filter((id) => id !== to),
    );
    ledger.leftOut(TABLE, edge.row.id, `it closes a cycle: ${path.join(" -> ")}`);
  }
  return candidates.filter((_, age) => !away.has(age));
}

/** Of everything that has an edge, and of what it lies in: nothing else can be part of a cycle. */
async function orderOf(
  deps: Pick<EngineDeps, "db">,
  edges: readonly Drawn[],
): Promise<OrderGraph & { readonly blocks: Map<string, readonly string[]> }> {
  const blocking = edges.filter((edge) => edge.type === "BLOCKS");
  const ends = [...new Set(blocking.flatMap((edge) => [edge.from_item, edge.to_item]))];
  const parentOf = new Map<string, string | null>();
  for (let at = 0; at < ends.length; at += BATCH)
    for (const { id, parent_id } of await findLineage(deps.db, ends.slice(at, at + BATCH)))
      parentOf.set(id, parent_id);
  const children = new Map<string, string[]>();
  for (const [id, parent] of parentOf) {
    if (parent === null) continue;
    const siblings = children.get(parent);
    if (siblings === undefined) children.set(parent, [id]);
    else siblings.push(id);
  }
  const blocks = new Map<string, string[]>();
  for (const { from_item: from, to_item: to } of blocking) {
    const others = blocks.get(from);
    if (others === undefined) blocks.set(from, [to]);
    else others.push(to);
  }
  return { blocks, children, parentOf };
}
