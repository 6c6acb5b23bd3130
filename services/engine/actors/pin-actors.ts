/**
 * A credential that is bound to one agent: its calls are that agent's, and nobody else's. A call
 * that names another is refused and not corrected, since whoever made it believes to be somebody
 * else; a call that names nobody gets the name.
 */
import { fault } from "../../contract/errors.ts";
import { schemasOf } from "../../contract/json-schema.ts";
import type { Operation } from "../../contract/operation.ts";
import type { Access } from "../access.ts";
import { actorsOf, namesEverybody } from "./actors-of-input.ts";

/**
 * The input with the agent's name where it was left out.
 * @throws MusterError `rejected_by_policy`
 */
export function pinActors({ agent }: Access, operation: Operation, input: unknown): unknown {
  if (agent === null) return input;
  if (actorsOf(input).some(({ id }) => id !== agent)) {
    throw fault("rejected_by_policy", "this credential speaks for another agent than the call names", {
      hint: `Send actor.id "${agent}", or leave the actor out where that is possible.`,
    });
  }
  if (namesEverybody(input) || !takesActor(operation)) return input;
  return { ...(input as object), actor: { id: agent, kind: "external" } };
}

function takesActor(operation: Operation): boolean {
  const { properties } = schemasOf(operation).input as { readonly properties?: object };
  return properties !== undefined && "actor" in properties;
}
