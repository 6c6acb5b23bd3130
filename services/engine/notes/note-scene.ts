/**
 * The frame of every write to a note: the item's row is locked, its door is asked, and the
 * schema that holds now is at hand; then the note is written, and the event with it. A holder
 * who was taken over while the note was under way finds that out here, under the lock that
 * the takeover held.
 */
import { findTitles } from "../../../db/stores/item-store.ts";
import { touchHeldItem } from "../../../db/stores/note-store.ts";
import type { Handle } from "../../../db/statement.ts";
import { fault } from "../../contract/errors.ts";
import type { ItemState } from "../../core/state.ts";
import type { World } from "../../core/world.ts";
import type { Schemas } from "../config/schema-source.ts";
import type { EngineDeps } from "../deps.ts";
import type { Caller } from "../engine.ts";
import { identify, type StatedActor } from "../identity.ts";
import { askDoors, claimLost, withTenuresAbove } from "../writing/doors.ts";
import { afterCommit, CLAIMABLE, lockWorld, saveWorld, transact } from "../writing/transact.ts";
import { type Answered, once, type WriteCall } from "../writing/write-call.ts";
import type { NoteOutcome } from "./write-notes.ts";

export interface NoteScene {
  readonly tx: Handle;
  readonly world: World;
  readonly item: ItemState;
  readonly schemas: Schemas;
  /** Tells whom it concerns, once it is committed. */
  wrote(outcome: Extract<NoteOutcome, { ok: true }>): void;
}

export interface ScenePlace {
  /** Full id. */
  readonly itemId: string;
  readonly fence: number | null;
}

/**
 * Runs one element on an item, in a transaction of its own, once per requestId.
 * @throws claim_lost for the late write of a session that lost the item, or one above it
 */
export async function onItem<A extends Readonly<Record<string, unknown>>>(
  deps: EngineDeps,
  call: WriteCall,
  element: string,
  place: ScenePlace,
  work: (scene: NoteScene) => Promise<A>,
): Promise<Answered<A>> {
  const { itemId, fence } = place;
  let world: World | null = null;
  let opensStart = false;
  const result = await transact(deps, async (tx, wider) => {
    world = null;
    opensStart = false;
    return await once(call, tx, element, async () => {
      const items = await withTenuresAbove(tx, call, [itemId]);
      const locked = await lockWorld(deps, tx, items, wider, "none");
      const item = locked.find(itemId);
      if (item === undefined) throw fault("RESOURCE_NOT_FOUND", `there is no item ${itemId}`);
      const [verdict] = await askDoors(deps, tx, locked, call, "open", [{ itemId, fence }]);
      if (verdict?.kind === "claim_lost") throw claimLost(itemId);
      const schemas = await deps.schemas.load(tx, [item.rootId]);
      const answer = await work({
        tx,
        world: locked,
        item,
        schemas,
        wrote({ note, event }) {
          locked.events.push(event);
          opensStart ||= note.opensStart;
        },
      });
      if (locked.events.length > 0 && isHeldByAnother(item, call)) await touchHeldItem(tx, itemId);
      await saveWorld(tx, locked);
      world = locked;
      return { answer, targetId: itemId };
    });
  });
  if (result.replayed) await refuseIfGone(deps, result.targetId);
  if (world !== null) afterCommit(deps, world);
  if (opensStart) deps.coordination.wakeUps.publish([CLAIMABLE]);
  return result;
}

function isHeldByAnother({ claim }: ItemState, { agent, session }: WriteCall): boolean {
  return claim !== null && (claim.agent !== agent || claim.session !== session);
}

async function refuseIfGone(deps: EngineDeps, targetId: string | null): Promise<void> {
  if (targetId === null || (await findTitles(deps.db, [targetId])).size > 0) return;
  throw fault("idempotency_target_gone", `the item of this note, ${targetId}, was deleted since`);
}

/** The call as the author of one element makes it: an element may name another actor. */
export function callOf(
  call: WriteCall,
  actor: StatedActor | undefined,
  workerId: string | undefined,
  caller: Caller,
): WriteCall {
  if (actor === undefined) return call;
  const { agent, session, author } = identify(actor, workerId, caller);
  return { ...call, agent, session, author };
}
