/**
 * Wake-ups between processes: one channel, the topics inside the message.
 *
 * A process wakes its own tickets at once and tells the others; its own messages are
 * ignored when they come back. Publishes of one turn of the event loop leave as one
 * message. Nothing is missed silently: whoever was not listening wakes all its tickets
 * when it listens again, and whoever could not send tells everybody to, once it can.
 */
import type { Redis } from "ioredis";
import type { WakeUps } from "../port.ts";
import type { WakeUpHub } from "../wake-up-hub.ts";
import type { SessionWatch } from "./session.ts";

/** Above this, waking everybody is cheaper than naming them. */
const TOPICS_PER_MESSAGE_MAX = 1_000;

/** How often silence is probed; without it, a cut cable looks like a quiet day. */
const PROBE_EVERY_MS = 2_000;

export interface RedisWakeUpsDeps {
  readonly redis: Pick<Redis, "publish">;
  readonly subscriber: Redis;
  readonly sessions: Pick<SessionWatch, "onBegin">;
  readonly hub: WakeUpHub;
  readonly prefix: string;
  readonly instanceId: string;
}

export interface RedisWakeUps {
  readonly wakeUps: WakeUps;
  /** False while publishes of other processes cannot arrive. */
  listening(): boolean;
  /** Resolves once it listens or the first attempt to failed. */
  readonly firstAttempt: Promise<void>;
  /** Sends what waits, then stops. */
  close(): Promise<void>;
}

/** Wire form: who sent it, and its topics, or null for every topic. */
type Message = readonly [sender: string, topics: readonly string[] | null];

export function createRedisWakeUps(deps: RedisWakeUpsDeps): RedisWakeUps {
  const { hub, prefix } = deps;
  const channel = `${prefix}wake`;
  const sender = createSender(deps, channel);
  const listener = listen(deps, channel, (text) => receive(text, deps));

  return {
    wakeUps: {
      ticket: (topics) => hub.ticket(topics),
      publish: (topics) => {
        hub.wake(topics);
        sender.add(topics);
      },
    },
    listening: () => listener.listening(),
    firstAttempt: listener.firstAttempt,
    async close() {
      listener.close();
      await sender.flush();
    },
  };
}

interface Sender {
  add(topics: readonly string[]): void;
  flush(): Promise<void>;
}

function createSender({ redis, sessions, instanceId }: RedisWakeUpsDeps, channel: string): Sender {
  const pending = new Set<string>();
  /** A publish was lost: the others cannot know which of their topics it named. */
  let missed = false;
  let scheduled = false;

  async function flush(): Promise<void> {
    scheduled = false;
    if (pending.size === 0 && !missed) return;
    const everything = missed || pending.size > TOPICS_PER_MESSAGE_MAX;
    const message: Message = [instanceId, everything ? null : [...pending]];
    pending.clear();
    missed = false;
    try {
      await redis.publish(channel, JSON.stringify(message));
    } catch {
      missed = true;
    }
  }

  sessions.onBegin(() => void flush());
  return {
    add(topics) {
      for (const topic of topics) pending.add(topic);
      if (scheduled) return;
      scheduled = true;
      setImmediate(() => void flush());
    },
    flush,
  };
}

function receive(text: string, { hub, instanceId }: RedisWakeUpsDeps): void {
  const [sender, topics] = parseMessage(text);
  if (sender === instanceId) return;
  if (topics === null) hub.wakeAll();
  else hub.wake(topics);
}

/** What no release of ours sent wakes everybody: too many is the safe reading. */
function parseMessage(text: string): Message {
  try {
    const value: unknown = JSON.parse(text);
    const [sender, topics]: readonly unknown[] = isList(value) ? value : [];
    return [String(sender), Array.isArray(topics) ? topics.map(String) : null];
  } catch {
    return ["", null];
  }
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

interface Listener {
  listening(): boolean;
  readonly firstAttempt: Promise<void>;
  close(): void;
}

/** Subscribes on every connection, and wakes everybody each time: nobody listened before. */
function listen(
  { subscriber, hub }: RedisWakeUpsDeps,
  channel: string,
  onText: (text: string) => void,
): Listener {
  const attempt = Promise.withResolvers<void>();
  let subscribed = false;

  subscriber.on("message", (_channel: string, text: string) => onText(text));
  subscriber.on("ready", () => {
    subscriber.subscribe(channel).then(
      () => {
        subscribed = true;
        attempt.resolve();
        hub.wakeAll();
      },
      () => subscriber.disconnect(true),
    );
  });
  subscriber.on("close", () => {
    subscribed = false;
    attempt.resolve();
  });

  const probe = setInterval(() => {
    // An unanswered ping makes the connection give the server up.
    if (subscribed) subscriber.ping().catch(() => {});
  }, PROBE_EVERY_MS);
  return {
    listening: () => subscribed,
    firstAttempt: attempt.promise,
    close: () => clearInterval(probe),
  };
}
