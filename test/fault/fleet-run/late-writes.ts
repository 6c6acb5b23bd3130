/** What a holder who was displaced tries when it wakes up: every door there is, with its old fence and session. */
import { type Client, MusterClientError } from "../../../services/worker-sdk/index.ts";
import type { StartedLine } from "../../../scripts/demo/journal.ts";

export interface LateWrite {
  readonly door: string;
  /** The code it was refused with, or `accepted`. */
  readonly refusal: string;
}

export interface Neighbour {
  /** Any other item of the tree. */
  readonly otherId: string;
  /** An item that shares an edge with it. */
  readonly edge: { readonly fromItemId: string; readonly toItemId: string; readonly dependencyId: string };
}

const TRIGGERS = ["start", "complete", "fail", "requeue", "hold", "block", "cancel"] as const;

type Attempt = readonly [door: string, write: () => Promise<object>];

/** Tries all doors; answers how each refused. */
export async function tryEveryDoor(
  client: Client,
  line: Pick<StartedLine, "itemId" | "fence" | "workerId">,
  neighbour: Neighbour,
): Promise<readonly LateWrite[]> {
  const writes: LateWrite[] = [];
  for (const [door, write] of [
    ...advances(client, line),
    ...itemWrites(client, line, neighbour),
    ...edgeWrites(client, line, neighbour),
    ...claimWrites(client.forWorker(line.workerId), line),
  ])
    writes.push({ door, refusal: await refusalOf(write) });
  return writes;
}

type Line = Parameters<typeof tryEveryDoor>[1];

function advances(client: Client, { itemId, fence, workerId }: Line): readonly Attempt[] {
  return TRIGGERS.flatMap((trigger): readonly Attempt[] => {
    const move = { itemId, trigger, workerId, ...(trigger === "fail" ? { reason: "late" } : {}) };
    return [
      [`advance_item ${trigger} with the old fence`, () => client.call("advance_item", { ...move, fence })],
      [`advance_item ${trigger} by session alone`, () => client.call("advance_item", move)],
      [
        `advance_item ${trigger} in a batch`,
        () => client.call("advance_item", { transitions: [{ ...move, fence }] }),
      ],
    ];
  });
}

function itemWrites(client: Client, { itemId, fence, workerId }: Line, other: Neighbour): readonly Attempt[] {
  const update = (fields: object) =>
    client.call("manage_items", { operation: "update", items: [{ itemId, ...fields }], workerId });
  return [
    ["manage_items update with the old fence", () => update({ summary: "late", fence })],
    ["manage_items update by session alone", () => update({ summary: "late" })],
    ["manage_items update that moves it", () => update({ parentId: other.otherId, fence })],
    [
      "manage_items create below it",
      () => {
        const items = [{ title: "late", parentId: itemId }];
        return client.call("manage_items", { operation: "create", items, workerId });
      },
    ],
    [
      "manage_items delete",
      () =>
        client.call("manage_items", { operation: "delete", itemIds: [itemId], recursive: true, workerId }),
    ],
  ];
}

function edgeWrites(client: Client, { itemId, workerId }: Line, other: Neighbour): readonly Attempt[] {
  const { fromItemId, toItemId, dependencyId } = other.edge;
  const create = (fromItemId: string, toItemId: string) =>
    client.call("manage_dependencies", {
      operation: "create",
      dependencies: [{ fromItemId, toItemId, type: "RELATES_TO" }],
      workerId,
    });
  const remove = (which: object) =>
    client.call("manage_dependencies", { operation: "delete", ...which, workerId });
  return [
    ["manage_dependencies create from it", () => create(itemId, other.otherId)],
    ["manage_dependencies create to it", () => create(other.otherId, itemId)],
    ["manage_dependencies delete by its ends", () => remove({ fromItemId, toItemId })],
    ["manage_dependencies delete by id", () => remove({ dependencyId })],
    [
      "manage_dependencies delete of all",
      () => remove({ deleteAll: true, ...(fromItemId === itemId ? { fromItemId } : { toItemId }) }),
    ],
  ];
}

function claimWrites(client: Client, { itemId, fence }: Line): readonly Attempt[] {
  return [
    ["claim_item refresh", async () => (await client.refresh([{ itemId, fence }])).results[0] ?? {}],
    ["claim_item release", async () => (await client.release([{ itemId, fence }]))[0] ?? {}],
    [
      "claim_item release that requeues",
      async () => (await client.release([{ itemId, fence, requeue: true }]))[0] ?? {},
    ],
    ["claim_item with the old fence", async () => (await client.claim({ itemId, fence })).claim],
  ];
}

/** Refusals are thrown, or one of the places where an answer says that an element was refused. */
async function refusalOf(write: () => Promise<object>): Promise<string> {
  try {
    const answer = (await write()) as {
      readonly outcome?: string;
      readonly results?: readonly { readonly errorCode?: string }[];
      readonly failures?: readonly { readonly errorCode: string }[];
    };
    const refusal = answer.outcome ?? answer.results?.[0]?.errorCode ?? answer.failures?.[0]?.errorCode;
    return refusal === undefined || refusal === "success" ? "accepted" : refusal;
  } catch (error) {
    if (MusterClientError.is(error)) return error.code;
    throw error;
  }
}
