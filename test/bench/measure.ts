/**
 * Interleaved rounds: every contender runs in every round, in a rotated order, so that a
 * noisy minute of the machine hits all of them. Queues are filled once a round and last
 * for all of its cells. Only ratios of medians travel.
 */
import type { Contender } from "./contender.ts";

export interface Cell {
  readonly contender: string;
  readonly callers: number;
  /** Cycles per second, one figure a round. */
  readonly rates: number[];
  /** Ids that were handed out twice within a round. */
  duplicates: number;
}

export interface MeasureOptions {
  readonly callers: readonly number[];
  readonly rounds: number;
  readonly secondsPerCell: number;
  readonly rows: number;
  readonly onCell?: (cell: Cell, rate: number, round: number) => void;
}

export async function measure(contenders: readonly Contender[], options: MeasureOptions): Promise<Cell[]> {
  const cells = new Map<string, Cell>();
  for (let round = 0; round < options.rounds; round += 1) {
    for (const contender of contenders) await contender.prepare(options.rows);
    for (const callers of options.callers) {
      for (let turn = 0; turn < contenders.length; turn += 1) {
        const contender = contenders[(turn + round) % contenders.length];
        if (!contender) continue;
        const key = `${contender.name} ${callers}`;
        const cell = cells.get(key) ?? { contender: contender.name, callers, rates: [], duplicates: 0 };
        cells.set(key, cell);
        const { rate, duplicates } = await runFor(contender, callers, options.secondsPerCell);
        cell.rates.push(rate);
        cell.duplicates += duplicates;
        options.onCell?.(cell, rate, round);
      }
    }
  }
  return [...cells.values()];
}

export async function runFor(
  contender: Contender,
  callers: number,
  seconds: number,
): Promise<{ rate: number; duplicates: number }> {
  // A little of the same beforehand: connections, prepared statements, compiled code.
  await Promise.all(Array.from({ length: callers }, (_, caller) => contender.run(caller)));
  const seen = new Set<string>();
  let cycles = 0;
  let duplicates = 0;
  const startedAt = performance.now();
  const endsAt = startedAt + seconds * 1000;
  await Promise.all(
    Array.from({ length: callers }, async (_, caller) => {
      while (performance.now() < endsAt) {
        const id = await contender.run(caller);
        cycles += 1;
        if (id === "") continue;
        if (seen.has(id)) duplicates += 1;
        seen.add(id);
      }
    }),
  );
  return { rate: cycles / ((performance.now() - startedAt) / 1000), duplicates };
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? 0)) / 2;
}
