/** Every element that one requestId was used for. */
import { type Handle, statement } from "../statement.ts";

const strangers = statement<{ operation: string }>(
  "idempotency_strangers",
  `select operation from idempotency
   where principal = $1 and key = $2 and (operation <> $3 or fingerprint <> $4)
   limit 1`,
);

/** The operation of another call that used this requestId, if there was one. */
export async function findOtherUse(
  handle: Handle,
  call: {
    readonly principal: string;
    readonly requestId: string;
    readonly operation: string;
    readonly fingerprint: string;
  },
): Promise<string | null> {
  const [row] = await strangers(handle, [call.principal, call.requestId, call.operation, call.fingerprint]);
  return row?.operation ?? null;
}

const elements = statement<{ element: string }>(
  "request_elements",
  `select element from idempotency where principal = $1 and key = $2`,
);

/** What a call with this key has done already. */
export async function findElements(
  handle: Handle,
  { principal, requestId }: { readonly principal: string; readonly requestId: string },
): Promise<ReadonlySet<string>> {
  return new Set((await elements(handle, [principal, requestId])).map((row) => row.element));
}
