/**
 * Who acts, as the decisions see it: the actor with the session that the caller named, or
 * else the transport's. A credential alone is never a session, since many processes share one.
 *
 * By the time a use case sees an actor, its proof has been judged and taken off it, and its
 * `id` is the verified identity where there is one (`actors/admit-actors.ts`).
 */
import { randomUUID } from "node:crypto";
import type { Author } from "../core/world.ts";
import type { Verification } from "./actors/verification.ts";
import type { Caller } from "./engine.ts";

export interface StatedActor {
  readonly id: string;
  readonly kind: string;
  readonly parent?: string | undefined;
  readonly proof?: string | undefined;
  /** The name it gave itself, where its proof names somebody else. */
  readonly statedId?: string | undefined;
  /** Absent where nothing verifies. */
  readonly verification?: Verification | undefined;
}

export interface Identified {
  readonly agent: string | null;
  readonly session: string | null;
  readonly parentAgent: string | null;
  readonly author: Author;
}

export function identify(
  actor: StatedActor | undefined,
  workerId: string | undefined,
  caller: Caller,
): Identified {
  const agent = actor?.id ?? null;
  const session = agent === null ? null : (workerId ?? caller.session);
  return {
    agent,
    session,
    parentAgent: actor?.parent ?? null,
    author: {
      agent,
      session,
      actor: publicActor(actor, caller),
      verification: actor?.verification === undefined ? null : { ...actor.verification },
    },
  };
}

/** What the audit keeps of an actor, and beside it what the client calls itself, which nobody vouches for. */
function publicActor(actor: StatedActor | undefined, { client }: Caller): Record<string, unknown> | null {
  if (actor === undefined) return client === null ? null : { client };
  return {
    id: actor.id,
    kind: actor.kind,
    ...(actor.parent === undefined ? {} : { parent: actor.parent }),
    ...(actor.statedId === undefined ? {} : { statedId: actor.statedId }),
    ...(client === null ? {} : { client }),
  };
}

/** A session for a worker that came with none; it is returned and has to be passed on. */
export function mintSession(): string {
  return `w-${randomUUID()}`;
}
