/**
 * Access tokens of an OAuth authorization server: what they have to say for a door to open, and
 * what they open. What cannot be understood opens nothing: a scope that is read wrongly as none
 * would show everything.
 */
import { isFullId } from "../../contract/fields.ts";
import { CAPABILITIES } from "../../contract/operation.ts";
import { type Access, scopeOf } from "../access.ts";

/**
 * Scopes `muster:<capability>` say what it may do; `muster_roots` what it sees, `muster_agent` whom
 * it speaks for. Those of task-orchestrator, `to_capabilities` and `to_scope.root_ids`, are read too.
 * Null: its claims are not what they should be.
 */
export function accessOfClaims(claims: Readonly<Record<string, unknown>>): Access | null {
  const scopes = scopesOf(claims["scope"] ?? claims["scp"]);
  const theirs = listOrNone(claims["to_capabilities"]);
  const capabilities = CAPABILITIES.filter((one) => scopes.includes(scopeOf(one)) || theirs.includes(one));
  const scope = rootsOf(claims);
  const agent = claims["muster_agent"] ?? null;
  if (scope === "malformed" || !isAgent(agent)) return null;
  return { capabilities: new Set(capabilities), scope, agent };
}

/** Text with blanks between as OAuth has it, or a list as some servers send. */
function scopesOf(value: unknown): readonly string[] {
  return typeof value === "string" ? value.split(" ") : listOrNone(value);
}

function listOrNone(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}

function rootsOf(claims: Readonly<Record<string, unknown>>): readonly string[] | null | "malformed" {
  const own = claims["muster_roots"];
  const theirs = claims["to_scope"];
  if (own !== undefined && theirs !== undefined) return "malformed";
  if (own !== undefined) return idsOf(own);
  if (theirs === undefined) return null;
  if (typeof theirs !== "object" || theirs === null) return "malformed";
  const { root_ids: roots, ...rest } = theirs as Record<string, unknown>;
  // A limit that is not kept here, such as by tags, must not be taken for none.
  return Object.keys(rest).length > 0 ? "malformed" : idsOf(roots);
}

function idsOf(value: unknown): readonly string[] | "malformed" {
  if (!Array.isArray(value)) return "malformed";
  const ids = value.map((one: unknown) => (typeof one === "string" ? one.toLowerCase() : ""));
  return ids.every(isFullId) ? ids : "malformed";
}

function isAgent(value: unknown): value is string | null {
  return value === null || (typeof value === "string" && value.trim() !== "" && value.length <= 500);
}
