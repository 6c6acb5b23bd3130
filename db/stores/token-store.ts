/** Tokens: what may be known of them, and never their secrets. */
import { type Handle, statement } from "../statement.ts";

export interface TokenRow {
  readonly id: string;
  readonly secret_sha256: string;
  readonly name: string;
  readonly capabilities: string[];
  readonly root_ids: string[] | null;
  readonly pinned_root: string | null;
  readonly agent: string | null;
  readonly created_at: Date;
  readonly created_by: string | null;
  readonly expires_at: Date;
  readonly last_used_at: Date | null;
  readonly rotated_at: Date | null;
  readonly revoked_at: Date | null;
  readonly revoke_reason: string | null;
  /** The database's clock, so that all replicas agree about what has expired. */
  readonly now: Date;
}

export interface NewToken {
  readonly id: string;
  readonly secretSha256: string;
  readonly name: string;
  readonly capabilities: readonly string[];
  readonly rootIds: readonly string[] | null;
  readonly pinnedRoot: string | null;
  readonly agent: string | null;
  readonly createdBy: string | null;
  readonly lifeSeconds: number;
}

const COLUMNS = `id, secret_sha256, name, capabilities, root_ids, pinned_root, agent, created_at, created_by,
  expires_at, last_used_at, rotated_at, revoked_at, revoke_reason, muster_now() as now`;

const find = statement<TokenRow>("token_find", `select ${COLUMNS} from api_tokens where id = $1`);

export async function findToken(handle: Handle, id: string): Promise<TokenRow | null> {
  const [row] = await find(handle, [id]);
  return row ?? null;
}

const insert = statement<TokenRow>(
  "token_insert",
  `insert into api_tokens
     (id, secret_sha256, name, capabilities, root_ids, pinned_root, agent, created_by, expires_at)
   values ($1, $2, $3, $4::text[], $5::uuid[], $6, $7, $8, muster_now() + make_interval(secs => $9))
   on conflict (id) do nothing
   returning ${COLUMNS}`,
);

/** Null if the id is taken, which 36^8 of them make next to impossible. */
export async function insertToken(handle: Handle, token: NewToken): Promise<TokenRow | null> {
  const { id, secretSha256, name, capabilities, rootIds, pinnedRoot, agent, createdBy, lifeSeconds } = token;
  const [row] = await insert(handle, [
    id,
    secretSha256,
    name,
    [...capabilities],
    rootIds === null ? null : [...rootIds],
    pinnedRoot,
    agent,
    createdBy,
    lifeSeconds,
  ]);
  return row ?? null;
}

const list = statement<TokenRow>(
  "token_list",
  `select ${COLUMNS} from api_tokens
   where ($1 or (revoked_at is null and expires_at > muster_now()))
   order by created_at desc, id`,
);

/** All of them, the newest first: there are as many as somebody made by hand. */
export async function listTokens(handle: Handle, ended: boolean): Promise<TokenRow[]> {
  return await list(handle, [ended]);
}

const rotate = statement<TokenRow>(
  "token_rotate",
  `update api_tokens
   set secret_sha256 = $2, expires_at = muster_now() + make_interval(secs => $3), rotated_at = muster_now()
   where id = $1 and revoked_at is null
   returning ${COLUMNS}`,
);

/** Null if it is not there or was revoked. */
export async function rotateToken(
  handle: Handle,
  id: string,
  secretSha256: string,
  lifeSeconds: number,
): Promise<TokenRow | null> {
  const [row] = await rotate(handle, [id, secretSha256, lifeSeconds]);
  return row ?? null;
}

const revoke = statement<TokenRow>(
  "token_revoke",
  `update api_tokens
   set revoked_at = muster_now(), revoked_by = $2, revoke_reason = $3
   where id = $1 and revoked_at is null
   returning ${COLUMNS}`,
);

/** Null if it is not there or was revoked before. */
export async function revokeToken(
  handle: Handle,
  id: string,
  by: string | null,
  reason: string | null,
): Promise<TokenRow | null> {
  const [row] = await revoke(handle, [id, by, reason]);
  return row ?? null;
}

const touch = statement<never>(
  "token_touch",
  `update api_tokens set last_used_at = muster_now()
   where id = $1 and (last_used_at is null or last_used_at < muster_now() - interval '1 minute')`,
);

/** Notes that it was used, to the minute: a row per call would cost more than it tells. */
export async function touchToken(handle: Handle, id: string): Promise<void> {
  await touch(handle, [id]);
}

const trails = statement<{ id: string; trail: string[] }>(
  "token_trails",
  `select id, ancestors || id as trail from items where id = any($1::uuid[])`,
);

/** The items that exist among these, each with itself and everything above it. */
export async function findTrails(
  handle: Handle,
  ids: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  if (ids.length === 0) return new Map();
  const rows = await trails(handle, [[...ids]]);
  return new Map(rows.map(({ id, trail }) => [id, trail]));
}
