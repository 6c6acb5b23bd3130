/** A bad minute: four good items fail for the environment's sake, which then recovers. */
import { expect, it } from "vitest";
import { plantItem } from "../support/fixtures.ts";
import { describeDesk } from "../integration/operating/desk.ts";

const SECOND_MS = 1_000;
const AGENTS = ["ada", "bob", "cid", "dan"];

describeDesk("a bad minute", (desk) => {
  it("four items that failed twice within it are all done later without a person, and none is dead [S38]", async () => {
    const rootId = await plantItem(desk().database.db, { title: "release" });
    for (const title of ["a", "b", "c", "d"])
      await plantItem(desk().database.db, { parentId: rootId, title });
    const work = async (
      agent: string,
      environmentIsUp: boolean,
    ): Promise<"ok" | "failed" | "paused" | "idle"> => {
      const claimed = await desk().claim(agent, { selector: { ancestorId: rootId }, start: true });
      if (claimed.outcome !== "success") return claimed.excluded?.pausedRoots ? "paused" : "idle";
      const { itemId } = claimed;
      const move = environmentIsUp
        ? ({ itemId, trigger: "complete" } as const)
        : ({ itemId, trigger: "fail", class: "environment", reason: "no space left on device" } as const);
      await desk().advance(move, agent);
      return environmentIsUp ? "ok" : "failed";
    };
    let failed = 0;
    let paused = 0;
    for (let second = 0; second < 60; second += 10) {
      for (const agent of AGENTS) {
        const seen = await work(agent, false);
        failed += Number(seen === "failed");
        paused += Number(seen === "paused");
      }
      await desk().database.advance(10 * SECOND_MS);
    }
    expect(failed).toBeGreaterThanOrEqual(5);
    // The breaker kept most of the minute's claims from being wasted.
    expect(paused).toBeGreaterThan(failed);
    // At most twelve hours, of which the environment is up from the start.
    let done = 0;
    for (let minute = 0; minute < 12 * 60 && done < 4; minute += 5) {
      for (const agent of AGENTS) done += Number((await work(agent, true)) === "ok");
      await desk().database.advance(5 * 60 * SECOND_MS);
    }
    expect(done).toBe(4);
    expect(await desk().ask("list_dead", {})).toMatchObject({ total: 0 });
    const { items } = await desk().search({ parentId: rootId });
    expect(items.map((item) => item.role)).toEqual(["terminal", "terminal", "terminal", "terminal"]);
    expect(await desk().ask("list_breakers", {})).toEqual({ breakers: [], hasMore: false });
  });
});
