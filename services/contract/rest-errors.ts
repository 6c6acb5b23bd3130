/** The part of the error table that only REST can answer with: what HTTP itself asks for, and its own names. */
import { EXIT, entry, type ErrorEntry } from "./error-kinds.ts";

export const REST_ERRORS = {
  bad_request: entry("permanent", 400, EXIT.usage, "Send a body that can be read as its media type says."),
  precondition_required: entry(
    "permanent",
    428,
    EXIT.usage,
    "Send If-Match with the ETag that you read, so that nobody's change is lost.",
  ),
  etag_mismatch: entry(
    "permanent",
    412,
    EXIT.refused,
    "It changed since. Read it again, redo the change and send the new ETag as If-Match.",
  ),
  unsupported_media_type: entry(
    "permanent",
    415,
    EXIT.usage,
    "Send the body in one of the media types named in the message.",
  ),
  field_not_patchable: entry(
    "permanent",
    400,
    EXIT.usage,
    "Leave the field out; the message names where it is changed instead.",
  ),
  superseded: entry(
    "permanent",
    409,
    EXIT.refused,
    "Read the current text and change that; force=true goes back to this one.",
  ),
  rootid_mismatch: entry(
    "permanent",
    422,
    EXIT.refused,
    "Push it to the root that it names, or correct project.rootId; force=true pushes it all the same.",
  ),
  parse_error: entry(
    "permanent",
    400,
    EXIT.usage,
    "Correct the places that the message names and push the whole text again; nothing was stored.",
  ),
} as const satisfies Record<string, ErrorEntry>;
