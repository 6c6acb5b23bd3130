/**
 * The statements of a TOML file: tables and keys, and where each begins and ends. No values are
 * read. It knows enough to be sure where strings, arrays and comments end; of anything else it
 * says so, and the file is left alone.
 */
import { UnfitFile } from "./clients.ts";

export interface TomlStatement {
  readonly kind: "table" | "array table" | "key" | "blank";
  /** Of a table its whole path; of a key the path within its table. */
  readonly path: readonly string[];
  readonly start: number;
  /** Behind the line that it ends on. */
  readonly end: number;
}

const PART = /\s*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([A-Za-z0-9_-]+))\s*/y;

/** @throws UnfitFile naming the line that it does not understand */
export function scanToml(text: string): TomlStatement[] {
  const statements: TomlStatement[] = [];
  for (let at = 0; at < text.length;) {
    const statement = scanStatement(text, at);
    statements.push(statement);
    at = statement.end;
  }
  return statements;
}

function scanStatement(text: string, start: number): TomlStatement {
  const first = skip(text, start, /[ \t]*/y);
  if (first >= text.length || /[\r\n#]/.test(text[first] ?? "")) {
    return { kind: "blank", path: [], start, end: lineEnd(text, first, start) };
  }
  if (text[first] !== "[") {
    const { path, at } = scanPath(text, first, "=", start);
    return { kind: "key", path, start, end: lineEnd(text, scanValue(text, at + 1, start), start) };
  }
  const isArray = text[first + 1] === "[";
  const { path, at } = scanPath(text, first + (isArray ? 2 : 1), "]", start);
  const close = isArray ? at + 2 : at + 1;
  if (isArray && text[at + 1] !== "]") throw unfit(text, start);
  return { kind: isArray ? "array table" : "table", path, start, end: lineEnd(text, close, start) };
}

function scanPath(text: string, from: number, until: string, start: number): { path: string[]; at: number } {
  const path: string[] = [];
  for (let at = from; ;) {
    PART.lastIndex = at;
    const part = PART.exec(text);
    if (part === null) throw unfit(text, start);
    path.push(part[1] ?? part[2] ?? part[3] ?? "");
    at = PART.lastIndex;
    if (text[at] === until) return { path, at };
    if (text[at] !== ".") throw unfit(text, start);
    at += 1;
  }
}

const STRINGS = [
  /"""(?:[^\\]|\\[\s\S])*?"""+/y,
  /'''[\s\S]*?'''+/y,
  /"(?:[^"\\\r\n]|\\.)*"/y,
  /'[^'\r\n]*'/y,
];
const SCALAR = /[A-Za-z0-9+\-_.:][A-Za-z0-9+\-_.: ]*/y;

/** Answers where the value ends. Brackets may span lines and hold comments. */
function scanValue(text: string, from: number, start: number): number {
  let depth = 0;
  for (let at = from; ;) {
    at = skip(text, at, depth > 0 ? /(?:[\s,=]|#[^\n]*)*/y : /[ \t]*/y);
    const char = text[at];
    if (char === undefined) throw unfit(text, start);
    if (char === "[" || char === "{") {
      depth += 1;
      at += 1;
    } else if (char === "]" || char === "}") {
      depth -= 1;
      at += 1;
    } else {
      at = scanScalar(text, at, start);
    }
    if (depth < 0) throw unfit(text, start);
    if (depth === 0) return at;
  }
}

function scanScalar(text: string, at: number, start: number): number {
  for (const form of [...STRINGS, SCALAR]) {
    form.lastIndex = at;
    if (form.test(text)) return form.lastIndex;
  }
  throw unfit(text, start);
}

/** Behind the line; nothing but a comment may follow. */
function lineEnd(text: string, at: number, start: number): number {
  const rest = /[ \t]*(?:#[^\n]*)?(?:\r?\n|$)/y;
  rest.lastIndex = at;
  if (!rest.test(text)) throw unfit(text, start);
  return rest.lastIndex;
}

function skip(text: string, at: number, what: RegExp): number {
  what.lastIndex = at;
  what.test(text);
  return what.lastIndex;
}

function unfit(text: string, start: number): UnfitFile {
  return new UnfitFile(`line ${text.slice(0, start).split("\n").length} is no TOML that is understood here`);
}
