/** What a REST request may do besides what its credential says. */
import type { Access } from "../../engine/access.ts";

/** A write answers what it made: that much may be read with the right to write it. */
export function withRead(access: Access): Access {
  return access.capabilities.has("read")
    ? access
    : { ...access, capabilities: new Set([...access.capabilities, "read"]) };
}
