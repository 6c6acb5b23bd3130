import type { Holder } from "../../core/state.ts";
import type { WriteCall } from "../writing/write-call.ts";

/** Who the caller would be as a holder, or null if it could not be one. */
export function holderOf({ agent, session }: WriteCall): Holder | null {
  return agent === null || session === null ? null : { agent, session };
}
