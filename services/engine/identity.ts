/**
 * Who acts, as the decisions see it: the stated actor with the session that the caller
 * named, or else the transport's. A credential alone is never a session, since many
 * processes share one.
 */
import { randomUUID } from "node:crypto";
import type { Author } from "../core/world.ts";
import type { Caller } from "./engine.ts";

export interface StatedActor {
  readonly id: string;
  readonly kind: string;
  readonly parent?: string | undefined;
  readonly proof?: string | undefined;
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
    author: { agent, session, actor: actor === undefined ? null : publicActor(actor, caller) },
  };
}

/** What the audit keeps of an actor. A proof is a credential and is never stored. */
function publicActor(actor: StatedActor, caller: Caller): Record<string, unknown> {
  return {
    id: actor.id,
    kind: actor.kind,
    ...(actor.parent === undefined ? {} : { parent: actor.parent }),
    ...(caller.client === null ? {} : { client: caller.client.name }),
  };
}

/** A session for a worker that came with none; it is returned and has to be passed on. */
export function mintSession(): string {
  return `w-${randomUUID()}`;
}
