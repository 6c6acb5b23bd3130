/** The secret of an installation that was given none: made by whoever comes first, the same for all replicas. */
import { randomBytes } from "node:crypto";
import { settleSetting } from "../../db/stores/settings-store.ts";
import type { EngineDeps } from "./deps.ts";

const SECRET_BYTES = 32;

/** What signs session ids when the configuration does not say. */
export function sharedSecret({ db }: Pick<EngineDeps, "db">): Promise<string> {
  return settleSetting(db, "secret-key", randomBytes(SECRET_BYTES).toString("base64url"));
}
