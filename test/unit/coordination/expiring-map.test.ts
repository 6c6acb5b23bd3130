import { describe, expect, it } from "vitest";
import { ExpiringMap } from "../../../services/coordination/local/expiring-map.ts";

describe("a map whose entries end by themselves", () => {
  function setup() {
    const time = { ms: 0 };
    const left: string[] = [];
    const map = new ExpiringMap<string>({
      monotonicMs: () => time.ms,
      onLeave: (value) => left.push(value),
    });
    return { time, left, map };
  }

  it("forgets an entry at the instant its life ends", () => {
    const { time, map } = setup();
    map.set("key", "value", 100);
    time.ms = 99;
    expect(map.get("key")).toBe("value");
    expect(map.msLeft("key")).toBe(1);
    time.ms = 100;
    expect(map.get("key")).toBeUndefined();
    expect(map.msLeft("key")).toBe(0);
  });

  it("tells of every entry that leaves, once", () => {
    const { time, left, map } = setup();
    map.set("a", "a1", 10);
    map.set("a", "a2", 10);
    map.set("b", "b1", 1_000);
    map.delete("b");
    map.delete("b");
    time.ms = 20;
    for (let index = 0; index < 4; index += 1) map.set("c", `c${index}`, 1_000);
    expect(left.toSorted()).toEqual(["a1", "a2", "b1", "c0", "c1", "c2"]);
  });

  it("stays small through a stream of keys that are written once", () => {
    const { time, map } = setup();
    const ALIVE = 100;
    let largest = 0;
    for (let index = 0; index < 20_000; index += 1) {
      time.ms += 1;
      map.set(`key-${index}`, "", ALIVE);
      largest = Math.max(largest, map.size);
    }
    expect(largest).toBeLessThanOrEqual(3 * ALIVE);
  });

  it("loses its garbage although only one key is still written", () => {
    const { time, map } = setup();
    for (let index = 0; index < 1_000; index += 1) map.set(`key-${index}`, "", 10);
    time.ms = 20;
    for (let index = 0; index < 1_000; index += 1) map.set("hot", "", 10);
    expect(map.size).toBe(1);
  });

  it("keeps what is alive behind a life that is long", () => {
    const { time, map } = setup();
    map.set("long", "value", 1_000_000);
    for (let index = 0; index < 1_000; index += 1) {
      time.ms += 1;
      map.set(`key-${index}`, "", 10);
    }
    expect(map.get("long")).toBe("value");
  });
});
