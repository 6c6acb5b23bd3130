/**
 * The list of servers. One is used until it fails, so that its connections stay
 * warm and a waiting claim is answered where it waits; then the next one is.
 */
export interface Endpoints {
  /** The address in use. */
  current(): URL;
  /**
   * Moves on from an address that failed. Callers that failed at the same time move
   * the list once: without the comparison two of them would come back to the dead one.
   */
  failed(url: URL): void;
  readonly size: number;
}

/** Reads one address, a list, or a comma-separated list as `MUSTER_URL` holds it. */
export function parseUrls(urls: string | readonly string[]): URL[] {
  const list = typeof urls === "string" ? urls.split(",") : urls;
  const parsed = list
    .map((text) => text.trim())
    .filter((text) => text !== "")
    .map(toMcpUrl);
  if (parsed.length === 0)
    throw new TypeError("At least one Muster URL is needed, for example http://127.0.0.1:3001");
  return parsed;
}

/** Accepts the server's address with or without `/mcp`. No toolset: a program reads no list, and may call any tool. */
function toMcpUrl(text: string): URL {
  if (!URL.canParse(text))
    throw new TypeError(`Not a URL: "${text}". Expected something like http://127.0.0.1:3001`);
  const url = new URL(text);
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw new TypeError(`Not an http or https URL: "${text}"`);
  const path = url.pathname.replace(/\/+$/, "");
  url.pathname = path.endsWith("/mcp") ? path : `${path}/mcp`;
  return url;
}

/** Makes the list from what {@link parseUrls} returned. */
export function createEndpoints(urls: readonly URL[]): Endpoints {
  let index = 0;
  const at = (position: number): URL => {
    const url = urls[position % urls.length];
    if (url === undefined) throw new TypeError("At least one URL is needed");
    return url;
  };
  return {
    size: urls.length,
    current: () => at(index),
    failed(url) {
      if (at(index) === url) index = (index + 1) % urls.length;
    },
  };
}
