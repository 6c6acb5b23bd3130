/** Everything that a process schedules, from its start to its end; the same alone and in a fleet. */
import type { Lifecycle } from "../runtime/lifecycle.ts";
import { createScheduler, type SchedulerDeps } from "./create-scheduler.ts";
import { createWebhookLoop, type WebhookLoopDeps } from "./webhook-loop.ts";
import { createWebhookSender } from "./webhook-sender.ts";

export interface SchedulerParts extends SchedulerDeps, Omit<WebhookLoopDeps, "send" | "log"> {
  readonly config: { readonly webhooksAllowPrivate: boolean };
}

export async function startScheduler(lifecycle: Lifecycle, parts: SchedulerParts): Promise<void> {
  const scheduler = createScheduler(parts);
  await lifecycle.own(
    "sweep",
    () => scheduler.start(),
    () => scheduler.stop(),
  );
  const send = createWebhookSender({ allowPrivate: parts.config.webhooksAllowPrivate });
  const webhooks = createWebhookLoop({ ...parts, send });
  await lifecycle.own(
    "webhooks",
    () => webhooks.start(),
    () => webhooks.stop(),
  );
}
