/** What clients get wrong, each with what the answer has to say about it. */
import { randomUUID } from "node:crypto";
import type { ErrorCode } from "../../../services/contract/errors.ts";

/** Two ids that share their first four digits, and no more. */
export const TWINS = [
  "abcd0000-0000-4000-8000-000000000001",
  "abcd1111-0000-4000-8000-000000000002",
] as const;
/** `first` blocks `second`, which blocks `third`; `container` has `inside`, which has `deepest`. */
export const IDS = {
  first: randomUUID(),
  second: randomUUID(),
  third: randomUUID(),
  container: randomUUID(),
  inside: randomUUID(),
  deepest: randomUUID(),
  closed: randomUUID(),
  held: randomUUID(),
};
const MISSING = randomUUID();
/** Who holds `held`, and is named in no answer. */
export const ZOE = { agent: "zoe-the-holder", session: "worker-7f3a9c" };

export interface Mistake {
  readonly name: string;
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly code: ErrorCode;
  /** What the message has to say about the cause. */
  readonly cause: RegExp;
  /** What the message or the hint has to say about the next step. */
  readonly next: RegExp;
}

const actor = { id: "newcomer", kind: "subagent" };
const call = () => ({ actor, requestId: randomUUID() });
export const claimOf = (entry: object, more: object = {}) => ({ ...call(), claims: [entry], ...more });
export const create = (...items: object[]) => ({ ...call(), operation: "create", items });
export const update = (...items: object[]) => ({ ...call(), operation: "update", items });
const erase = (...itemIds: string[]) => ({ ...call(), operation: "delete", itemIds });
const edge = (fromItemId: string, toItemId: string, more: object = {}) => ({
  ...call(),
  operation: "create",
  dependencies: [{ fromItemId, toItemId, ...more }],
});
export const move = (itemId: string, trigger: string, more: object = {}) => ({
  ...call(),
  itemId,
  trigger,
  ...more,
});

const CORRECT = /Correct the fields named/;

