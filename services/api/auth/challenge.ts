/**
 * What a client is told that came with nothing, with something wrong, or with too little: the
 * `WWW-Authenticate` header of RFC 6750, with where the metadata is (RFC 9728) and which scopes
 * to ask for. All of them at once: a client that is told of one at a time asks its user each time.
 */
import { CAPABILITIES, type Capability } from "../../contract/operation.ts";
import { scopeOf } from "../../engine/access.ts";
import { type Admission, grantedOf } from "./admission.ts";
import { METADATA_PATH } from "./metadata.ts";

/** What an agent works with. What operators do has to be asked for by name. */
const USUAL: readonly Capability[] = CAPABILITIES.filter(
  (one) => one !== "operate" && one !== "tokens" && one !== "admin",
);

export interface Challenges {
  // `path` is that of the request: each door has metadata of its own.
  /** Nothing came with the request. */
  missing(path: string): string;
  /** What came is not a credential, or opens nothing; the reason is a constant phrase. */
  invalid(path: string, error: "invalid_request" | "invalid_token", reason: string): string;
  /** What came is good, and not enough: what it has, and what is missing. */
  insufficient(path: string, admission: Admission, required: readonly string[]): string;
}

export function createChallenges(baseUrl: () => string): Challenges {
  const say = (path: string, fields: Readonly<Record<string, string>>, scopes: readonly string[]): string => {
    const all = {
      realm: "muster",
      ...fields,
      scope: scopes.join(" "),
      resource_metadata: `${baseUrl()}${METADATA_PATH}${path === "/mcp" ? path : ""}`,
    };
    return `Bearer ${Object.entries(all)
      .map(([name, value]) => `${name}="${value.replaceAll(/["\\]/g, "")}"`)
      .join(", ")}`;
  };
  return {
    missing: (path) => say(path, {}, USUAL.map(scopeOf)),
    invalid: (path, error, reason) => say(path, { error, error_description: reason }, USUAL.map(scopeOf)),
    insufficient(path, admission, required) {
      const granted = grantedOf(admission, CAPABILITIES).map(scopeOf);
      const all = CAPABILITIES.map(scopeOf).filter((one) => granted.includes(one) || required.includes(one));
      return say(
        path,
        { error: "insufficient_scope", error_description: `This needs ${required.join(" and ")}` },
        all,
      );
    },
  };
}
