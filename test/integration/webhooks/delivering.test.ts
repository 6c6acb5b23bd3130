/** Events on their way to a receiver that has good and bad days. */
import { sql } from "kysely";
import { beforeEach, expect, it } from "vitest";
import type { CreateWebhookOutput } from "../../../services/contract/operations/create-webhook.ts";
import type {
  ListDeliveriesOutput,
  ListedDelivery,
} from "../../../services/contract/operations/list-deliveries.ts";
import type { ListWebhooksOutput } from "../../../services/contract/operations/list-webhooks.ts";
import type { ListedWebhook } from "../../../services/contract/webhooks.ts";
import { DEFAULT_SETTINGS } from "../../../services/engine/deps.ts";
import { createWebhooks, type Webhooks } from "../../../services/engine/webhooks/webhooks.ts";
import { createWebhookLoop } from "../../../services/scheduler/webhook-loop.ts";
import { createWebhookSender } from "../../../services/scheduler/webhook-sender.ts";
import type { PacedLoop } from "../../../services/runtime/paced-loop.ts";
import { verifyWebhook } from "../../../services/worker-sdk/webhooks.ts";
import { describeEachDatabase } from "../../support/database.ts";
import { createTestEngine, type TestEngine } from "../../support/engine.ts";
import { startWebhookReceiver, type WebhookReceiver } from "../../support/webhook-receiver.ts";

const settings = { ...DEFAULT_SETTINGS, secretKey: "s".repeat(40), privateWebhooks: true };
const QUIET = { info: () => {}, warn: () => {} };

