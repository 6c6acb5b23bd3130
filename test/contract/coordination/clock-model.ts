/**
 * The claim clock as a log: what each answer must be is derived from everything that was
 * said since the memory began. Slow, and written unlike either adapter on purpose.
 */
import type { ClockEntry, LookOutcome, RenewOutcome } from "../../../services/coordination/port.ts";

interface Fact {
  readonly key: string;
  readonly said: "touch" | "renew" | "tombstone";
  readonly fence: number;
  readonly ttlMs: number;
  readonly atMs: number;
}

export class ClockModel {
  #facts: Fact[] = [];
  #memorySinceMs: number | undefined;

  forget(): void {
    this.#facts = [];
    this.#memorySinceMs = undefined;
  }

  touch(entry: ClockEntry, nowMs: number): void {
    this.#begin(nowMs);
    if (entry.fence >= this.#highest(entry.key)) this.#say("touch", entry, entry.fence, nowMs);
  }

  drop(entry: ClockEntry, nowMs: number): void {
    this.#begin(nowMs);
    if (entry.fence + 1 > this.#highest(entry.key)) this.#say("tombstone", entry, entry.fence + 1, nowMs);
  }

  renew(entry: ClockEntry, nowMs: number): RenewOutcome {
    const memoryMs = this.#begin(nowMs);
    if (entry.fence < this.#highest(entry.key)) return "superseded";
    const heard = this.#heard(entry.key, entry.fence);
    const persisted = heard.findLast((fact) => fact.said === "touch");
    this.#say("renew", entry, entry.fence, nowMs);
    const fresh =
      persisted !== undefined &&
      persisted.ttlMs === entry.ttlMs &&
      persisted.atMs >= memoryMs &&
      persisted.atMs <= nowMs &&
      persisted.atMs + entry.ttlMs / 2 > nowMs;
    return fresh ? "ok" : "write";
  }

  look(entry: ClockEntry, nowMs: number): LookOutcome {
    const rememberedMs = nowMs - this.#begin(nowMs);
    const highest = this.#highest(entry.key);
    const heard = this.#heard(entry.key, highest);
    if (highest < entry.fence) return { state: "unknown" };
    if (highest === entry.fence && heard.length === 0) return { state: "unknown" };

    const first = this.#facts.find((fact) => fact.key === entry.key && fact.fence === highest);
    if (!first) return { state: "unknown" };
    const endMs =
      highest > entry.fence ? first.atMs : Math.max(...heard.map((fact) => fact.atMs)) + entry.ttlMs;
    if (highest === entry.fence && nowMs < endMs) {
      return { state: "alive", msLeft: Math.min(endMs - nowMs, entry.ttlMs) };
    }
    if (rememberedMs < entry.ttlMs) return { state: "unknown" };
    return { state: "dead", sinceMs: Math.max(0, nowMs - endMs) };
  }

  #begin(nowMs: number): number {
    this.#memorySinceMs ??= nowMs;
    return this.#memorySinceMs;
  }

  #say(said: Fact["said"], { key, ttlMs }: ClockEntry, fence: number, atMs: number): void {
    this.#facts.push({ key, said, fence, ttlMs, atMs });
  }

  #highest(key: string): number {
    return Math.max(-1, ...this.#facts.filter((fact) => fact.key === key).map((fact) => fact.fence));
  }

  #heard(key: string, fence: number): Fact[] {
    return this.#facts.filter(
      (fact) => fact.key === key && fact.fence === fence && fact.said !== "tombstone",
    );
  }
}
