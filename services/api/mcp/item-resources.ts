/**
 * Items as resources: `muster://items/{id}`, to be read in both eras, and in the 2026 one to be
 * listened to. Reading asks the engine as the tool does, so it shows what the tool shows. Listening
 * is asked for as reading is, for every address: the SDK would pass on whatever is published.
 */
import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import { errorText, isMusterError } from "../../contract/errors.ts";
import { parseInput } from "../../contract/parse.ts";
import { operationByName } from "../../contract/registry.ts";
import type { Caller, Engine } from "../../engine/engine.ts";

export const ITEM_SCHEME = "muster://items/";
const ITEM_URI = /^muster:\/\/items\/([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$/;

export const ITEM_TEMPLATE = {
  uriTemplate: `${ITEM_SCHEME}{id}`,
  name: "item",
  title: "Item",
  description: "One item as query_items get answers it, by its full id.",
  mimeType: "application/json",
};

/** A type and no interface: the SDK wants one that may have more. */
export type ReadItem = {
  contents: { uri: string; mimeType: string; text: string }[];
};

/** @throws ProtocolError for an address that is none, or whose item is not there for the caller. */
export async function readItemResource(
  engine: Pick<Engine, "execute">,
  uri: string,
  caller: Caller,
): Promise<ReadItem> {
  const itemId = ITEM_URI.exec(uri)?.[1];
  if (itemId === undefined) throw noSuchResource();
  const operation = operationByName.get("query_items");
  if (operation === undefined) throw new Error("Items cannot be read without query_items.");
  try {
    const input = parseInput(operation, { operation: "get", itemId });
    const item = await engine.execute(operation.name, input, caller);
    return { contents: [{ uri, mimeType: ITEM_TEMPLATE.mimeType, text: JSON.stringify(item) }] };
  } catch (error) {
    if (!isMusterError(error)) throw error;
    if (error.code === "RESOURCE_NOT_FOUND") throw noSuchResource();
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, errorText(error));
  }
}

function noSuchResource(): ProtocolError {
  return new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    `There is no such resource. Use ${ITEM_SCHEME}{id} with the full id of an item that query_items finds.`,
  );
}
