/** A log entry for people: time, level, message, then the fields that vary from entry to entry. */

/** What every entry of a process repeats, and what is shown in another way. */
const HIDDEN = new Set(["level", "time", "msg", "service", "version", "instance", "err", "error", "name"]);

const COLOURS: Readonly<Record<string, number>> = { warn: 33, error: 31, fatal: 31, debug: 90, trace: 90 };

/** Renders one line of JSON as written by the log; passes on what is not one. */
export function formatLine(line: string, colour: boolean): string {
  const entry = parse(line);
  if (entry === null) return line;
  const paint = (code: number | undefined, text: string): string =>
    colour && code !== undefined ? `\u001B[${code}m${text}\u001B[0m` : text;
  const level = textOf(entry["level"]);
  const time = new Date(textOf(entry["time"])).toTimeString().slice(0, 8);
  const fields = Object.entries(entry)
    .filter(([key]) => !HIDDEN.has(key))
    .map(([key, value]) => paint(90, `${key}=`) + textOf(value));
  const head = [paint(90, time), paint(COLOURS[level], level.toUpperCase().padEnd(5)), textOf(entry["msg"])];
  return `${[...head, ...fields].join(" ")}\n${errorLines(entry["err"] ?? entry["error"])}`;
}

function parse(line: string): Record<string, unknown> | null {
  try {
    const entry: unknown = JSON.parse(line);
    return typeof entry === "object" && entry !== null ? (entry as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

function textOf(value: unknown): string {
  if (value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

function errorLines(error: unknown): string {
  if (error === undefined || error === null) return "";
  const { stack, message } = error as { stack?: unknown; message?: unknown };
  const text = textOf(stack ?? message ?? error);
  return `${text.replaceAll(/^/gm, "    ")}\n`;
}
