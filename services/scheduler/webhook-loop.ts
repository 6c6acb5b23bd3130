/** Sends what is due to webhooks: woken by what happens, and by the time of the next try. */
import type { WakeUps } from "../coordination/port.ts";
import { EVENTS_WRITTEN } from "../engine/events/event-announcer.ts";
import { WEBHOOKS_CHANGED } from "../engine/webhooks/manage-webhooks.ts";
import type { Webhooks } from "../engine/webhooks/webhooks.ts";
import type { Log } from "../runtime/log.ts";
import { createPacedLoop, type PacedLoop } from "../runtime/paced-loop.ts";
import type { SendFunc } from "./webhook-sender.ts";

export interface WebhookLoopDeps {
  readonly webhooks: Webhooks;
  readonly wakeUps: WakeUps;
  readonly send: SendFunc;
  readonly log: Pick<Log, "info" | "warn">;
}

/** A wake-up may be lost, and a try may come due. */
const EVERY_MS = 1_000;

export function createWebhookLoop({ webhooks, wakeUps, send, log }: WebhookLoopDeps): PacedLoop {
  const following = new AbortController();
  const loop = createPacedLoop({
    name: "webhooks",
    everyMs: EVERY_MS,
    async run(signal) {
      while (!signal.aborted && (await webhooks.fanOut()));
      const due = await webhooks.take();
      await Promise.all(
        due.map(async (delivery) => {
          const result = await send(delivery, signal);
          // Cut off by our own stop: nothing is known of it, and whoever takes it next finds out.
          if (!signal.aborted) await webhooks.settle(delivery, result);
        }),
      );
      return due.length > 0;
    },
    onError: (error, failures) => {
      if (failures === 1) log.warn({ err: error }, "webhooks failed, trying again");
    },
  });
  return {
    name: loop.name,
    start() {
      loop.start();
      void follow(wakeUps, loop, following.signal);
    },
    nudge: () => loop.nudge(),
    ranOnce: () => loop.ranOnce(),
    async stop() {
      following.abort();
      await loop.stop();
    },
    async [Symbol.asyncDispose]() {
      following.abort();
      await loop.stop();
    },
  };
}

async function follow(wakeUps: WakeUps, loop: PacedLoop, signal: AbortSignal): Promise<void> {
  const ticket = wakeUps.ticket([EVENTS_WRITTEN, WEBHOOKS_CHANGED]);
  try {
    while (!signal.aborted) {
      await ticket.wait(60_000, signal);
      if (!signal.aborted) loop.nudge();
    }
  } finally {
    ticket.close();
  }
}
