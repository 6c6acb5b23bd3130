/** One try, against a real receiver. */
import { afterEach, beforeEach, expect, it } from "vitest";
import { createWebhookSender } from "../../../services/scheduler/webhook-sender.ts";
import { startWebhookReceiver, type WebhookReceiver } from "../../support/webhook-receiver.ts";

const inside = createWebhookSender({ allowPrivate: true, timeoutMs: 500 });
const outside = createWebhookSender({ allowPrivate: false, timeoutMs: 500 });
const never = new AbortController().signal;

let receiver: WebhookReceiver;
beforeEach(async () => {
  receiver = await startWebhookReceiver();
});
afterEach(() => receiver[Symbol.asyncDispose]());

const outgoing = (url = receiver.url) => ({ url, headers: { "webhook-id": "d1" }, body: '{"a":"é"}' });

it("is sent as it is, and the status is what came of it", async () => {
  expect(await inside(outgoing(), never)).toEqual({ kind: "answered", status: 204, retryAfterMs: null });
  expect(receiver.received).toMatchObject([
    { path: "/hook", body: '{"a":"é"}', headers: { "webhook-id": "d1" } },
  ]);
  receiver.behave({ status: 503 });
  expect(await inside(outgoing(), never)).toMatchObject({ kind: "answered", status: 503 });
});

it("one who does not answer is given up after a while, and so is one who is not there", async () => {
  receiver.behave("hang");
  expect(await inside(outgoing(), never)).toEqual({
    kind: "unreachable",
    reason: "no answer within 500 ms",
  });
  const { url } = receiver;
  await receiver[Symbol.asyncDispose]();
  expect(await inside(outgoing(url), never)).toEqual({
    kind: "unreachable",
    reason: "could not be reached (ECONNREFUSED)",
  });
  receiver = await startWebhookReceiver();
});

it("nothing is sent inwards, by address or by a name that resolves to one", async () => {
  const port = new URL(receiver.url).port;
  for (const host of ["127.0.0.1", "[::1]", "localhost", "0x7f.1", "169.254.169.254"]) {
    expect(await outside(outgoing(`http://${host}:${port}/hook`), never)).toEqual({
      kind: "forbidden",
      reason: "the address is private or local",
    });
  }
  expect(receiver.received).toEqual([]);
});

it("a receiver that sends on is followed with the same request, a few times", async () => {
  await using other = await startWebhookReceiver();
  receiver.behave({ status: 307, location: other.url });
  expect(await inside(outgoing(), never)).toMatchObject({ kind: "answered", status: 204 });
  expect(other.received).toMatchObject([{ body: '{"a":"é"}' }]);
  receiver.behave({ status: 302, location: receiver.url });
  expect(await inside(outgoing(), never)).toEqual({ kind: "unreachable", reason: "sent on too often" });
  receiver.behave({ status: 307, location: "ftp://127.0.0.1/" });
  expect(await inside(outgoing(), never)).toMatchObject({ kind: "forbidden" });
});
