/** Who holds what, asked by holder; and the lock that makes one claim per holder true. */
import type { Identity } from "../../services/core/claim.ts";
import type { Holder } from "../../services/core/state.ts";
import { type Handle, statement } from "../statement.ts";
import { type IdempotencyRecord, toWantedKeys, unusedKeys, type UsedKey } from "./idempotency-store.ts";

/** One text for one holder; under `identity: actor` the name alone. */
export function holderKey(holder: Holder, identity: Identity): string {
  return identity === "actor" ? holder.agent : `${holder.agent}\u0001${holder.session}`;
}

interface Opening {
  readonly used: readonly UsedKey[] | null;
  readonly busy: readonly string[] | null;
  readonly concerns: readonly ConcernRow[] | null;
  readonly drained: readonly string[] | null;
  readonly breakers: readonly string[] | null;
}

interface ConcernRow {
  readonly item_id: string | null;
  readonly agent: string;
  readonly session: string | null;
  readonly container: boolean;
}

const open = statement<{ opening: Opening }>(
  "claims_open",
  `select muster_open_claims($1::jsonb, $2::int, $3::text[], $4, $5::text[], $6::text[], $7) as opening`,
);

export interface HeldItem extends Holder {
  readonly itemId: string;
}

export interface OpenedClaims {
  /** Keys that were not used before. */
  readonly taken: ReadonlySet<string>;
  /** Holders that another transaction has locked; never any when they are waited for. */
  readonly busy: readonly string[];
  /** Everything that these holders hold. */
  readonly held: readonly HeldItem[];
  /**
   * Agents to whom something is offered that is not offered to everybody: items assigned
   * to them, and what lies below a container that they hold. All others of a batch can
   * share one selection.
   */
  readonly particular: ReadonlySet<string>;
  /** Agents that may take nothing new. */
  readonly drained: ReadonlySet<string>;
  /** Roots that have a breaker. */
  readonly breakers: ReadonlySet<string>;
}

export interface OpenClaims {
  readonly records: readonly IdempotencyRecord[];
  readonly lockTimeoutMs: number | undefined;
  readonly holders: readonly Holder[];
  /** Wait for holders that are busy, instead of answering which ones are. */
  readonly wait: boolean;
  readonly identity: Identity;
}

/** Takes the keys and the holders for this transaction, and looks at what concerns the holders. */
export async function openClaims(handle: Handle, input: OpenClaims): Promise<OpenedClaims> {
  const { records, holders, identity } = input;
  const keys = new Set(holders.map((holder) => holderKey(holder, identity)));
  const [row] = await open(handle, [
    toWantedKeys(records),
    input.lockTimeoutMs ?? null,
    [...keys],
    input.wait,
    [...new Set(holders.map((holder) => holder.agent))],
    [...new Set(holders.map((holder) => holder.session))],
    identity === "actor",
  ]);
  if (!row) throw new Error("opening answered nothing");
  const { used, busy, concerns, drained, breakers } = row.opening;
  const held: HeldItem[] = [];
  const particular = new Set<string>();
  for (const { item_id: itemId, agent, session, container } of concerns ?? []) {
    if (itemId === null || container) particular.add(agent);
    if (itemId === null || session === null) continue;
    if (keys.has(holderKey({ agent, session }, identity))) held.push({ itemId, agent, session });
  }
  return {
    taken: unusedKeys(records, used ?? []),
    busy: busy ?? [],
    held,
    particular,
    drained: new Set(drained ?? []),
    breakers: new Set(breakers ?? []),
  };
}