describeEachDatabase("webhooks", (database) => {
  let engine: TestEngine;
  let receiver: WebhookReceiver;
  let loop: PacedLoop;

  const webhooks = (): Webhooks => createWebhooks({ db: database().db, settings, random: () => 0.5 });
  function sending(): PacedLoop {
    const { wakeUps } = engine.coordination;
    const send = createWebhookSender({ allowPrivate: true, timeoutMs: 3_000 });
    return createWebhookLoop({ webhooks: webhooks(), wakeUps, send, log: QUIET });
  }
  const tries = async (): Promise<number> => {
    const { rows } = await sql<{ sum: number }>`select coalesce(sum(tries), 0)::int + count(*)::int as sum
      from deliveries`.execute(database().db);
    return rows[0]?.sum ?? 0;
  };
  /** Everything that is due now has been tried. */
  async function settled(): Promise<void> {
    for (let before = -1, now = await tries(); now !== before; before = now, now = await tries()) {
      const ran = loop.ranOnce();
      loop.nudge();
      await ran;
    }
  }

  beforeEach(async () => {
    await database().db.deleteFrom("items").execute();
    engine = createTestEngine(database(), { settings });
    receiver = await startWebhookReceiver();
    loop = sending();
    loop.start();
    return async () => {
      await loop.stop();
      await receiver[Symbol.asyncDispose]();
      for (const { webhookId } of await hooks()) await engine.call("delete_webhook", { webhookId });
      await engine.close();
    };
  });

  const hooks = async (): Promise<readonly ListedWebhook[]> =>
    ((await engine.call("list_webhooks", {})) as ListWebhooksOutput).webhooks;
  const hook = async (more: object = {}): Promise<CreateWebhookOutput> =>
    (await engine.call("create_webhook", { url: receiver.url, ...more })) as CreateWebhookOutput;
  const item = async (title: string): Promise<string> => {
    const made = (await engine.call("manage_items", { operation: "create", items: [{ title }] })) as {
      items: { id: string }[];
    };
    return made.items[0]?.id ?? "";
  };
  const move = (itemId: string, trigger: string) => engine.call("advance_item", { itemId, trigger });
  const deliveries = async (more: object = {}): Promise<readonly ListedDelivery[]> =>
    ((await engine.call("list_deliveries", more)) as ListDeliveriesOutput).deliveries;
  const came = (): { type: string; itemId: string }[] =>
    receiver.received.map(({ body }) => {
      const { type, data } = JSON.parse(body) as { type: string; data: { itemId: string } };
      return { type, itemId: data.itemId };
    });

  it("are told of what happens from then on, signed so that the receiver knows who it was", async () => {
    await item("before");
    const { secret } = await hook();
    const itemId = await item("after");
    await move(itemId, "start");
    await settled();
    expect(came()).toEqual([
      { type: "item.created", itemId },
      { type: "item.advanced", itemId },
    ]);
    for (const { headers, body } of receiver.received)
      expect(verifyWebhook({ secret, headers, body })).toMatchObject({ ok: true });
    expect(JSON.stringify(await engine.call("list_webhooks", {}))).not.toContain(secret);
  });

  it("hear of the types and the subtrees that were asked for, and of nothing else", async () => {
    const [mine, other] = [await item("mine"), await item("other")];
    await hook({ types: ["item.advanced"], rootIds: [mine] });
    for (const id of [mine, other]) await move(id, "start");
    await engine.call("manage_items", { operation: "update", items: [{ itemId: mine, title: "renamed" }] });
    await settled();
    expect(came()).toEqual([{ type: "item.advanced", itemId: mine }]);
  });

  it("that fail and then recover have everything, in the order of each item [F-34]", async () => {
    await hook({ types: ["item.advanced"] });
    const [one, two] = [await item("one"), await item("two")];
    receiver.behave({ status: 500 });
    await move(one, "start");
    await settled();
    await move(one, "complete");
    await move(two, "start");
    await settled();
    // The second of the first item waits for the first; the other item does not.
    expect(came().map(({ itemId }) => itemId)).toEqual([one, two]);
    expect(await deliveries({ state: "pending" })).toMatchObject([
      { tries: 1, lastStatus: 500, lastReason: "answered 500" },
      { tries: 0 },
      { tries: 1 },
    ]);
    receiver.behave("hang");
    await database().advance(5_000);
    await settled();
    expect((await deliveries({ state: "pending" })).at(-1)).toMatchObject({
      tries: 2,
      lastReason: "no answer within 3000 ms",
    });
    receiver.behave({ status: 200 });
    receiver.received.length = 0;
    await database().advance(15_000);
    await settled();
    expect(came().filter(({ itemId }) => itemId === one)).toHaveLength(2);
    expect(await deliveries({ state: "pending" })).toEqual([]);
    const ofOne = (await deliveries()).filter(({ itemId }) => itemId === one);
    expect(ofOne.map(({ state, tries }) => [state, tries])).toEqual([
      ["delivered", 1],
      ["delivered", 3],
    ]);
  });

  it("that refuse one are not asked again; what came after for the item waits until a person says what becomes of it", async () => {
    const { webhookId } = await hook({ types: ["item.advanced"] });
    const itemId = await item("refused");
    receiver.behave({ status: 400 });
    await move(itemId, "start");
    await settled();
    await move(itemId, "complete");
    receiver.behave({ status: 200 });
    await database().advance(3_600_000);
    await settled();
    expect(receiver.received).toHaveLength(1);
    expect(await hooks()).toMatchObject([{ pending: 1, dead: 1 }]);
    const [dead] = await deliveries({ state: "dead" });
    expect(dead).toMatchObject({
      lastStatus: 400,
      lastReason: "answered 400: the receiver will not take it",
    });
    expect(await engine.call("replay_deliveries", { webhookId })).toEqual({ settled: 1 });
    await settled();
    const roles = receiver.received
      .slice(1)
      .map(({ body }) => (JSON.parse(body) as { data: { newRole: string } }).data.newRole);
    expect(roles).toEqual(["work", "terminal"]);
    expect(receiver.received[1]?.headers["webhook-id"]).toBe(receiver.received[0]?.headers["webhook-id"]);
  });

  it("that are sent on to where nobody may look are given up, and say why", async () => {
    const strict = createWebhookSender({ allowPrivate: false });
    await loop.stop();
    await hook();
    await item("inwards");
    const own = webhooks();
    while (await own.fanOut());
    const [due] = await own.take();
    if (due === undefined) throw new Error("nothing is due");
    await own.settle(due, await strict(due, new AbortController().signal));
    expect(await deliveries()).toMatchObject([
      { state: "dead", lastReason: "the address is private or local" },
    ]);
    expect(await engine.call("discard_deliveries", { deliveryIds: [due.id] })).toEqual({ settled: 1 });
    expect(await deliveries()).toMatchObject([{ state: "discarded" }]);
    loop = sending();
    loop.start();
  });

  it("that are paused hear afterwards what they missed", async () => {
    const { webhookId } = await hook({ types: ["item.created"] });
    await engine.call("pause_webhook", { webhookId });
    const itemId = await item("meanwhile");
    await settled();
    expect(receiver.received).toEqual([]);
    await engine.call("pause_webhook", { webhookId, paused: false });
    await settled();
    expect(came()).toEqual([{ type: "item.created", itemId }]);
  });

  it("are told once by two schedulers at once, and again by the second when the first died with it", async () => {
    await hook({ types: ["item.created"] });
    const ids = [];
    for (let n = 0; n < 20; n += 1) ids.push(await item(`item ${n}`));
    const second = sending();
    second.start();
    await Promise.all([settled(), second.ranOnce()]);
    await settled();
    await second.stop();
    expect(
      came()
        .map(({ itemId }) => itemId)
        .toSorted(),
    ).toEqual(ids.toSorted());
    await loop.stop();
    const last = await item("taken by one that dies");
    const dying = webhooks();
    while (await dying.fanOut());
    expect(await dying.take()).toHaveLength(1);
    loop = sending();
    loop.start();
    await settled();
    expect(came()).toHaveLength(20);
    await database().advance(60_000);
    await settled();
    expect(came().at(-1)).toEqual({ type: "item.created", itemId: last });
  });

  it("cannot be pointed inwards, made without a key, or made by who sees a part only", async () => {
    const plain = createTestEngine(database(), { settings: { secretKey: "s".repeat(40) } });
    for (const url of [
      "http://example.com/x",
      "https://127.0.0.1/x",
      "https://localhost/x",
      "https://[::1]/x",
    ])
      await expect(plain.call("create_webhook", { url })).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
    await plain.close();
    const keyless = createTestEngine(database());
    await expect(keyless.call("create_webhook", { url: "https://example.com/x" })).rejects.toMatchObject({
      code: "unavailable",
    });
    await keyless.close();
    const access = { capabilities: new Set(["operate"] as const), scope: [await item("part")], agent: null };
    await expect(engine.call("create_webhook", { url: receiver.url }, { access })).rejects.toMatchObject({
      code: "insufficient_capability",
    });
  });
});
