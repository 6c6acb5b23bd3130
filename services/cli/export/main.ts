/**
 * `muster export` and `muster import` of a root as lines of JSON: everything of it, out of one
 * database and into another. Both work on the database itself; embedded, no server may run.
 */
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { EXIT } from "../../contract/errors.ts";
import { readBundle, UnfitBundle } from "../../contract/root-bundle.ts";
import { ExitError } from "../../runtime/exit.ts";
import { withDatabase } from "../import/main.ts";
import { print, say, table } from "../output.ts";

/** Rows go to standard output; what is said about them goes to standard error. */
export async function exportRoot(root: string, { json }: { readonly json: boolean }): Promise<void> {
  await withDatabase("export", async (opened) => {
    const counts = await opened.transfers.exportRoot(root, (line) => void process.stdout.write(`${line}\n`));
    const items = counts["items"] ?? 0;
    const said = `${items} ${items === 1 ? "item" : "items"}, and everything that belongs to ${items === 1 ? "it" : "them"}.`;
    say(json ? JSON.stringify({ rows: counts }) : said);
  });
}

export async function importRoot(file: string, { json }: { readonly json: boolean }): Promise<void> {
  const input = file === "-" ? process.stdin : createReadStream(file);
  try {
    const bundle = await readBundle(createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY }));
    await withDatabase("import", async (opened) => {
      const report = await opened.transfers.importBundle(bundle);
      print(json, report, () => describe(report));
    });
  } catch (error) {
    if (error instanceof UnfitBundle)
      throw new ExitError(EXIT.refused, `${file} is not imported: ${error.message}.`, { cause: error });
    if ((error as NodeJS.ErrnoException).code === "ENOENT")
      throw new ExitError(EXIT.notFound, `There is no file ${file}.`, { cause: error });
    throw error;
  }
}

interface Report {
  readonly rootId: string;
  readonly tables: Readonly<Record<string, { readonly found: number; readonly imported: number }>>;
  readonly claimsReleased: number;
}

function describe({ rootId, tables, claimsReleased }: Report): string {
  const rows = Object.entries(tables).map(([name, { found, imported }]) => [
    name,
    String(found),
    String(imported),
  ]);
  const claims = claimsReleased === 0 ? [] : [`Claims do not travel: ${claimsReleased} released.`];
  return [table(["TABLE", "FOUND", "IMPORTED"], rows), ...claims, `The root is ${rootId}.`].join("\n");
}
