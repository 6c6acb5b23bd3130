/**
 * `GET /`: what a person sees who opens the address that start-up printed. Plain HTML
 * with its style inline, nothing loaded, no script; programs that ask for JSON get the
 * same facts.
 */
import { createHash } from "node:crypto";

/** What a process knows about itself; given by whoever composed it. */
export interface About {
  /** `alone` or `fleet`. */
  readonly mode: string;
  /** Where the data is, in words: a directory, or the kind of database. Never a URL with a password. */
  readonly data: string;
  /** What to type next. */
  readonly nextSteps: readonly string[];
  /** Label and number, in the order to show them. */
  counts(): Promise<Readonly<Record<string, number>>>;
}

/** Everything the page shows. */
export interface Status {
  readonly name: "muster";
  readonly version: string;
  readonly mode: string;
  readonly data: string;
  /** Null while the database is away. */
  readonly counts: Readonly<Record<string, number>> | null;
  readonly addresses: Readonly<Record<string, string>>;
  readonly mcpJson: unknown;
  readonly nextSteps: readonly string[];
}

/** Gathers the facts of the page. */
export async function readStatus(about: About, version: string, baseUrl: string): Promise<Status> {
  const counts = await about.counts().catch(() => null);
  const { mode, data, nextSteps } = about;
  return {
    name: "muster",
    version,
    mode,
    data,
    counts,
    addresses: {
      mcp: `${baseUrl}/mcp`,
      claims: `${baseUrl}/api/v1/claims`,
      agents: `${baseUrl}/api/v1/agents`,
      reference: `${baseUrl}/api/v1/docs`,
      live: `${baseUrl}/livez`,
      ready: `${baseUrl}/readyz`,
    },
    mcpJson: { mcpServers: { muster: { type: "http", url: `${baseUrl}/mcp` } } },
    nextSteps,
  };
}

export const STYLE = `body{font:16px/1.5 system-ui,sans-serif;max-width:44rem;margin:3rem auto;padding:0 1rem;color:#1a1a1a;background:#fff}
h1{font-size:1.6rem}h2{font-size:1.05rem;margin-top:2rem}
pre{background:#f4f4f5;padding:1rem;border-radius:6px;overflow:auto}
table{border-collapse:collapse}td{padding:.15rem 1.5rem .15rem 0}td:last-child{text-align:right}
@media(prefers-color-scheme:dark){body{color:#e8e8e8;background:#18181b}pre{background:#27272a}a{color:#93c5fd}}`;

/** Nothing may be loaded or run: the only style is the one whose hash is named. */
export const PAGE_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** The page as HTML. */
export function renderStatus(status: Status): string {
  const { version, mode, data, counts, addresses, mcpJson, nextSteps } = status;
  const countRows = Object.entries(counts ?? {}).map(
    ([label, count]) => `<tr><td>${escape(label)}</td><td>${count}</td></tr>`,
  );
  const links = Object.entries(addresses).map(
    ([label, url]) => `<li>${escape(label)}: <a href="${escape(url)}">${escape(url)}</a></li>`,
  );
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Muster ${escape(version)}</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><style>${STYLE}</style></head>
<body>
<h1>Muster ${escape(version)}</h1>
<p>Running ${escape(mode)}, data in ${escape(data)}.</p>
<h2>Now</h2>
${counts === null ? '<p>The database is away; see <a href="/readyz">/readyz</a>.</p>' : `<table>${countRows.join("")}</table>`}
<h2>Addresses</h2>
<ul>${links.join("")}</ul>
<h2>Connect an agent: mcp.json</h2>
<pre>${escape(JSON.stringify(mcpJson, null, 2))}</pre>
<h2>Next</h2>
<ul>${nextSteps.map((step) => `<li>${escape(step)}</li>`).join("")}</ul>
</body>
</html>
`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Text within HTML. */
export function escape(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}
