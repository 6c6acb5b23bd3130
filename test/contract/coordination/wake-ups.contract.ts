import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { WakeUps } from "../../../services/coordination/port.ts";
import { until } from "../../support/until.ts";
import type { CoordinationFixture, MakeFixture } from "./fixture.ts";

/** Never reached; a wait that ends by it has lost a wake-up. */
const LONG_MS = 10_000;
const SHORT_MS = 20;

export function describeWakeUps(make: MakeFixture): void {
  const never = new AbortController().signal;
  let fixture: CoordinationFixture;
  let wakeUps: WakeUps;
  let otherWakeUps: WakeUps;

  beforeEach(async () => {
    fixture = await make();
    [{ wakeUps }, { wakeUps: otherWakeUps }] = fixture.replicas();
  });
  afterEach(() => fixture.close());

  describe("a ticket", () => {
    it("finds what was published before it waits, once", async () => {
      const ticket = wakeUps.ticket(["a"]);
      expect(ticket.stale()).toBe(false);
      wakeUps.publish(["a"]);
      expect(ticket.stale()).toBe(true);
      expect(ticket.stale()).toBe(true);
      expect(await ticket.wait(LONG_MS, never)).toBe(true);
      expect(ticket.stale()).toBe(false);
      expect(await ticket.wait(SHORT_MS, never)).toBe(false);
      ticket.close();
    });

    it("does not find what was published before it was taken", async () => {
      wakeUps.publish(["a"]);
      const ticket = wakeUps.ticket(["a"]);
      expect(await ticket.wait(SHORT_MS, never)).toBe(false);
      ticket.close();
    });

    it("is woken by another replica, in the middle of a wait", async () => {
      const ticket = wakeUps.ticket(["a", "b"]);
      const woken = ticket.wait(LONG_MS, never);
      otherWakeUps.publish(["b"]);
      expect(await woken).toBe(true);
      ticket.close();
    });

    it("turns stale by another replica without waiting", async () => {
      const ticket = wakeUps.ticket(["a"]);
      otherWakeUps.publish(["a"]);
      await until(() => ticket.stale());
      ticket.close();
    });

    it("is woken once by a publish that names several of its topics", async () => {
      const ticket = wakeUps.ticket(["a", "b"]);
      const woken = ticket.wait(LONG_MS, never);
      wakeUps.publish(["a", "b"]);
      expect(await woken).toBe(true);
      expect(ticket.stale()).toBe(false);
      ticket.close();
    });

    it("sleeps through other topics", async () => {
      const ticket = wakeUps.ticket(["a"]);
      const marker = wakeUps.ticket(["marker"]);
      otherWakeUps.publish(["b", "A", "a "]);
      otherWakeUps.publish(["marker"]);
      expect(await marker.wait(LONG_MS, never)).toBe(true);
      expect(ticket.stale()).toBe(false);
      ticket.close();
      marker.close();
    });

    it("ends its wait when its caller is gone", async () => {
      const ticket = wakeUps.ticket(["a"]);
      const gone = new AbortController();
      const waiting = ticket.wait(LONG_MS, gone.signal);
      gone.abort();
      expect(await waiting).toBe(false);
      expect(await ticket.wait(LONG_MS, gone.signal)).toBe(false);
      ticket.close();
    });

    it("can be waited on by several", async () => {
      const ticket = wakeUps.ticket(["a"]);
      const waits = [ticket.wait(LONG_MS, never), ticket.wait(LONG_MS, never)];
      otherWakeUps.publish(["a"]);
      expect(await Promise.all(waits)).toEqual([true, true]);
      ticket.close();
    });

    it("is quiet once closed", async () => {
      const ticket = wakeUps.ticket(["a"]);
      const waiting = ticket.wait(LONG_MS, never);
      ticket.close();
      ticket.close();
      expect(await waiting).toBe(false);
      wakeUps.publish(["a"]);
      expect(ticket.stale()).toBe(false);
      expect(await ticket.wait(LONG_MS, never)).toBe(false);
    });
  });

  it("loses no signal between the query and the wait, over two replicas", async () => {
    const LAST = 400;
    let latest = 0;
    const seesLast = (): boolean => latest === LAST;

    async function consume(from: WakeUps): Promise<boolean> {
      const ticket = from.ticket(["news"]);
      // As a claim does: ticket, query, wait.
      while (!seesLast()) if (!(await ticket.wait(LONG_MS, never))) return false;
      ticket.close();
      return true;
    }
    async function produce(): Promise<void> {
      while (!seesLast()) {
        latest += 1;
        (latest % 2 ? wakeUps : otherWakeUps).publish(["news"]);
        if (latest % 3 === 0) await nextTurn();
      }
    }
    const consumers = [consume(wakeUps), consume(otherWakeUps), consume(wakeUps)];
    await produce();
    expect(await Promise.all(consumers)).toEqual([true, true, true]);
  });

  it("delivers a publish of very many topics", async () => {
    const ticket = wakeUps.ticket(["topic-4999"]);
    otherWakeUps.publish(Array.from({ length: 5_000 }, (_, index) => `topic-${index}`));
    expect(await ticket.wait(LONG_MS, never)).toBe(true);
    ticket.close();
  });

  it("ends every wait when it is closed", async () => {
    const ticket = wakeUps.ticket(["a"]);
    const waiting = ticket.wait(LONG_MS, never);
    await fixture.close();
    expect(await waiting).toBe(false);
    expect(await wakeUps.ticket(["a"]).wait(LONG_MS, never)).toBe(false);
    wakeUps.publish(["a"]);
  });
}
