/** The pieces that the operations on tokens share. */
import { z } from "zod";
import { answer, at, id } from "./answers.ts";
import { CAPABILITIES } from "./operation.ts";
import { TOKEN_LIFE_DEFAULT_DAYS, TOKEN_LIFE_MAX_DAYS } from "./limits.ts";

export const TOKEN_STATES = ["active", "expired", "revoked"] as const;

const TOKEN_ID = /^(muster_)?[a-z0-9]{8}$/;

/** By its 8 characters, with or without the `muster_` that lists show before them. */
export const tokenId = z
  .string()
  .regex(
    TOKEN_ID,
    "is not the id of a token: 8 characters of a-z and 0-9, as lists show it. Never the secret",
  )
  .transform((text) => text.replace("muster_", ""));

export const lifeDays = z.int().min(1).max(TOKEN_LIFE_MAX_DAYS).default(TOKEN_LIFE_DEFAULT_DAYS);

/** A token as lists show it: everything but its secret. */
export const tokenShape = {
  tokenId: z.string(),
  /** How it begins. */
  prefix: z.string(),
  name: z.string(),
  capabilities: z.array(z.enum(CAPABILITIES)),
  /** It sees these items and what is below them; null: everything. */
  rootIds: z.array(id).nullable(),
  pinnedRootId: id.nullable(),
  agentId: z.string().nullable(),
  state: z.enum(TOKEN_STATES),
  createdAt: at,
  createdBy: z.string().nullable(),
  expiresAt: at,
  /** To the minute. */
  lastUsedAt: at.nullable(),
  rotatedAt: at.nullable(),
  revokedAt: at.nullable(),
  revokeReason: z.string().nullable(),
};

export const listedToken = answer(tokenShape);
export type ListedToken = z.output<typeof listedToken>;

/** A token with its secret: the only time that it is shown. */
export const mintedToken = answer({ ...tokenShape, token: z.string() });
export type MintedToken = z.output<typeof mintedToken>;

export function renderToken(one: ListedToken): string {
  const sees = one.rootIds === null ? "everything" : `${one.rootIds.length} subtrees`;
  return `${one.prefix} ${one.name}: ${one.state}, ${one.capabilities.join(",")}, sees ${sees}, until ${one.expiresAt}`;
}
