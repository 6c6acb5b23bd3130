/**
 * The version of what models see: names, descriptions, schemas and annotations of the
 * tools. Any change of it needs a new version here and a line that says what changed,
 * since agents' instructions are written against it.
 *
 * Patch: wording. Minor: a new tool or optional field. Major: anything a client that
 * worked before could trip over.
 */
export interface SurfaceChange {
  readonly version: string;
  /** ISO date. */
  readonly date: string;
  readonly changes: readonly string[];
}

/** Newest first. */
export const TOOL_SURFACE_CHANGELOG: readonly SurfaceChange[] = [
  {
    version: "1.6.0",
    date: "2026-12-01",
    changes: [
      "get_report: stale, overdue, standup, changelog, activity, throughput.",
      "claim_item, get_next_item: paused and pausedRoots in excluded, when the environment of a root is broken.",
    ],
  },
  {
    version: "1.5.0",
    date: "2026-12-01",
    changes: ["manage_plan_documents: get of a long text in parts, with offset and nextOffset."],
  },
  {
    version: "1.4.0",
    date: "2026-12-01",
    changes: [
      "manage_reminders: arm, list, rearm, snooze, disarm and acknowledge reminders.",
      "get_next_item: reminders that have fired come first, with reminderId. get_context and claim_item: reminders in the brief.",
    ],
  },
  {
    version: "1.3.0",
    date: "2026-12-01",
    changes: ["manage_items: dueAt. query_items: dueBefore, and dueAt in its answers."],
  },
  {
    version: "1.2.0",
    date: "2026-12-01",
    changes: [
      "claim_item: refused agent_drained, and drain in a refresh, for an agent that is to take nothing new.",
    ],
  },
  {
    version: "1.1.0",
    date: "2026-12-01",
    changes: [
      "The worker toolset is claim_item, advance_item, manage_notes and get_context; what it leaves out is called all the same.",
      "advance_item: notes in a transition, written before its gate is judged; missingNotes, noteProgress, guidanceKey, dispatch and violations in its answer.",
      "manage_project_config: the text that a project configures itself with.",
      "query_items: operation schema, with rootId.",
      "query_items: search with query, matchMode, kinds; overview with itemId or anchorId, includeChildren, excludeTerminal.",
      "manage_notes: write, edit by anchor, undo and delete notes. query_notes: read, search, history and diff of them.",
      "manage_items: update takes edits, undo and mergeProperties. query_items: operations history and diff.",
      "get_context: an item's gate, its brief, an agent's own and dispatched work, what happened, what is stuck. claim_item and claimNext: include brief.",
      "query_dependencies: the edges of an item, the graph around it, and what points at it.",
      "create_work_tree: a tree of items with dependencies and notes, all or nothing.",
      "complete_tree: complete or cancel a subtree or a list of items, in order.",
      "manage_plan_documents: plans and rules of a project. query_rules: a rule by its key, or by the note that names it.",
      "advance_item: credentialRefs in a transition, and what it says of resources.",
    ],
  },
  {
    version: "1.0.0",
    date: "2026-11-30",
    changes: [
      "First version: claim_item, advance_item, get_next_item, get_next_status, query_items, explain_item, get_blocked_items, manage_items, manage_dependencies.",
    ],
  },
];

export const TOOL_SURFACE_VERSION = "1.6.0";
