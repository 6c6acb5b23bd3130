/**
 * Judges what callers come with: tokens of ours, and access tokens of an authorization server.
 *
 * What is known of a token is kept for five seconds, which is how long one that was revoked may
 * still open a door when nothing tells this process. Usually something does: whoever revokes or
 * rotates one wakes the topic, and everything that is kept is forgotten. The ticket is taken
 * before the question is asked, so that an answer which was already old is not kept.
 *
 * A database that cannot be asked says nothing about a token: that is `unavailable`, and never a
 * refusal, after which a client would throw its credential away.
 */
import { createHash } from "node:crypto";
import { findToken, touchToken, type TokenRow } from "../../../db/stores/token-store.ts";
import { fault } from "../../contract/errors.ts";
import type { WakeTicket } from "../../coordination/port.ts";
import type { Access } from "../access.ts";
import { asFault } from "../database-fault.ts";
import type { EngineDeps } from "../deps.ts";
import { accessOfClaims } from "./access-token.ts";
import type { AccessTokenVerifier } from "./access-token-verifier.ts";
import { accessOf } from "./token-answers.ts";
import { CREDENTIALS_CHANGED } from "./token-changes.ts";
import { isSameSecret, readTokenText } from "./token-text.ts";

/** How long a revoked token may last where no wake-up arrives. */
export const KEPT_MS = 5_000;
const ACCESS_TOKEN_KEPT_MS = 30_000;
const KEPT_MAX = 10_000;
const USED_AGAIN_AFTER_MS = 60_000;

export interface Admitted {
  readonly status: "admitted";
  readonly kind: "token" | "jwt";
  readonly access: Access;
  /** Names the credential in records and keys; never its secret. */
  readonly credential: string;
  /** On the database's clock. */
  readonly expiresAtMs: number;
}

export interface NotAdmitted {
  readonly status: "refused";
  /** A constant phrase: safe to show to any caller. */
  readonly reason: string;
}

export interface Credentials {
  /** @throws MusterError `unavailable` when nobody can say now. */
  check(text: string): Promise<Admitted | NotAdmitted>;
  /** Resolves once the credential opens nothing any more, or the signal is aborted. For what stays open long. */
  untilEnded(text: string, signal: AbortSignal): Promise<void>;
  close(): void;
}

export interface CredentialsOptions {
  /** Null: access tokens are not taken. */
  readonly accessTokens: AccessTokenVerifier | null;
}

type CredentialDeps = Pick<EngineDeps, "db" | "coordination" | "time" | "log">;

export function createCredentials(deps: CredentialDeps, { accessTokens }: CredentialsOptions): Credentials {
  const tokens = createTokenMemory(deps);
  const checkAccessToken = accessTokens === null ? null : createAccessTokenCheck(deps, accessTokens);

  async function check(text: string): Promise<Admitted | NotAdmitted> {
    const token = readTokenText(text);
    try {
      if (token === null) return checkAccessToken === null ? refused(UNKNOWN) : await checkAccessToken(text);
      const row = await tokens.read(token.id);
      // The same words for a wrong secret and for no such token: which ids exist is nobody's business.
      if (row === null || !isSameSecret(row.secret_sha256, token.secretSha256)) return refused(UNKNOWN);
      if (row.revoked_at !== null) return refused("it was revoked");
      const expiresAtMs = row.expires_at.getTime();
      if (expiresAtMs <= (await deps.time.now())) return refused("it has expired");
      return {
        status: "admitted",
        kind: "token",
        access: accessOf(row),
        credential: `token:${row.id}`,
        expiresAtMs,
      };
    } catch (error) {
      const shown = asFault(error);
      if (shown.kind === "transient" && shown.code !== "INTERNAL_ERROR") throw shown;
      deps.log.error({ err: error }, "a credential could not be checked");
      throw cannotSay("the credential cannot be checked now");
    }
  }

  return {
    check,
    async untilEnded(text, signal) {
      const ticket = deps.coordination.wakeUps.ticket([CREDENTIALS_CHANGED]);
      try {
        while (!signal.aborted) {
          const finding = await check(text).catch(() => null);
          if (finding?.status === "refused") return;
          const leftMs = finding === null ? KEPT_MS : finding.expiresAtMs - (await deps.time.now());
          await ticket.wait(Math.min(KEPT_MS, Math.max(1, leftMs)), signal);
        }
      } finally {
        ticket.close();
      }
    },
    close: () => tokens.close(),
  };
}

