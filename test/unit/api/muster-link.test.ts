import { describe, expect, it } from "vitest";
import { createMusterLink, type LinkCall } from "../../../services/api/mcp/muster-link.ts";

const OK = { content: [{ type: "text", text: "done" }] };
const answer = (result: unknown): Response => Response.json({ jsonrpc: "2.0", id: 1, result });
const refused = (): never => {
  throw Object.assign(new TypeError("fetch failed"), { cause: { code: "ECONNREFUSED" } });
};
const broken = (): never => {
  throw Object.assign(new TypeError("fetch failed"), { cause: { code: "UND_ERR_SOCKET" } });
};
const draining = (): Response =>
  answer({ isError: true, content: [], structuredContent: { error: { code: "draining" } } });

/** A link over two addresses, each played by a function; `asked` says who was called. */
function linkOver(first: () => Response, second: () => Response) {
  const asked: string[] = [];
  const link = createMusterLink({
    urls: ["http://one.test", "http://two.test/mcp?toolset=worker"],
    session: "stdio-1",
    token: "secret",
    fetch: (url, init) => {
      const { href, host } = url as URL;
      asked.push(href);
      const headers = new Headers(init?.headers);
      expect(headers.get("muster-session")).toBe("stdio-1");
      expect(headers.get("authorization")).toBe("Bearer secret");
      return new Promise((resolve) => resolve(host === "one.test" ? first() : second()));
    },
  });
  return { link, asked };
}

function call(options: Partial<LinkCall> = {}): LinkCall {
  return {
    method: "tools/call",
    params: { name: "claim_item", arguments: {} },
    client: null,
    repeatable: true,
    patient: false,
    signal: new AbortController().signal,
    ...options,
  };
}

describe("a call through the link", () => {
  it("goes to the first address that answers, and stays there", async () => {
    const { link, asked } = linkOver(refused, () => answer({ resultType: "complete", _meta: {}, ...OK }));
    expect(await link.send(call())).toEqual(OK);
    expect(await link.send(call())).toEqual(OK);
    expect(asked).toEqual([
      "http://one.test/mcp",
      "http://two.test/mcp?toolset=worker",
      "http://two.test/mcp?toolset=worker",
    ]);
  });

  it("is sent again after a broken connection only if it may be repeated", async () => {
    const repeated = linkOver(broken, () => answer(OK));
    expect(await repeated.link.send(call({ repeatable: true }))).toEqual(OK);
    const once = linkOver(broken, () => answer(OK));
    await expect(once.link.send(call({ repeatable: false }))).rejects.toMatchObject({ code: "unavailable" });
    expect(once.asked).toEqual(["http://one.test/mcp"]);
  });

  it("goes on to the next address when it never left, or nobody of ours saw it", async () => {
    for (const first of [refused, () => new Response("bad gateway", { status: 502 }), draining]) {
      const { link } = linkOver(first, () => answer(OK));
      expect(await link.send(call({ repeatable: false }))).toEqual(OK);
    }
  });

  it("says which addresses were tried when none answers", async () => {
    const { link } = linkOver(refused, refused);
    await expect(link.send(call())).rejects.toThrow("No Muster answers at http://one.test, http://two.test.");
  });

  it("passes the server's protocol errors on", async () => {
    const error = { code: -32602, message: "Unknown tool: x" };
    const { link } = linkOver(
      () => Response.json({ jsonrpc: "2.0", id: 1, error }, { status: 400 }),
      refused,
    );
    await expect(link.send(call())).rejects.toMatchObject(error);
  });

  it("says so when what answers is not Muster", async () => {
    const { link } = linkOver(() => new Response("<html>"), refused);
    await expect(link.send(call())).rejects.toThrow("not Muster (HTTP 200)");
  });

  it("ends when its caller is gone", async () => {
    const { link } = linkOver(broken, broken);
    await expect(link.send(call({ signal: AbortSignal.abort(new Error("gone")) }))).rejects.toThrow("gone");
  });
});
