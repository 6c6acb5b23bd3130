/**
 * Who may knock: the Host and Origin checks that stand before every route.
 *
 * A page on the web can point its own name at 127.0.0.1 and have the browser call a
 * server that listens on loopback (DNS rebinding). The browser then sends that name
 * as Host and Origin, so both are compared with the names this server is known by.
 * Ports are not compared: tunnels and containers change them.
 */
import type { IncomingHttpHeaders } from "node:http";

export interface Refusal {
  readonly message: string;
  readonly hint: string;
}

export type Guard = (headers: IncomingHttpHeaders) => Refusal | null;

const LOOPBACK_NAMES = ["localhost", "127.0.0.1", "[::1]"];
const WILDCARD_ADDRESSES = new Set(["0.0.0.0", "::", "[::]"]);

/** Builds the check from the address that is listened on, the public URL and the configured names. */
export function createGuard(config: {
  readonly host: string;
  readonly publicUrl?: string | undefined;
  readonly allowedHosts: readonly string[];
}): Guard {
  const names = new Set(LOOPBACK_NAMES);
  if (!WILDCARD_ADDRESSES.has(config.host)) addName(names, config.host);
  if (config.publicUrl !== undefined) addName(names, new URL(config.publicUrl).host);
  for (const host of config.allowedHosts) addName(names, host);

  return (headers) => {
    const host = headers.host === undefined ? null : hostnameOf(`http://${headers.host}`);
    if (host === null || !names.has(host)) {
      return { message: "This Host is not served here.", hint: "Add the name to MUSTER_ALLOWED_HOSTS." };
    }
    if (headers.origin === undefined) return null;
    const origin = hostnameOf(headers.origin);
    if (origin === null || !names.has(origin)) {
      return { message: "This Origin may not call Muster.", hint: "Add its host to MUSTER_ALLOWED_HOSTS." };
    }
    return null;
  };
}

function addName(names: Set<string>, host: string): void {
  const bracketed =
    host.includes(":") && !host.startsWith("[") && host.split(":").length > 2 ? `[${host}]` : host;
  const name = hostnameOf(`http://${bracketed}`);
  if (name !== null) names.add(name);
}

/** The host name of an http(s) URL in its canonical spelling, or null. */
function hostnameOf(url: string): string | null {
  if (!URL.canParse(url)) return null;
  const parsed = new URL(url);
  const plain = parsed.protocol === "http:" || parsed.protocol === "https:";
  // `http://localhost@evil.example/` style values are refused rather than understood.
  if (!plain || parsed.username !== "" || parsed.pathname !== "/") return null;
  return parsed.hostname;
}
