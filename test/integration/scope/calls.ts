/**
 * A call for every place where an operation names something. Each is valid as it stands, on the
 * items of a caller's own scope; tests put something else into one place after the other.
 *
 * Whoever adds an operation, or a place to one, adds a call here: the oracle says so.
 */
import { randomUUID } from "node:crypto";
import type { OperationName } from "../../../services/contract/registry.ts";

/** What a call may name: all of one side of the fence, inside or outside. */
export interface Named {
  readonly item: string;
  readonly other: string;
  readonly root: string;
  readonly deleted: string;
  readonly note: string;
  readonly edge: string;
  readonly trash: string;
}

export interface Call {
  readonly operation: OperationName;
  readonly input: Readonly<Record<string, unknown>>;
  /** What its places name, where that is not an item. */
  readonly names?: Readonly<Record<string, keyof Named>>;
}

export const CALLER = { id: "caller", kind: "user" } as const;
const BY = { actor: CALLER };
const WHY = { ...BY, reason: "the test" };

/** Values are made anew for every call: no two of them share a requestId or an item that they change. */
export function callsOn({ item, other, root, deleted, note, edge, trash }: Named): Call[] {
  const call = (
    operation: OperationName,
    input: Readonly<Record<string, unknown>>,
    names?: Call["names"],
  ): Call => ({ operation, input, ...(names === undefined ? {} : { names }) });
  const claim = (input: object): Call =>
    call("claim_item", { ...BY, requestId: randomUUID(), workerId: "w", ...input });
  const query = (input: object): Call => call("query_items", { operation: "search", ...input });
  const items = (input: object, names?: Call["names"]): Call =>
    call("manage_items", { ...BY, requestId: randomUUID(), ...input }, names);
  const edges = (input: object, names?: Call["names"]): Call =>
    call("manage_dependencies", { ...BY, operation: "create", ...input }, names);
  const notes = (input: object, names?: Call["names"]): Call =>
    call("manage_notes", { ...BY, ...input }, names);
  const tree = (input: object): Call =>
    call("create_work_tree", { ...BY, children: [{ ref: "a", title: "a" }], ...input });
  const written = { key: "plan", role: "queue", body: "text" };
  return [
    claim({ claims: [{ itemId: item }] }),
    claim({ claims: [{ selector: { parentId: item } }] }),
    claim({ claims: [{ selector: { ancestorId: item } }] }),
    claim({ claims: [{ selector: { ancestorId: item, orderBy: "fair" } }] }),
    claim({ claims: [{ itemId: item, include: "brief" }] }),
    claim({ releases: [{ itemId: item }] }),
    claim({ refreshes: [{ itemId: item, fence: 1 }] }),
    call("advance_item", { ...BY, transitions: [{ itemId: item, trigger: "start" }] }),
    call("advance_item", { ...BY, itemId: item, trigger: "start" }),
    call("advance_item", {
      ...BY,
      requestId: randomUUID(),
      transitions: [{ itemId: other, trigger: "start" }],
      claimNext: { itemId: item },
    }),
    call("advance_item", {
      ...BY,
      requestId: randomUUID(),
      transitions: [{ itemId: other, trigger: "start" }],
      claimNext: { selector: { parentId: item } },
    }),
    call("advance_item", {
      ...BY,
      requestId: randomUUID(),
      transitions: [{ itemId: other, trigger: "start" }],
      claimNext: { selector: { ancestorId: item } },
    }),
    call("get_next_item", { parentId: item }),
    call("get_next_item", { ancestorId: item, includeAncestors: true }),
    call("get_next_status", { itemId: item }),
    query({ operation: "get", itemId: item, includeAncestors: true }),
    query({ parentId: item }),
    query({ ancestorId: item, includeAncestors: true }),
    query({ query: "word", parentId: item }),
    query({ query: "word", ancestorId: item }),
    query({ query: "word", itemId: item }),
    query({ query: "word", scope: { itemId: item } }),
    query({ query: "word", scope: { ancestorId: item } }),
    query({ operation: "schema", itemId: item }),
    query({ operation: "schema", type: "thing", rootId: root }),
    query({ operation: "overview", itemId: item }),
    query({ operation: "overview", anchorId: item }),
    query({ operation: "history", itemId: item }),
    query({ operation: "diff", itemId: item }),
    call("explain_item", { itemId: item }),
    call("get_blocked_items", { parentId: item }),
    call("get_blocked_items", { ancestorId: item, includeAncestors: true }),
    items({ operation: "create", items: [{ title: "new", parentId: item }] }),
    items({ operation: "create", parentId: item, items: [{ title: "new" }] }),
    items({ operation: "update", items: [{ itemId: item, title: "renamed" }] }),
    items({ operation: "update", items: [{ itemId: other, parentId: item }] }),
    items({ operation: "delete", itemIds: [item] }),
    items({ operation: "restore", itemIds: [deleted] }, { itemIds: "deleted" }),
    items({ operation: "restore", trashIds: [trash] }, { trashIds: "trash" }),
    edges({ dependencies: [{ fromItemId: item, toItemId: other }] }),
    edges({ pattern: "linear", itemIds: [item, other] }),
    edges({ pattern: "fan-out", fromItemId: item, toItemIds: [other] }),
    edges({ pattern: "fan-in", fromItemIds: [item], toItemId: other }),
    edges({ operation: "delete", dependencyId: edge }, { dependencyId: "edge" }),
    edges({ operation: "delete", fromItemId: item, toItemId: other }),
    edges({ operation: "delete", fromItemId: item, deleteAll: true }),
    notes({ operation: "upsert", notes: [{ itemId: item, ...written }] }),
    notes({
      operation: "patch",
      notes: [{ itemId: item, key: "plan", edits: [{ old: "text", new: "words" }] }],
    }),
    notes({ operation: "undo", notes: [{ itemId: item, key: "plan", version: 1 }] }),
    notes({ operation: "delete", ids: [note] }, { ids: "note" }),
    notes({ operation: "delete", itemId: item, key: "plan" }),
    call("query_notes", { operation: "get", noteId: note }, { noteId: "note" }),
    call("query_notes", { operation: "history", noteId: note }, { noteId: "note" }),
    call("query_notes", { operation: "get", itemId: item, key: "plan" }),
    call("query_notes", { operation: "list", itemId: item, includeBody: true }),
    call("query_notes", { operation: "history", itemId: item, key: "plan" }),
    call("query_notes", { operation: "diff", itemId: item, key: "plan" }),
    call("query_notes", { operation: "search", query: "word", scope: { itemId: item } }),
    call("query_notes", { operation: "search", query: "word", scope: { ancestorId: item } }),
    call("manage_project_config", { operation: "get", rootId: root }),
    call("manage_project_config", { ...BY, operation: "push", rootId: root, configYaml: "traits: {}" }),
    call("describe_config", { rootId: root }),
    call("delete_project_config", { ...BY, rootId: root }),
    call("query_dependencies", { operation: "get", itemId: item, neighborsOnly: false }),
    call("query_dependencies", { operation: "backlinks", itemId: item }),
    call("get_context", { itemId: item, includeAncestors: true }),
    call("get_context", { mode: "brief", itemId: item }),
    call("get_context", { mode: "session-resume", since: "2020-01-01", ancestorId: item }),
    call("get_context", { mode: "health-check", ancestorId: item }),
    tree({ root: { id: item } }),
    tree({ root: { title: "new" }, parentId: item }),
    tree({ root: { id: item }, docRef: { rootId: root, slug: "plan" } }),
    call("complete_tree", { ...BY, rootId: item }),
    call("complete_tree", { ...BY, itemIds: [item] }),
    call("manage_plan_documents", { operation: "get", rootId: root, slug: "plan" }),
    call("manage_plan_documents", { operation: "list", rootId: root }),
    call("manage_plan_documents", { ...BY, operation: "stash", rootId: root, slug: "plan", body: "# Plan" }),
    call("query_rules", { operation: "list", rootId: root }),
    call("query_rules", { operation: "get", rootId: root, key: "rule" }),
    call("query_rules", { operation: "get", itemId: item, noteKey: "rule" }),
    call("list_items", { rootId: root }),
    call("list_items", { parentId: item }),
    call("list_items", { ancestorId: item }),
    call("list_items", { view: "path", itemId: item }),
    call("list_items", { view: "tree", itemId: item }),
    call("list_transitions", { itemId: item }),
    call("list_claims", { ancestorId: item }),
    call("list_leases", { ancestorId: item }),
    call("list_lease_history", { itemId: item }),
    call("list_attempts", { itemId: item }),
    call("list_dead", { ancestorId: item }),
    call("list_trash", { rootId: root }),
    call("create_token", { ...BY, name: "t", capabilities: ["read"], rootIds: [item] }),
    call("create_token", { ...BY, name: "t", capabilities: ["read"], pinnedRootId: item }),
    call("revoke_claims", { ...WHY, itemIds: [item] }),
    call("revoke_claims", { ...WHY, ancestorId: item }),
    call("replay_dead", { ...WHY, itemIds: [item] }),
    call("replay_dead", { ...WHY, ancestorId: item }),
    call("discard_dead", { ...WHY, itemIds: [item] }),
    call("discard_dead", { ...WHY, ancestorId: item }),
    ...["stale", "overdue", "standup", "changelog", "activity", "throughput"].map((report) =>
      call("get_report", { report, ancestorId: item }),
    ),
    call("manage_reminders", {
      ...BY,
      operation: "arm",
      itemId: item,
      remindAt: "2030-01-01T00:00:00Z",
      note: "look",
    }),
    call("manage_reminders", { ...BY, operation: "list", itemId: item }),
    call("manage_schedules", { operation: "list", itemId: item }),
    call("query_audit", { itemId: item }),
    call("create_webhook", { ...BY, url: "https://example.com/hook", rootIds: [item] }),
    call("reset_breaker", { ...WHY, rootId: root }),
    // These name nothing, and must say nothing either.
    call("get_report", { report: "standup" }),
    call("query_audit", {}),
    call("list_breakers", {}),
    call("list_webhooks", {}),
    call("list_deliveries", {}),
    claim({ claims: [{ selector: {} }] }),
    query({}),
    query({ operation: "overview", includeChildren: true }),
    query({ query: "word" }),
    call("query_notes", { operation: "search", query: "word" }),
    call("get_next_item", { includeClaimed: true }),
    call("get_blocked_items", {}),
    call("get_context", { mode: "session-resume", since: "2020-01-01" }),
    call("get_context", { mode: "health-check" }),
    call("get_context", { mode: "agent", agent: "stranger" }),
    call("list_items", {}),
    call("list_items", { rootsOnly: true }),
    call("list_transitions", {}),
    call("list_claims", {}),
    call("list_agents", {}),
    call("list_leases", {}),
    call("list_lease_history", {}),
    call("list_dead", {}),
    call("list_trash", { restored: true }),
    call("list_tokens", {}),
  ];
}
