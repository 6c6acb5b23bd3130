import { describe, expect, it } from "vitest";
import { readQuery } from "../../../services/api/rest/read-query.ts";

const schema = {
  properties: { limit: { type: "integer" }, lapsed: { type: "boolean" }, agent: { type: "string" } },
};
const read = (query: string): Record<string, unknown> => readQuery(new URLSearchParams(query), schema);

describe("a query string", () => {
  it("becomes what the schema asks for", () => {
    expect(read("limit=10&lapsed=true&agent=42")).toEqual({ limit: 10, lapsed: true, agent: "42" });
  });

  it("keeps what is not clear as text, for the contract to refuse", () => {
    expect(read("limit=ten&lapsed=maybe&agent=")).toEqual({ limit: "ten", lapsed: "maybe", agent: "" });
  });

  it("passes repeated and unknown parameters on", () => {
    expect(read("limit=1&limit=2&other=x")).toEqual({ limit: ["1", "2"], other: "x" });
  });

  it("never turns a parameter into a prototype", () => {
    const input = read("__proto__=x&constructor=y");
    expect(Object.keys(input)).toEqual(["__proto__", "constructor"]);
    expect(Object.getPrototypeOf(input)).toBe(Object.prototype);
  });
});
