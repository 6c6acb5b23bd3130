/**
 * Every limit of the wire, in one place. Schemas, the engine, the SDK and the
 * documentation read them from here, so that a message never names a number
 * that is not the one enforced. Units come last in each name.
 */

export const TITLE_LENGTH_MAX = 500;
export const SUMMARY_LENGTH_MAX = 2_000;
export const DESCRIPTION_LENGTH_MAX = 65_536;
export const METADATA_LENGTH_MAX = 16_384;
export const PROPERTIES_SIZE_MAX_BYTES = 16_384;
export const STATUS_LABEL_LENGTH_MAX = 100;
export const TYPE_LENGTH_MAX = 100;
export const NOTE_BODY_SIZE_MAX_BYTES = 65_536;
export const NOTE_KEY_LENGTH_MAX = 200;
/** Edits by anchor of one text in one call. */
export const EDITS_PER_TEXT_MAX = 50;
/** How many earlier versions of a text stay. */
export const TEXT_VERSIONS_KEPT = 100;
/** A difference that is longer is cut, and says so. */
export const DIFF_LENGTH_MAX = 16_000;
export const CONFIG_SIZE_MAX_BYTES = 131_072;
export const RESOURCE_KEY_LENGTH_MAX = 128;
/** Labels of what a transition has used. */
export const CREDENTIALS_PER_TRANSITION_MAX = 8;
export const LEASE_HISTORY_LIMIT_MAX = 500;
export const LEASE_HISTORY_LIMIT_DEFAULT = 100;
export const PLAN_DOCUMENT_SIZE_MAX_BYTES = 65_536;
/** Rules are read by every agent that they concern. */
export const RULE_SIZE_MAX_BYTES = 16_384;
export const DOCUMENT_SLUG_LENGTH_MAX = 200;
export const RULE_KEY_LENGTH_MAX = 100;
export const REASON_LENGTH_MAX = 4_000;
export const REQUEST_BODY_SIZE_MAX_BYTES = 4_194_304;

export const REMINDER_NOTE_LENGTH_MAX = 1_000;
/** A year. */
export const SNOOZE_MAX_SECONDS = 31_536_000;

export const SCHEDULE_NAME_LENGTH_MAX = 200;
export const CRON_LENGTH_MAX = 200;
export const INTERVAL_MIN_SECONDS = 10;
/** A year. */
export const INTERVAL_MAX_SECONDS = 31_536_000;
/** Missed instants that a schedule makes up for. */
export const CATCH_UP_MAX = 100;

export const BATCH_SIZE_MAX = 100;
export const TREE_DEPTH_MAX = 64;
/** Items of one call that makes a tree, and what hangs on them. */
export const TREE_ITEMS_MAX = 1_000;
export const TREE_DEPENDENCIES_MAX = 5_000;
export const TREE_NOTES_MAX = 5_000;
export const TREE_ANCHORS_PER_ITEM_MAX = 50;
export const TREE_REF_LENGTH_MAX = 64;
export const TAGS_PER_ITEM_MAX = 32;
export const TAG_LENGTH_MAX = 100;
export const CAPABILITIES_MAX = 32;
export const DEPENDENCIES_PER_ITEM_MAX = 500;

/** How much of a graph of dependencies one answer goes through. */
export const GRAPH_ITEMS_MAX = 1_000;
export const GRAPH_DEPTH_MAX = 1_000;

/** A brief, as sent. The smallest still has the item, and names everything else. */
export const BRIEF_SIZE_MIN_BYTES = 2_000;
export const BRIEF_SIZE_DEFAULT_BYTES = 24_000;
export const BRIEF_SIZE_MAX_BYTES = 60_000;
/** Transitions that a session resumes with. */
export const TRANSITIONS_LIMIT_MAX = 200;
export const TRANSITIONS_LIMIT_DEFAULT = 10;
export const CURSOR_LENGTH_MAX = 8_000;

export const LIST_LIMIT_MAX = 100;
/** Items in full on a page of REST. */
export const ITEM_PAGE_MAX = 200;
export const LIST_LIMIT_DEFAULT = 50;
/** Entries of each section of a report, and how far back it goes. */
export const REPORT_LIMIT_DEFAULT = 20;
export const REPORT_DAYS_MAX = 90;
export const SEARCH_LIMIT_DEFAULT = 20;
export const QUERY_LENGTH_MAX = 500;
export const QUERY_TOKENS_MAX = 16;
export const NEXT_LIMIT_MAX = 20;
export const NEXT_LIMIT_DEFAULT = 1;

export const COMPLEXITY_MIN = 1;
export const COMPLEXITY_MAX = 10;

/** Tokens end; how long they last unless their maker says otherwise, and at most. */
export const TOKEN_LIFE_DEFAULT_DAYS = 90;
export const TOKEN_LIFE_MAX_DAYS = 366;
export const TOKEN_NAME_LENGTH_MAX = 120;
export const TOKEN_ROOTS_MAX = 100;

export const ACTOR_ID_LENGTH_MAX = 500;
export const ACTOR_PROOF_LENGTH_MAX = 10_000;
export const WORKER_ID_LENGTH_MAX = 200;
export const CLAIM_REF_LENGTH_MAX = 64;

export const ID_PREFIX_LENGTH_MIN = 4;
export const ID_PREFIX_LENGTH_MAX = 35;
/** How many candidates an ambiguous prefix lists. */
export const ID_MATCHES_MAX = 10;

/** More than one claim in a call would mean more than one heartbeat per agent and cycle. */
export const CLAIMS_PER_CALL_MAX = 1;
export const DELAY_MAX_SECONDS = 86_400;
export const WAIT_MAX_SECONDS = 50;
export const TTL_MIN_SECONDS = 1;
export const TTL_MAX_SECONDS = 86_400;
export const TTL_DEFAULT_SECONDS = 900;

/** Notes that one transition may bring along. */
export const NOTES_PER_TRANSITION_MAX = 20;
