/**
 * Text for models and terminals: enough to act on alone, and bounded, since a
 * model pays for every line. Ids are always in full, never shortened.
 */

const LINES_MAX = 40;

/** Joins lines; beyond the limit says how many are left out. */
export function bounded(lines: readonly (string | null | undefined | false)[], max = LINES_MAX): string {
  const kept = lines.filter((line): line is string => typeof line === "string" && line !== "");
  if (kept.length <= max) return kept.join("\n");
  return [...kept.slice(0, max), `… and ${kept.length - max} more`].join("\n");
}

/** One line of text from something that may span many. */
export function oneLine(text: string, max = 200): string {
  const flat = text.replace(/\s+/g, " ").trim();
  return flat.length <= max ? flat : `${flat.slice(0, max - 1)}…`;
}

const EXCERPT_LENGTH = 8_000;
const EXCERPT_SIZE_MAX_BYTES = 24_000;

/** The beginning of a long text, which the structured answer has in full: bounded in bytes as sent. */
export function excerpt(text: string): string {
  let part = text.slice(0, EXCERPT_LENGTH);
  while (new TextEncoder().encode(JSON.stringify(part)).length > EXCERPT_SIZE_MAX_BYTES + 2) {
    part = part.slice(0, Math.floor(part.length / 2));
  }
  return part;
}

/** `key=value` for each part that is there. */
export function facts(parts: Readonly<Record<string, unknown>>): string {
  return Object.entries(parts)
    .filter(([, value]) => value !== undefined && value !== null && value !== "" && value !== false)
    .map(([key, value]) => `${key}=${Array.isArray(value) ? value.join(",") : String(value)}`)
    .join(" ");
}

interface ItemLine {
  readonly id: string;
  readonly title: string;
  readonly role: string;
  readonly priority?: string;
  readonly complexity?: number | null | undefined;
  readonly tags?: string | null | undefined;
}

/** An item on one line: id, place, weight, title. */
export function itemLine(item: ItemLine): string {
  const tags = item.tags ? oneLine(item.tags, 120) : null;
  const weight = facts({ complexity: item.complexity, tags });
  const place = [item.role, item.priority].filter(Boolean).join("/");
  return `${item.id} [${place}] ${oneLine(item.title, 120)}${weight === "" ? "" : ` (${weight})`}`;
}

interface FailedElement {
  readonly index: number;
  readonly id?: string | undefined;
  readonly error: string;
  readonly errorCode: string;
  readonly hint?: string | undefined;
  readonly details?: Readonly<Record<string, unknown>> | undefined;
}

/** One failed element of a batch. */
export function failureLine(failure: FailedElement): string {
  const hint = failure.hint === undefined ? "" : ` Next: ${failure.hint}`;
  const id = failure.id === undefined ? "" : ` ${failure.id}`;
  return `FAILED #${failure.index}${id}: ${failure.errorCode}: ${failure.error}${matchesText(failure.details)}${hint}`;
}

/**
 * The items that an id prefix may mean, to be put behind the message: whoever reads the text
 * alone cannot choose between matches that only the structured answer lists. Empty without any.
 */
export function matchesText(details: Readonly<Record<string, unknown>> | undefined): string {
  const matches = details?.["matches"];
  if (!Array.isArray(matches)) return "";
  const named = matches.map((match: { readonly id?: unknown; readonly title?: unknown }) => {
    const title = typeof match.title === "string" ? ` "${oneLine(match.title, 80)}"` : "";
    return `${String(match.id)}${title}`;
  });
  return `: ${named.join(", ")}`;
}
