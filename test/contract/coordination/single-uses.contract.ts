import { afterEach, beforeEach, expect, it } from "vitest";
import type { SingleUse, SingleUses } from "../../../services/coordination/port.ts";
import { until } from "../../support/until.ts";
import { type CoordinationFixture, type MakeFixture, START_MS } from "./fixture.ts";

const LIFE_MS = 60_000;

export function describeSingleUses(make: MakeFixture): void {
  let fixture: CoordinationFixture;
  let uses: SingleUses;
  let otherUses: SingleUses;

  beforeEach(async () => {
    fixture = await make();
    [{ singleUses: uses }, { singleUses: otherUses }] = fixture.replicas();
    // Memory begins here.
    await uses.use(token("first"), START_MS);
  });
  afterEach(() => fixture.close());

  function token(key: string, more: Partial<SingleUse> = {}): SingleUse {
    return { key, purpose: "a call", madeAtMs: START_MS + 1, lifeMs: LIFE_MS, ...more };
  }

  it("lets a thing be used for one purpose, whichever replica it comes to", async () => {
    expect(await uses.use(token("key"), START_MS + 2)).toBe("fresh");
    expect(await otherUses.use(token("key", { purpose: "another" }), START_MS + 3)).toBe("spent");
    expect(await uses.use(token("key", { purpose: "another" }), START_MS + 3)).toBe("spent");
    expect(await otherUses.use(token("key"), START_MS + 4)).toBe("again");
    expect(await otherUses.use(token("other", { purpose: "another" }), START_MS + 4)).toBe("fresh");
  });

  it("lets exactly one of many purposes have it that come at once", async () => {
    const outcomes = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        (index % 2 ? uses : otherUses).use(token("key", { purpose: `call ${index}` }), START_MS + 2),
      ),
    );
    expect(outcomes.filter((outcome) => outcome === "fresh")).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome === "spent")).toHaveLength(39);
  });

  it("does not know of what was made before its memory began, and notes nothing", async () => {
    const old = token("key", { madeAtMs: START_MS - 1 });
    expect(await uses.use(old, START_MS + 2)).toBe("unknown");
    expect(await otherUses.use(old, START_MS + 2)).toBe("unknown");
    expect(await uses.use(token("key"), START_MS + 2)).toBe("fresh");
    expect(await otherUses.use({ ...old, purpose: "another" }, START_MS + 2)).toBe("spent");
  });

  it("that lost its memory does not let through what was used before", async () => {
    expect(await uses.use(token("key"), START_MS + 2)).toBe("fresh");
    await fixture.forget();
    const [{ singleUses: anew }] = fixture.replicas();
    expect(await anew.use(token("key", { purpose: "another" }), START_MS + 10)).toBe("unknown");
    expect(await anew.use(token("later", { madeAtMs: START_MS + 11 }), START_MS + 11)).toBe("fresh");
  });

  it("forgets by itself", async () => {
    await uses.use(token("key", { lifeMs: 20 }), START_MS + 2);
    await until(
      async () => (await otherUses.use(token("key", { purpose: "another" }), START_MS + 2)) !== "spent",
    );
  });
}
