import { describe, expect, it } from "vitest";
import { parseSelector } from "../../../services/cli/work.ts";
import { ExitError } from "../../../services/runtime/exit.ts";

describe("the selector of muster work", () => {
  it("is JSON, pairs, or both", () => {
    expect(parseSelector([])).toEqual({});
    expect(parseSelector(['{"tags":"build"}', "orderBy=oldest"])).toEqual({
      tags: "build",
      orderBy: "oldest",
    });
  });

  it("reads a value up to the end, and numbers and flags as what they are", () => {
    expect(parseSelector(["tags=a,b", "complexityMax=3", "containers=true"])).toEqual({
      tags: "a,b",
      complexityMax: 3,
      containers: true,
    });
  });

  it("says which name was probably meant", () => {
    expect(() => parseSelector(["tag=build"])).toThrow('--selector: unknown key "tag": did you mean "tags"?');
  });

  it.each([["{"], ["build"], ["=x"], ["colour=red"], ["priority=urgent"], ["complexityMax=many"]])(
    "refuses %j as a usage error",
    (part) => {
      expect(() => parseSelector([part])).toThrow(ExitError);
      expect(() => parseSelector([part])).toThrow(expect.objectContaining({ exitCode: 2 }) as Error);
    },
  );
});
