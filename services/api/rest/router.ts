/**
 * Finds the row for a path. Segments are taken apart before they are decoded, so that
 * `rule%2Fstyle` is one segment; `{name+}` takes the rest of the path, slashes and all,
 * for the keys of resources and notes and the slugs of rules, which may have some.
 */
import type { Route } from "./route.ts";

export interface Found {
  /** Rows of this address, one per method. */
  readonly rows: readonly Route[];
  readonly params: Readonly<Record<string, string>>;
}

interface Pattern {
  readonly segments: readonly string[];
  readonly rows: Route[];
}

export type Router = (path: string) => Found | null;

/** @throws Error for two rows with one address and one method */
export function createRouter(routes: readonly Route[]): Router {
  const byPath = new Map<string, Pattern>();
  for (const row of routes) {
    const pattern = byPath.get(row.path) ?? { segments: row.path.split("/").slice(1), rows: [] };
    if (pattern.rows.some((other) => other.method === row.method))
      throw new Error(`${row.method} ${row.path} is served twice`);
    pattern.rows.push(row);
    byPath.set(row.path, pattern);
  }
  const patterns = [...byPath.values()].toSorted((a, b) => generality(a) - generality(b));
  return (path) => {
    const segments = path.split("/").slice(1);
    for (const { segments: wanted, rows } of patterns) {
      const params = match(wanted, segments);
      if (params !== null) return { rows, params };
    }
    return null;
  };
}

/** Fewer parameters first, and those that take the rest of the path last. */
function generality({ segments }: Pattern): number {
  return segments.reduce((sum, one) => sum + (one.endsWith("+}") ? 100 : one.startsWith("{") ? 1 : 0), 0);
}

function match(wanted: readonly string[], given: readonly string[]): Record<string, string> | null {
  const params: Record<string, string> = {};
  for (const [index, part] of wanted.entries()) {
    const rest = part.endsWith("+}");
    const text = rest ? given.slice(index).join("/") : given[index];
    if (text === undefined || text === "") return null;
    if (!part.startsWith("{")) {
      if (part !== text) return null;
      continue;
    }
    const value = decoded(text);
    if (value === null) return null;
    params[part.slice(1, rest ? -2 : -1)] = value;
    if (rest) return params;
  }
  return wanted.length === given.length ? params : null;
}

/** Null for an escape that stands for no character. */
function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
