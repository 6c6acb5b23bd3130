/** The figures as tables of ratios. */
import { cpus, totalmem } from "node:os";
import { type Cell, median } from "./measure.ts";

const rateOf = (cells: readonly Cell[], contender: string, callers: number): number => {
  const cell = cells.find((one) => one.contender === contender && one.callers === callers);
  return cell ? median(cell.rates) : 0;
};

/** One line a contender, one column a number of callers: cycles per second and the ratio to the baseline. */
export function table(cells: readonly Cell[], baseline: string): string {
  const callers = [...new Set(cells.map((cell) => cell.callers))];
  const contenders = [...new Set(cells.map((cell) => cell.contender))];
  const head = `| cycles/s (× ${baseline}) | ${callers.map((n) => `${n} caller${n === 1 ? "" : "s"}`).join(" | ")} |`;
  const rule = `| --- |${callers.map(() => " --- |").join("")}`;
  const lines = contenders.map((contender) => {
    const figures = callers.map((n) => {
      const rate = rateOf(cells, contender, n);
      const base = rateOf(cells, baseline, n);
      return `${Math.round(rate)} (${base === 0 ? "–" : (rate / base).toFixed(2)})`;
    });
    return `| ${contender} | ${figures.join(" | ")} |`;
  });
  return [head, rule, ...lines].join("\n");
}

export function duplicatesOf(cells: readonly Cell[]): number {
  return cells.reduce((sum, cell) => sum + cell.duplicates, 0);
}

export function machine(): string {
  const [cpu] = cpus();
  return `${cpus().length} × ${cpu?.model ?? "unknown processor"}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}`;
}
