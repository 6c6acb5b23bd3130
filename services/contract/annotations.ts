/** What clients are told of a tool's effects. All four hints are always said: a client assumes the worst of what is not. */
import type { Annotations } from "./operation.ts";

/** Of what changes nothing, and can be repeated. */
export function readsOnly(title: string): Annotations {
  return { title, readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };
}

/** Of what changes something, and does not do so again when it is repeated with its key. */
export function writes(title: string, { destructive }: { readonly destructive: boolean }): Annotations {
  return {
    title,
    readOnlyHint: false,
    destructiveHint: destructive,
    idempotentHint: true,
    openWorldHint: false,
  };
}
