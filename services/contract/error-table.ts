/**
 * The one table of errors. MCP results, REST problems, exit codes of the CLI and
 * the reference docs are made from it; an error that is not here does not exist.
 *
 * Every error names its cause (the message) and the next step (the hint). Neither
 * ever names another agent: who holds an item is told by reads, not by refusals.
 */
import { EXIT, entry, type ErrorEntry } from "./error-kinds.ts";
import { REST_ERRORS } from "./rest-errors.ts";
import { SERVER_ERRORS } from "./server-errors.ts";
import { WAKE_UP_ERRORS } from "./wake-up-errors.ts";

export const ERRORS = Object.freeze({
  // Input
  VALIDATION_ERROR: entry(
    "permanent",
    400,
    EXIT.usage,
    "Correct the fields named in the message and call again.",
  ),
  validation_failed: entry(
    "permanent",
    400,
    EXIT.usage,
    "Correct the element that the message names, and send it again.",
  ),
  multi_claim_not_supported: entry(
    "permanent",
    400,
    EXIT.usage,
    "Send one entry in claims; a second item needs a second call with its own workerId.",
  ),
  invalid_trigger: entry(
    "permanent",
    400,
    EXIT.usage,
    "Use start, complete, block, hold, resume, cancel, reopen, requeue, rework or fail.",
  ),
  invalid_actor: entry(
    "permanent",
    400,
    EXIT.usage,
    "Send actor {id, kind} with the id you claim under, the same in every element.",
  ),
  ambiguous_id: entry(
    "permanent",
    400,
    EXIT.usage,
    "Use the full id, or more characters of it; the matches are listed.",
  ),
  payload_too_large: entry(
    "permanent",
    413,
    EXIT.usage,
    "Send less in one call: split the batch or shorten the text.",
  ),
  limit_exceeded: entry("permanent", 422, EXIT.usage, "Stay below the limit named in the message."),
  NOTE_BODY_TOO_LONG: entry(
    "permanent",
    422,
    EXIT.usage,
    "Shorten the note to the length its schema allows.",
  ),
  NOTE_BODY_TOO_LARGE: entry(
    "permanent",
    413,
    EXIT.usage,
    "Keep a note within 64 KiB; put the rest into a file and refer to it.",
  ),

  // Absent
  RESOURCE_NOT_FOUND: entry(
    "permanent",
    404,
    EXIT.notFound,
    "Check the id with query_items; it may be deleted or not visible to you.",
  ),
  item_not_found: entry(
    "permanent",
    404,
    EXIT.notFound,
    "Check the id with query_items; it may be deleted or not visible to you.",
  ),
  not_found: entry(
    "permanent",
    404,
    EXIT.notFound,
    "Check the id with query_items; it may be deleted or not visible to you.",
  ),
  session_unknown: entry(
    "permanent",
    404,
    EXIT.notFound,
    "Initialize again, and pass your workerId to keep your claim.",
  ),
  idempotency_target_gone: entry(
    "permanent",
    410,
    EXIT.notFound,
    "What this requestId made was deleted since; use a new requestId to make it again.",
  ),

  // Claiming
  already_claimed: entry(
    "transient",
    409,
    EXIT.refused,
    "Claim another item, or try again after retryAfterMs. If it is your own claim from another connection, pass its workerId, or its fence.",
  ),
  queue_empty: entry(
    "permanent",
    404,
    EXIT.notFound,
    "Nothing matches. Widen the selector, or wait for new items with waitSeconds.",
  ),
  none_eligible: entry(
    "transient",
    409,
    EXIT.refused,
    "Items match but none is free now. Try again after retryAfterMs, or pass waitSeconds.",
  ),
  no_match: entry("permanent", 404, EXIT.notFound, "Nothing matches. Widen the selector."),
  terminal_item: entry(
    "permanent",
    409,
    EXIT.refused,
    "The item is closed. Reopen it with advance_item, or claim another.",
  ),
  item_dead: entry(
    "permanent",
    409,
    EXIT.refused,
    "Its attempts are used up; only an operator can put it back. Claim another item.",
  ),
  claim_lost: entry(
    "permanent",
    409,
    EXIT.refused,
    "Your claim has ended. Stop working on the item; claim it again if you still want it.",
  ),
  tenure_over: entry(
    "permanent",
    409,
    EXIT.refused,
    "The claim reached its longest tenure. Claim the item again to go on.",
  ),
  not_claim_holder: entry(
    "permanent",
    409,
    EXIT.refused,
    "Claim the item first; if you hold it, pass the actor.id and workerId (or fence) of your claim.",
  ),
  not_claimed_by_you: entry("permanent", 409, EXIT.refused, "Nothing to release: you do not hold this item."),
  agent_drained: entry("transient", 409, EXIT.refused, "Finish what you hold and take nothing new."),
  item_held: entry(
    "transient",
    409,
    EXIT.refused,
    "Somebody is working on it. Wait until the claim ends, or ask an operator to take it back.",
  ),
  resource_unavailable: entry(
    "transient",
    409,
    EXIT.refused,
    "A resource it needs is taken. Try again after retryAfterMs, or work on another item.",
  ),

  // Moving and changing
  gate_blocked: entry(
    "permanent",
    409,
    EXIT.refused,
    "Write the missing notes, then send the transition again.",
  ),
  dependency_blocked: entry(
    "permanent",
    409,
    EXIT.refused,
    "Finish the blockers listed first, or work on another item.",
  ),
  invalid_transition: entry(
    "permanent",
    409,
    EXIT.refused,
    "Ask get_next_status which triggers the item takes now.",
  ),
  apply_failed: entry("transient", 500, EXIT.failed, "Nothing was changed; send the transition again."),
  version_conflict: entry(
    "permanent",
    409,
    EXIT.refused,
    "Read the item again, redo the change on the new version and pass that version.",
  ),
  patch_anchor_missing: entry(
    "permanent",
    409,
    EXIT.refused,
    "Read the text again and copy the anchor from it exactly; nothing was changed.",
  ),
  patch_anchor_ambiguous: entry(
    "permanent",
    409,
    EXIT.refused,
    "Make the anchor longer until it occurs once, or pass the line that you mean; nothing was changed.",
  ),
  undo_conflict: entry(
    "permanent",
    409,
    EXIT.refused,
    "Read the text and its history, and write what it should say.",
  ),
  CONFLICT_ERROR: entry("permanent", 409, EXIT.refused, "Read the current state and decide again."),
  cycle_detected: entry(
    "permanent",
    409,
    EXIT.refused,
    "Remove one edge of the path named in the message, or leave the new one out.",
  ),
  has_children: entry("permanent", 409, EXIT.refused, "Pass recursive: true to delete its descendants too."),
  open_children: entry(
    "permanent",
    409,
    EXIT.refused,
    "Finish or cancel its open children first; the parent then closes by itself.",
  ),
  parent_closed: entry("permanent", 409, EXIT.refused, "Reopen the parent first, or choose another parent."),
  unauthenticated: entry(
    "permanent",
    401,
    EXIT.refused,
    "Send Authorization: Bearer with a token that is valid here; `muster token create` makes one.",
  ),
  insufficient_scope: entry(
    "permanent",
    403,
    EXIT.refused,
    "Use a credential that was granted the scopes named in the message.",
  ),
  insufficient_capability: entry(
    "permanent",
    403,
    EXIT.refused,
    "Only an operator may do this; ask one, or leave the option out.",
  ),
  rate_limited: entry(
    "shedding",
    429,
    EXIT.unavailable,
    "Wait as long as retryAfterMs says before any call.",
  ),
  rejected_by_policy: entry("permanent", 403, EXIT.refused, "Send an actor this server can verify."),

  ...WAKE_UP_ERRORS,
  ...REST_ERRORS,

  // Repeating
  idempotency_mismatch: entry(
    "permanent",
    422,
    EXIT.refused,
    "This requestId was used for another input. Use a new UUID for a new call.",
  ),
  idempotency_in_flight: entry(
    "transient",
    409,
    EXIT.refused,
    "The first call with this requestId is still running. Send the same call again shortly.",
  ),

  ...SERVER_ERRORS,
} as const satisfies Record<string, ErrorEntry>);

export type ErrorCode = keyof typeof ERRORS;
