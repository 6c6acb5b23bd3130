/** The present tenure of an item, read without a lock. */
import { type Handle, statement } from "../statement.ts";

const present = statement<{ fence: number; agent: string | null; expires_at: Date | null }>(
  "tenure_present",
  `select fence, agent, expires_at from item_state where item_id = $1`,
);

export interface PresentTenure {
  readonly fence: number;
  readonly agent: string | null;
  readonly expiresAt: number | null;
}

export async function findTenure(handle: Handle, itemId: string): Promise<PresentTenure | null> {
  const [row] = await present(handle, [itemId]);
  return row ? { fence: row.fence, agent: row.agent, expiresAt: row.expires_at?.getTime() ?? null } : null;
}
