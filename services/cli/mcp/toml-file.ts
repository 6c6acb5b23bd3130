/**
 * Muster's entry in the TOML file of an MCP client, edited in place: comments, order and every
 * other key stay as they are.
 */
import { ENTRY, type McpClient, type ServerEntry, UnfitFile } from "./clients.ts";
import { scanToml, type TomlStatement } from "./toml-scan.ts";

/** @throws UnfitFile if it is not understood, or has the entry in a form that cannot be edited */
export function withTomlEntry(text: string | null, { key }: McpClient, entry: ServerEntry): string {
  const before = text ?? "";
  const own = [key, ENTRY];
  const values = { command: JSON.stringify(entry.command), args: JSON.stringify(entry.args) };
  const env = Object.fromEntries(
    Object.entries(entry.env).map(([name, value]) => [name, JSON.stringify(value)]),
  );
  const withEntry = setKeys(before, own, values);
  return Object.keys(env).length === 0 ? withEntry : setKeys(withEntry, [...own, "env"], env);
}

/** @throws UnfitFile as above */
export function withoutTomlEntry(text: string, { key }: McpClient): string {
  const statements = understood(text, [key, ENTRY]);
  let kept = "";
  let inside = false;
  for (const statement of statements) {
    if (isTable(statement)) inside = startsWith(statement.path, [key, ENTRY]);
    if (!inside) kept += text.slice(statement.start, statement.end);
  }
  return kept === text ? text : `${kept.trimEnd()}\n`.replace(/^\n$/, "");
}

/** Sets keys of one table, which is made at the end if it is not there. */
function setKeys(text: string, path: readonly string[], values: Readonly<Record<string, string>>): string {
  const statements = understood(text, path);
  const at = statements.findIndex((one) => one.kind === "table" && isSame(one.path, path));
  const lines = Object.entries(values).map(([name, value]) => `${name} = ${value}\n`);
  if (at < 0) {
    const gap = text === "" ? "" : text.endsWith("\n") ? "\n" : "\n\n";
    return `${text}${gap}[${path.join(".")}]\n${lines.join("")}`;
  }
  const head = statements[at];
  const next = statements.findIndex((one, index) => index > at && isTable(one));
  const inside = statements.slice(at + 1, next < 0 ? undefined : next);
  const kept = inside.filter(
    (one) => !(one.kind === "key" && one.path.length === 1 && (one.path[0] ?? "") in values),
  );
  const end = inside.at(-1)?.end ?? head?.end ?? 0;
  const headText = text.slice(head?.start, head?.end).replace(/\n?$/, "\n");
  const rest = kept.map((one) => text.slice(one.start, one.end)).join("");
  return `${text.slice(0, head?.start)}${headText}${lines.join("")}${rest}${text.slice(end)}`;
}

/** The same entry may be written in other ways, which are left to whoever wrote them. */
function understood(text: string, path: readonly string[]): TomlStatement[] {
  const statements = scanToml(text);
  let table: readonly string[] = [];
  for (const statement of statements) {
    if (isTable(statement)) table = statement.path;
    const whole = isTable(statement) ? statement.path : [...table, ...statement.path];
    const isInline = statement.kind === "key" && startsWith(path, whole);
    const isDotted = statement.kind === "key" && statement.path.length > 1 && startsWith(whole, path);
    const isList = statement.kind === "array table" && startsWith(path, whole);
    if (isInline || isDotted || isList)
      throw new UnfitFile(`it has ${whole.join(".")} in a form that is not edited here: write it as a table`);
  }
  return statements;
}

const isTable = ({ kind }: TomlStatement): boolean => kind === "table" || kind === "array table";

function startsWith(path: readonly string[], beginning: readonly string[]): boolean {
  return beginning.length > 0 && beginning.every((part, index) => path[index] === part);
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && startsWith(a, b);
}