/** One that was verified is taken for a moment without asking again: checking a signature costs more than most calls. */
function createAccessTokenCheck(
  { time }: CredentialDeps,
  verifier: AccessTokenVerifier,
): (text: string) => Promise<Admitted | NotAdmitted> {
  const verified = new Map<string, { readonly finding: Admitted; readonly atMs: number }>();

  return async (text) => {
    const key = createHash("sha256").update(text).digest("base64");
    const nowMs = await time.now();
    const kept = verified.get(key);
    if (kept && performance.now() - kept.atMs < ACCESS_TOKEN_KEPT_MS && kept.finding.expiresAtMs > nowMs)
      return kept.finding;
    const finding = await verifier.verify(text, nowMs);
    if (finding.status === "unavailable") throw cannotSay(finding.reason);
    if (finding.status === "rejected") return refused(finding.reason);
    const access = accessOfClaims(finding.claims);
    if (access === null) return refused("its claims about what it may see are not understood");
    const { subject, expiresAtMs } = finding;
    const admitted: Admitted = {
      status: "admitted",
      kind: "jwt",
      access,
      credential: `jwt:${subject}`,
      expiresAtMs,
    };
    if (verified.size >= KEPT_MAX) verified.clear();
    verified.set(key, { finding: admitted, atMs: performance.now() });
    return admitted;
  };
}

interface TokenMemory {
  read(id: string): Promise<TokenRow | null>;
  close(): void;
}

function createTokenMemory({ db, coordination, log }: CredentialDeps): TokenMemory {
  const kept = new Map<string, { readonly row: TokenRow; readonly atMs: number }>();
  const asking = new Map<string, Promise<TokenRow | null>>();
  const take = (): WakeTicket => coordination.wakeUps.ticket([CREDENTIALS_CHANGED]);
  let ticket = take();

  /** Forgets everything if something changed since it was last asked. */
  function refresh(): void {
    if (!ticket.stale()) return;
    ticket.close();
    ticket = take();
    kept.clear();
    // Who asked before the change must not answer for those who ask after it.
    asking.clear();
  }

  async function ask(id: string): Promise<TokenRow | null> {
    const asked = ticket;
    const row = await findToken(db, id);
    refresh();
    if (row !== null && asked === ticket) {
      if (kept.size >= KEPT_MAX) kept.clear();
      kept.set(id, { row, atMs: performance.now() });
    }
    if (row !== null && isDueForUse(row))
      touchToken(db, id).catch((error: unknown) => log.warn({ err: error }, "use of a token not noted"));
    return row;
  }

  return {
    async read(id) {
      refresh();
      const known = kept.get(id);
      if (known !== undefined && performance.now() - known.atMs < KEPT_MS) return known.row;
      let pending = asking.get(id);
      if (pending === undefined) {
        pending = ask(id).finally(() => {
          if (asking.get(id) === pending) asking.delete(id);
        });
        asking.set(id, pending);
      }
      return await pending;
    },
    close: () => ticket.close(),
  };
}

function isDueForUse({ last_used_at: at, now, revoked_at }: TokenRow): boolean {
  if (revoked_at !== null) return false;
  return at === null || now.getTime() - at.getTime() >= USED_AGAIN_AFTER_MS;
}

const UNKNOWN = "it is not known here";

function refused(reason: string): NotAdmitted {
  return { status: "refused", reason };
}

function cannotSay(reason: string) {
  return fault("unavailable", reason, { retryAfterMs: 1_000 });
}
