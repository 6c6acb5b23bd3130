/**
 * What commands print. Data goes to standard output, talk to standard error: a command can
 * be piped whatever it has to say.
 */

/** The answer of a command: for people, or with `--json` for programs. */
export function print(json: boolean, value: unknown, text: () => string): void {
  process.stdout.write(`${json ? JSON.stringify(value) : text()}\n`);
}

export function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** Columns as wide as their content; the last one ends where it ends. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => (row[column] ?? "").length)));
  return all
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** `4m 05s`: how long until or since. */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m ${String(seconds % 60).padStart(2, "0")}s`;
  return `${Math.floor(seconds / 3600)}h ${String(Math.floor((seconds % 3600) / 60)).padStart(2, "0")}m`;
}

export function since(instant: string): string {
  return `${duration(Date.now() - Date.parse(instant))} ago`;
}

/** Titles come from agents: control characters in them must not reach the terminal. */
export function oneLine(text: string, max = 60): string {
  const plain = text.replaceAll(/\p{C}+/gu, " ").trim();
  return plain.length > max ? `${plain.slice(0, max - 1)}…` : plain;
}
