/** From an item as the operations answer it to the one that REST shows. */
import { createHash } from "node:crypto";
import type { ItemDto } from "../../contract/rest/item-dtos.ts";

interface Item {
  readonly id: string;
  readonly [field: string]: unknown;
}

/** What is null is left out; what is written with commas is a list. */
export function toItemDto(item: Item): ItemDto {
  const { tags, traits, needs, properties, summary, ancestors: _ancestors, ready: _ready, ...rest } = item;
  const dto = {
    ...present(rest),
    summary: typeof summary === "string" ? summary : "",
    tags: list(tags),
    traits: list(traits),
    needs: list(needs),
    properties: properties ?? {},
  } as unknown as Omit<ItemDto, "etag">;
  return { ...dto, etag: tagOf(dto) };
}

function present(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== null && value !== undefined),
  );
}

function list(value: unknown): string[] {
  return typeof value === "string" && value !== "" ? value.split(",") : [];
}

/**
 * The version, which is what `If-Match` is about, and a mark of where the item stands: a move changes
 * what a reader sees, and is no edit that a writer could lose.
 */
function tagOf(item: Omit<ItemDto, "etag">): string {
  const { role, statusLabel, isClaimed, dead, attempts, availableAt, roleChangedAt, modifiedAt, outcome } =
    item;
  const { blockers, blockedAncestors, openChildren } = item as Record<string, unknown>;
  const place = [
    role,
    statusLabel,
    isClaimed,
    dead,
    attempts,
    availableAt,
    roleChangedAt,
    modifiedAt,
    outcome,
  ];
  const stands = JSON.stringify([...place, blockers, blockedAncestors, openChildren]);
  return `v${item.version}-${createHash("sha256").update(stands).digest("hex").slice(0, 12)}`;
}
