/**
 * `create_token`, `list_tokens`, `rotate_token`, `revoke_token`.
 *
 * A caller sees the tokens that it could have made: the others answer like those that do not
 * exist. Nothing here is stored under a requestId, since an answer holds a secret.
 */
import {
  findToken,
  findTrails,
  insertToken,
  listTokens as readTokens,
  revokeToken as endToken,
  rotateToken as replaceSecret,
  type TokenRow,
} from "../../../db/stores/token-store.ts";
import { inTransaction } from "../../../db/transaction.ts";
import type { Handle } from "../../../db/statement.ts";
import { fault, type MusterError } from "../../contract/errors.ts";
import type { CreateTokenInput } from "../../contract/operations/create-token.ts";
import type { ListTokensInput, ListTokensOutput } from "../../contract/operations/list-tokens.ts";
import type { RevokeTokenInput, RevokeTokenOutput } from "../../contract/operations/revoke-token.ts";
import type { RotateTokenInput } from "../../contract/operations/rotate-token.ts";
import type { MintedToken } from "../../contract/tokens.ts";
import { type Access, type Looker, scopeOf } from "../access.ts";
import type { EngineDeps } from "../deps.ts";
import type { Caller } from "../engine.ts";
import { requireItem } from "../resolve-items.ts";
import { type Grant, type GrantRefusal, isWithin, judgeGrant } from "./granting.ts";
import { accessOf, shownToken } from "./token-answers.ts";
import { CREDENTIALS_CHANGED } from "./token-changes.ts";
import { mintSecret, mintTokenId } from "./token-text.ts";

const DAY_SECONDS = 86_400;

type TokenDeps = Pick<EngineDeps, "db" | "coordination">;

export async function createToken(
  deps: TokenDeps,
  input: CreateTokenInput,
  caller: Caller,
): Promise<MintedToken> {
  const { db } = deps;
  const rootIds = input.rootIds === undefined ? null : await resolveAll(db, input.rootIds, caller);
  const pinned = input.pinnedRootId === undefined ? null : await requireItem(db, input.pinnedRootId, caller);
  // A maker that is bound to one agent makes tokens of that agent.
  const agent = input.agentId ?? caller.access.agent;
  const scope = pinned === null ? (rootIds ?? caller.access.scope) : [pinned];
  const trails = await trailsOf(db, scope);
  const missing = scope?.find((id) => !trails.has(id));
  if (missing !== undefined) throw noSuchItem(missing);
  refuse(judgeGrant(caller.access, { capabilities: input.capabilities, scope, agent }, trails));
  for (;;) {
    const id = mintTokenId();
    const { text, secretSha256 } = mintSecret(id);
    const row = await insertToken(db, {
      id,
      secretSha256,
      name: input.name,
      capabilities: input.capabilities,
      rootIds: pinned === null ? scope : rootIds,
      pinnedRoot: pinned,
      agent,
      createdBy: makerOf(input.actor, caller),
      lifeSeconds: input.expiresInDays * DAY_SECONDS,
    });
    if (row !== null) return { ...shownToken(row), token: text };
  }
}

export async function listTokens(
  deps: TokenDeps,
  { ended, limit, offset }: ListTokensInput,
  { access }: Caller,
): Promise<ListTokensOutput> {
  const visible = await visibleOf(deps.db, await readTokens(deps.db, ended), access);
  return {
    tokens: visible.slice(offset, offset + limit).map(shownToken),
    total: visible.length,
    hasMore: offset + limit < visible.length,
    limit,
    offset,
  };
}

export async function rotateToken(
  deps: TokenDeps,
  { tokenId, expiresInDays }: RotateTokenInput,
  { access }: Caller,
): Promise<MintedToken> {
  const { text, secretSha256 } = mintSecret(tokenId);
  const row = await inTransaction(deps.db, async (tx) => {
    const found = await requireToken(tx, tokenId, access);
    // Its new secret is in the answer: whoever gets it must not get more than they have.
    refuse(judgeGrant(access, grantOf(found), await trailsOf(tx, accessOf(found).scope)));
    const rotated = await replaceSecret(tx, tokenId, secretSha256, expiresInDays * DAY_SECONDS);
    if (rotated === null)
      throw fault("CONFLICT_ERROR", `token ${tokenId} was revoked`, { hint: "Make a new one." });
    return rotated;
  });
  deps.coordination.wakeUps.publish([CREDENTIALS_CHANGED]);
  return { ...shownToken(row), token: text };
}

export async function revokeToken(
  deps: TokenDeps,
  { tokenId, reason, actor }: RevokeTokenInput,
  caller: Caller,
): Promise<RevokeTokenOutput> {
  const { row, changed } = await inTransaction(deps.db, async (tx) => {
    const found = await requireToken(tx, tokenId, caller.access);
    const revoked = await endToken(tx, tokenId, makerOf(actor, caller), reason ?? null);
    return { row: revoked ?? found, changed: revoked !== null };
  });
  deps.coordination.wakeUps.publish([CREDENTIALS_CHANGED]);
  return { ...shownToken(row), changed };
}

async function requireToken(handle: Handle, id: string, access: Access): Promise<TokenRow> {
  const row = await findToken(handle, id);
  const [visible] = row === null ? [] : await visibleOf(handle, [row], access);
  if (visible !== undefined) return visible;
  throw fault("not_found", `there is no token ${id}`, { hint: "List the tokens to see which there are." });
}

async function visibleOf(handle: Handle, rows: readonly TokenRow[], access: Access): Promise<TokenRow[]> {
  const { scope, agent } = access;
  if (scope === null && agent === null) return [...rows];
  const trails = await trailsOf(
    handle,
    rows.flatMap((row) => accessOf(row).scope ?? []),
  );
  return rows.filter(
    (row) => isWithin(scope, accessOf(row).scope, trails) && (agent === null || row.agent === agent),
  );
}

async function trailsOf(
  handle: Handle,
  scope: readonly string[] | null,
): Promise<ReadonlyMap<string, readonly string[]>> {
  return await findTrails(handle, [...new Set(scope ?? [])]);
}

async function resolveAll(handle: Handle, refs: readonly string[], caller: Looker): Promise<string[]> {
  const ids: string[] = [];
  for (const ref of refs) ids.push(await requireItem(handle, ref, caller));
  return [...new Set(ids)];
}

function grantOf(row: TokenRow): Grant {
  const { capabilities, scope, agent } = accessOf(row);
  return { capabilities: [...capabilities], scope, agent };
}

function refuse(refusal: GrantRefusal | null): void {
  if (refusal === null) return;
  switch (refusal.kind) {
    case "capability": {
      const required = scopeOf(refusal.capability);
      throw fault("insufficient_scope", `a token with ${required} can only be had by who has it`, {
        details: { required: [required] },
      });
    }
    case "scope":
      throw noSuchItem(refusal.itemId);
    case "agent":
      throw fault(
        "insufficient_capability",
        "this credential speaks for one agent, and so do those it makes",
        {
          hint: "Leave agentId out.",
        },
      );
  }
}

/** The same for what is outside of the caller's scope and for what is not there. */
function noSuchItem(id: string | null): MusterError {
  return fault("RESOURCE_NOT_FOUND", `there is no item ${id ?? "like that"}`);
}

function makerOf(actor: { readonly id: string } | undefined, { credential }: Caller): string | null {
  return actor?.id ?? credential;
}