export const MISTAKES: readonly Mistake[] = [
  // Keys that nobody declared
  {
    name: "an unknown key of a claim",
    tool: "claim_item",
    args: claimOf({ itemId: IDS.first, ttl: 60 }),
    code: "VALIDATION_ERROR",
    cause: /claims\[0\]: unknown key "ttl"/,
    next: /did you mean "ttlSeconds"\?/,
  },
  {
    name: "a key in the wrong place",
    tool: "claim_item",
    args: claimOf({ itemId: IDS.first }, { ttlSeconds: 60 }),
    code: "VALIDATION_ERROR",
    cause: /unknown key "ttlSeconds"/,
    next: /it belongs into claims\[\]/,
  },
  {
    name: "an unknown key of an item",
    tool: "manage_items",
    args: create({ title: "fine" }, { title: "red", colour: "red" }),
    code: "VALIDATION_ERROR",
    cause: /items\[1\]: unknown key "colour"/,
    next: /accepted here are itemId, title/,
  },
  {
    name: "a role for a new item",
    tool: "manage_items",
    args: create({ title: "done already", role: "terminal" }),
    code: "VALIDATION_ERROR",
    cause: /unknown key "role"/,
    next: /only through advance_item/,
  },
  // Wrong types
  {
    name: "a number as a title and a word as a number",
    tool: "manage_items",
    args: create({ title: 7, complexity: "hard" }),
    code: "VALIDATION_ERROR",
    cause: /title: must be a string, not 7; items\[0\]\.complexity: must be a number, not the string "hard"/,
    next: CORRECT,
  },
  {
    name: "an object where a list belongs",
    tool: "advance_item",
    args: { ...call(), transitions: { itemId: IDS.first, trigger: "start" } },
    code: "VALIDATION_ERROR",
    cause: /transitions: must be a list, not an object/,
    next: CORRECT,
  },
  {
    name: "a trigger that does not exist",
    tool: "advance_item",
    args: move(IDS.first, "finish"),
    code: "VALIDATION_ERROR",
    cause: /not the string "finish"/,
    next: /one of start, complete/,
  },
  {
    name: "a cascade asked for by a caller",
    tool: "advance_item",
    args: move(IDS.first, "cascade"),
    code: "VALIDATION_ERROR",
    cause: /cascade is not a trigger for callers/,
    next: /follow their children by themselves/,
  },
  // Ranges
  ...[0, -1, 1.5, 86_401, "900"].map((ttlSeconds) => ({
    name: `a ttl of ${JSON.stringify(ttlSeconds)}`,
    tool: "claim_item",
    args: claimOf({ itemId: IDS.first, ttlSeconds }),
    code: "VALIDATION_ERROR" as const,
    cause: /claims\[0\]\.ttlSeconds/,
    next: /from 1 to 86400, as a number/,
  })),
  {
    name: "a wait of more than 50 seconds",
    tool: "claim_item",
    args: claimOf({ selector: {} }, { waitSeconds: 51 }),
    code: "VALIDATION_ERROR",
    cause: /waitSeconds: must be at most 50, not 51/,
    next: CORRECT,
  },
  // Ids
  {
    name: "a prefix of three digits",
    tool: "claim_item",
    args: claimOf({ itemId: "abc" }),
    code: "VALIDATION_ERROR",
    cause: /"abc" is too short/,
    next: /4 to 35 hex digits/,
  },
  {
    name: "an ambiguous prefix of a claim",
    tool: "claim_item",
    args: claimOf({ itemId: "abcd" }),
    code: "ambiguous_id",
    cause: /abcd/,
    next: /more characters/,
  },
  {
    name: "an ambiguous prefix of a transition",
    tool: "advance_item",
    args: move("abcd", "start"),
    code: "ambiguous_id",
    cause: /abcd/,
    next: /more characters/,
  },
  {
    name: "an ambiguous prefix of an update",
    tool: "manage_items",
    args: update({ itemId: "abcd", title: "both" }),
    code: "ambiguous_id",
    cause: /abcd/,
    next: /more characters/,
  },
  {
    name: "a delete by a prefix that is unique",
    tool: "manage_items",
    args: erase("abcd0"),
    code: "VALIDATION_ERROR",
    cause: /itemIds\[0\]: "abcd0" is not a full UUID/,
    next: /a prefix is not enough here/,
  },
  // Graphs
  {
    name: "an edge that closes a cycle",
    tool: "manage_dependencies",
    args: edge(IDS.third, IDS.first),
    code: "cycle_detected",
    cause: /"third" \(.+\) before "first" \(.+\) before "second" \(.+\) before "third"/,
    next: /Remove one edge of the path/,
  },
  {
    name: "an edge from a child to its own container",
    tool: "manage_dependencies",
    args: edge(IDS.inside, IDS.container),
    code: "cycle_detected",
    cause: new RegExp(`${IDS.inside}.+ before "container" .+ before .+${IDS.inside}`),
    next: /leave the new one out/,
  },
  {
    name: "an edge from an item to itself",
    tool: "manage_dependencies",
    args: edge(IDS.first, IDS.first),
    code: "validation_failed",
    cause: /"first" \(.+\) cannot depend on itself/,
    next: /Correct the element/,
  },
  {
    name: "a batch of edges of which the last closes a cycle",
    tool: "manage_dependencies",
    args: { ...call(), operation: "create", pattern: "linear", itemIds: [TWINS[0], TWINS[1], TWINS[0]] },
    code: "cycle_detected",
    cause: new RegExp(`${TWINS[1]}.+ before .+${TWINS[0]}.+ before .+${TWINS[1]}`),
    next: /Remove one edge/,
  },
  {
    name: "a threshold on an edge that blocks nothing",
    tool: "manage_dependencies",
    args: edge(IDS.first, IDS.closed, { type: "RELATES_TO", unblockAt: "work" }),
    code: "VALIDATION_ERROR",
    cause: /does not go with RELATES_TO/,
    next: /leave it out/,
  },
  {
    name: "a container under its own grandchild",
    tool: "manage_items",
    args: update({ itemId: IDS.container, parentId: IDS.deepest }),
    code: "cycle_detected",
    cause: new RegExp(IDS.deepest),
    next: /outside of the item's own subtree/,
  },
  {
    name: "an item as its own parent",
    tool: "manage_items",
    args: update({ itemId: IDS.first, parentId: IDS.first }),
    code: "cycle_detected",
    cause: /the item itself/,
    next: /outside of the item's own subtree/,
  },
  {
    name: "a new item under a closed one",
    tool: "manage_items",
    args: create({ title: "too late", parentId: IDS.closed }),
    code: "parent_closed",
    cause: new RegExp(`parent ${IDS.closed} is terminal`),
    next: /Reopen the parent first/,
  },
  // Claims of what cannot be claimed
  {
    name: "a claim of a terminal item",
    tool: "claim_item",
    args: claimOf({ itemId: IDS.closed }),
    code: "terminal_item",
    cause: /closed/,
    next: /Reopen it/,
  },
  {
    name: "a claim of a missing item",
    tool: "claim_item",
    args: claimOf({ itemId: MISSING }),
    code: "not_found",
    cause: /no item has this id/,
    next: /query_items/,
  },
  {
    name: "a claim of a held item",
    tool: "claim_item",
    args: claimOf({ itemId: IDS.held }),
    code: "already_claimed",
    cause: /is claimed/,
    next: /Claim another item/,
  },
  {
    name: "two claims in one call",
    tool: "claim_item",
    args: { ...call(), claims: [{ itemId: IDS.first }, { itemId: TWINS[0] }] },
    code: "multi_claim_not_supported",
    cause: /has 2 entries; one call claims one item/,
    next: /a second item needs a second call/,
  },
  {
    name: "a claim by id and by selector at once",
    tool: "claim_item",
    args: claimOf({ itemId: IDS.first, selector: {} }),
    code: "VALIDATION_ERROR",
    cause: /exactly one of itemId and selector/,
    next: CORRECT,
  },
  {
    name: "a claim that is to start what is blocked",
    tool: "claim_item",
    args: claimOf({ itemId: IDS.second, start: true }),
    code: "dependency_blocked",
    cause: /1 unsatisfied dependency/,
    next: /Finish the blockers/,
  },
  // Keys of repetition
  ...["claim_item", "advance_item", "manage_items", "manage_dependencies"].map((tool) => ({
    name: `a malformed requestId on ${tool}`,
    tool,
    args: {
      ...{
        claim_item: claimOf({ itemId: IDS.first }),
        advance_item: move(IDS.first, "start"),
        manage_items: create({ title: "new" }),
        manage_dependencies: edge(IDS.first, IDS.third),
      }[tool],
      requestId: "again",
    },
    code: "VALIDATION_ERROR" as const,
    cause: /requestId: "again" is not a UUID/,
    next: /generate a new one/,
  })),
  {
    name: "a claim without a requestId",
    tool: "claim_item",
    args: { actor, claims: [{ itemId: IDS.first }] },
    code: "VALIDATION_ERROR",
    cause: /requestId: is missing/,
    next: /generate a new one for every new call/,
  },
  {
    name: "a next claim without a requestId",
    tool: "advance_item",
    args: { actor, itemId: IDS.first, trigger: "start", claimNext: { selector: {} } },
    code: "VALIDATION_ERROR",
    cause: /requestId: is needed with claimNext/,
    next: CORRECT,
  },
  // What others hold
  {
    name: "a delete of a held item",
    tool: "manage_items",
    args: erase(IDS.held),
    code: "item_held",
    cause: /is claimed/,
    next: /Wait until the claim ends/,
  },
  {
    name: "a delete of a container without its descendants",
    tool: "manage_items",
    args: erase(IDS.container),
    code: "has_children",
    cause: /has 2 descendants/,
    next: /recursive: true/,
  },
  {
    name: "a transition of a held item",
    tool: "advance_item",
    args: move(IDS.held, "complete"),
    code: "not_claim_holder",
    cause: /is claimed/,
    next: /Claim the item first/,
  },
  {
    name: "a write with a fence of nobody's claim",
    tool: "manage_items",
    args: update({ itemId: IDS.first, title: "stale", fence: 7 }),
    code: "claim_lost",
    cause: /your claim on .+ has ended/,
    next: /claim it again/,
  },
  {
    name: "a change of another version",
    tool: "manage_items",
    args: update({ itemId: IDS.first, title: "stale", expectedVersion: 9 }),
    code: "version_conflict",
    cause: /version 1, not at the expected 9/,
    next: /Read the item again/,
  },
  {
    name: "the completion of a container with open children",
    tool: "advance_item",
    args: move(IDS.container, "complete"),
    code: "open_children",
    cause: /still open/,
    next: /Finish or cancel its open children/,
  },
];
