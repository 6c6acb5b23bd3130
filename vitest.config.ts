/**
 * Seven kinds of test, each with its own pace. Groups run one after another: processes that are
 * killed and databases that are stopped would otherwise take the clock from tests beside them.
 */
import { defineConfig } from "vitest/config";

interface Kind {
  readonly name: string;
  readonly group: number;
  readonly maxWorkers: number;
  readonly timeoutMs: number;
}

const KINDS: readonly Kind[] = [
  { name: "unit", group: 0, maxWorkers: 3, timeoutMs: 20_000 },
  { name: "contract", group: 0, maxWorkers: 3, timeoutMs: 30_000 },
  { name: "integration", group: 0, maxWorkers: 3, timeoutMs: 60_000 },
  { name: "scenarios", group: 0, maxWorkers: 3, timeoutMs: 60_000 },
  { name: "chart", group: 0, maxWorkers: 1, timeoutMs: 120_000 },
  { name: "e2e", group: 1, maxWorkers: 2, timeoutMs: 120_000 },
  { name: "fault", group: 2, maxWorkers: 1, timeoutMs: 300_000 },
];

export default defineConfig({
  test: {
    projects: KINDS.map((kind) => ({
      test: {
        name: kind.name,
        include: [`test/${kind.name}/**/*.test.ts`],
        environment: "node" as const,
        pool: "forks" as const,
        maxWorkers: kind.maxWorkers,
        testTimeout: kind.timeoutMs,
        hookTimeout: kind.timeoutMs,
        sequence: { groupOrder: kind.group },
        restoreMocks: true,
        unstubEnvs: true,
      },
    })),
  },
});
