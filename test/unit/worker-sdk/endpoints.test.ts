import { describe, expect, it } from "vitest";
import { createEndpoints, parseUrls } from "../../../services/worker-sdk/endpoints.ts";

describe("addresses of servers", () => {
  it("are read from a comma-separated list, with or without the MCP path", () => {
    const urls = parseUrls("http://one:3001, https://two/mcp/ ,http://three/behind/a/proxy");
    expect(urls.map(String)).toEqual([
      "http://one:3001/mcp",
      "https://two/mcp",
      "http://three/behind/a/proxy/mcp",
    ]);
  });

  it("keep a query that the caller chose", () => {
    expect(String(parseUrls(["http://one/mcp?toolset=worker"])[0])).toBe("http://one/mcp?toolset=worker");
  });

  it.each(["", "  , ", "one:3001", "ftp://one", "/mcp"])("refuses %j and says what is expected", (text) => {
    expect(() => parseUrls(text)).toThrow(/http/);
  });

  it("stay with one server until it fails, and are moved once by two callers that failed together", () => {
    const endpoints = createEndpoints(parseUrls("http://one,http://two,http://three"));
    const one = endpoints.current();
    expect(endpoints.current()).toBe(one);
    endpoints.failed(one);
    endpoints.failed(one);
    expect(endpoints.current().hostname).toBe("two");
    endpoints.failed(endpoints.current());
    endpoints.failed(endpoints.current());
    expect(endpoints.current()).toBe(one);
  });
});
