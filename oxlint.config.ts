/**
 * Lint rules, and among them the layers of the system. An arrow of the architecture is
 * a line of LAYERS; whoever breaks it fails `npm run verify`.
 */
import { readFileSync } from "node:fs";
import { defineConfig, type OxlintOverride } from "oxlint";

interface Layer {
  /** Folders (or single files) that this layer may import, besides its own. */
  readonly may: readonly string[];
  /** The packages it may import. */
  readonly packages: readonly string[];
  /** No modules of Node either: no I/O and no clock by way of an import. */
  readonly pure?: boolean;
}

const INNER = ["services/core", "services/contract"];
const OUTER = [...INNER, "services/engine", "services/runtime", "services/coordination/port.ts"];

/** `main.ts` files compose a process and are let off; see the override for them below. */
const LAYERS: Readonly<Record<string, Layer>> = {
  "services/core": { may: [], packages: [], pure: true },
  "services/contract": { may: ["services/core"], packages: ["zod"] },
  "services/worker-sdk": { may: ["services/contract"], packages: [] },
  "services/runtime": { may: ["services/contract"], packages: ["zod", "pino", "prom-client"] },
  "services/coordination": { may: INNER, packages: ["ioredis"] },
  // Checks the proofs of actors for the engine; keys come from the network or a file.
  "services/verification": {
    may: [...INNER, "services/engine/actors/verifier.ts", "services/engine/tokens/access-token-verifier.ts"],
    packages: ["jose"],
  },
  db: { may: INNER, packages: ["kysely", "pg", "@electric-sql/pglite"] },
  "services/engine": {
    may: [...INNER, "db", "services/coordination/port.ts"],
    packages: ["croner", "kysely", "yaml"],
  },
  "services/api": {
    may: OUTER,
    packages: ["hono", "@hono/node-server", "@modelcontextprotocol/server", "pino", "zod"],
  },
  // BullMQ is how the scheduler of a fleet keeps its instants.
  "services/scheduler": { may: OUTER, packages: ["bullmq", "pino", "zod"] },
  // Of the engine, the types of what the doctor asks; only `main.ts` files open one.
  "services/cli": {
    may: ["services/worker-sdk", "services/contract", "services/runtime", "services/engine/facts.ts"],
    packages: ["commander", "pino", "zod"],
  },
};

/** What nobody but a composition root and the folder itself may import. */
const ADAPTERS = ["db/dialects", "services/coordination/redis", "services/coordination/local"];

/** A drawer for everything has no meaning; name the concept instead. */
const BANNED_NAMES = {
  regex: "(^|/)(utils?|helpers?|common|managers?)(/|\\.ts$)",
  message: "Name the concept that the file serves.",
};

/** Tables stay behind the engine, even for the file that opens the database. */
const TABLES = {
  regex: "^((\\.\\./)+db/stores/|kysely(/|$))",
  message: "Tables belong to the engine; call it instead.",
};

const PACKAGES = installedPackages();

function installedPackages(): string[] {
  const manifest = JSON.parse(readFileSync(new URL("package.json", import.meta.url), "utf8")) as {
    dependencies: Record<string, string>;
    devDependencies: Record<string, string>;
  };
  return Object.keys({ ...manifest.dependencies, ...manifest.devDependencies });
}

/** Globs of the ways in which a relative import can name a folder or a file. */
function importsOf(path: string): string[] {
  const name = path.replace(/^services\//, "");
  const tail = name.endsWith(".ts") ? name : `${name}/**`;
  const ways = path.startsWith("services/") ? [tail, `services/${tail}`] : [tail];
  return ways.flatMap((way) => [1, 2, 3, 4, 5].map((depth) => `${"../".repeat(depth)}${way}`));
}

function layerPatterns(folder: string, layer: Layer) {
  const may = layer.may.join(", ") || "nothing but itself";
  const forbidden = Object.keys(LAYERS).filter((other) => other !== folder && !layer.may.includes(other));
  const exceptions = layer.may.filter((path) => path.endsWith(".ts"));
  const adapters = ADAPTERS.filter((path) => !path.startsWith(folder));
  const packages = PACKAGES.filter((name) => !layer.packages.includes(name));
  return [
    {
      group: [...forbidden.flatMap(importsOf), ...exceptions.flatMap(importsOf).map((glob) => `!${glob}`)],
      message: `${folder} may import ${may}.`,
    },
    ...(adapters.length === 0
      ? []
      : [
          {
            group: adapters.flatMap(importsOf),
            message: "Only main.ts files choose adapters; take the port.",
          },
        ]),
    layer.pure === true
      ? { regex: "^[^.]", message: `${folder} is pure: no packages, no modules of Node.` }
      : { regex: `^(${packages.join("|")})(/|$)`, message: `${folder} does not know this package.` },
    BANNED_NAMES,
  ];
}

const layerOverrides = Object.entries(LAYERS).map(([folder, layer]): OxlintOverride => ({
  files: [`${folder}/**/*.ts`],
  excludeFiles: ["**/main.ts"],
  rules: { "eslint/no-restricted-imports": ["error", { patterns: layerPatterns(folder, layer) }] },
}));

export default defineConfig({
  plugins: ["eslint", "typescript", "unicorn", "oxc", "import", "promise", "node", "vitest"],
  options: { typeAware: true, denyWarnings: true, reportUnusedDisableDirectives: "error" },
  categories: { correctness: "error", suspicious: "error", perf: "error" },
  ignorePatterns: ["**/dist/**", "coverage/**", "test/**/golden/**"],
  rules: {
    "eslint/eqeqeq": "error",
    "eslint/max-lines": ["error", { max: 300, skipBlankLines: false, skipComments: false }],
    "eslint/max-lines-per-function": ["error", { max: 70, skipBlankLines: true, skipComments: true }],
    "eslint/no-console": "error",
    "eslint/no-restricted-imports": ["error", { patterns: [BANNED_NAMES] }],
    "import/no-cycle": "error",
    "import/no-default-export": "error",
    "import/no-duplicates": "error",
    "node/no-process-env": "error",
    "promise/no-return-wrap": "error",
    "typescript/consistent-type-imports": "error",
    "typescript/no-explicit-any": "error",
    "typescript/no-floating-promises": "error",
    "typescript/no-misused-promises": "error",
    "typescript/no-non-null-assertion": "error",
    "typescript/no-unsafe-argument": "error",
    "typescript/no-unsafe-assignment": "error",
    "typescript/no-unsafe-call": "error",
    "typescript/no-unsafe-function-type": "error",
    "typescript/no-unsafe-member-access": "error",
    "typescript/no-unsafe-return": "error",
    "typescript/only-throw-error": "error",
    "typescript/require-array-sort-compare": ["error", { ignoreStringArrays: true }],
    "typescript/return-await": ["error", "error-handling-correctness-only"],
    "typescript/switch-exhaustiveness-check": ["error", { considerDefaultExhaustiveForUnions: true }],
    "unicorn/filename-case": ["error", { case: "kebabCase" }],
    "unicorn/prefer-node-protocol": "error",

    // Statements that depend on each other (locks, retries, ordered writes) are awaited in a loop on purpose.
    "eslint/no-await-in-loop": "off",
    // A decision function and the row it decides on often share a word; the inner one is meant.
    "eslint/no-shadow": "off",
    // Says that a parameter called `_x` has a wrong name; it marks what an interface asks for and we do not need.
    "eslint/no-underscore-dangle": "off",
    // Copying rows into new objects is how immutable data is changed here; the maps are small.
    "oxc/no-map-spread": "off",
    "oxc/no-accumulating-spread": "error",
    // Rewrites `for` loops over small lists into harder-to-read calls.
    "unicorn/prefer-set-has": "off",
    // A callback that needs nothing of its surroundings may still read best beside its only use.
    "unicorn/consistent-function-scoping": "off",
    // Factories hand out closures, and their interfaces use method syntax: taking them apart is safe.
    "typescript/unbound-method": "off",
    // TypeScript knows that a switch over every case returns; this rule does not.
    "typescript/consistent-return": "off",
    // A private row type may cross a boundary that zod or the SQL statement beside it vouches for.
    "typescript/no-unsafe-type-assertion": "off",
    // Errors of drivers are wrapped where they become ours; `cause` is set there.
    "eslint/preserve-caught-error": "error",
    // Side-effect imports do not exist here except in tests of them.
    "import/no-unassigned-import": "error",
    // `new Promise` around an event is sometimes the only bridge.
    "promise/avoid-new": "off",
    // `.then` on a promise kept for later is clearer than an async closure run at once.
    "promise/prefer-await-to-then": "off",
    "promise/always-return": "off",
  },
  overrides: [
    ...layerOverrides,
    {
      files: ["services/{api,scheduler,cli}/**/main.ts"],
      rules: { "eslint/no-restricted-imports": ["error", { patterns: [TABLES, BANNED_NAMES] }] },
    },
    {
      // The one place that reads the environment, and the scripts that start processes with one.
      files: ["services/runtime/**/*.ts", "scripts/**", "test/**/*.ts"],
      rules: { "node/no-process-env": "off" },
    },
    {
      // Programs that talk to a person on a terminal.
      files: ["scripts/**", "services/cli/**/*.ts", "test/bench/**/*.ts"],
      rules: { "eslint/no-console": "off" },
    },
    {
      // A suite is one function and reads from top to bottom; a migration is history.
      files: ["test/**/*.ts", "db/migrations/**/*.ts"],
      rules: { "eslint/max-lines": "off", "eslint/max-lines-per-function": "off" },
    },
    {
      files: ["test/**/*.ts"],
      rules: {
        // Suites that run for several adapters take their title from an argument.
        "vitest/valid-title": "off",
        // Properties and shared suites assert inside functions they are handed.
        "vitest/expect-expect": "off",
        // A suite for two databases is made by a loop around `describe`.
        "vitest/require-top-level-describe": "off",
        // The implementation handed to a mock has types already.
        "vitest/require-mock-type-parameters": "off",
        // Narrowing a tagged answer before the assertion is the point of the tag.
        "vitest/no-conditional-expect": "off",
        "vitest/no-conditional-tests": "off",
      },
    },
    {
      // Plain JavaScript, because it runs before anything is installed: nothing in it has types.
      files: ["scripts/install.mjs"],
      rules: {
        "typescript/no-unsafe-argument": "off",
        "typescript/no-unsafe-assignment": "off",
        "typescript/no-unsafe-call": "off",
        "typescript/no-unsafe-member-access": "off",
        "typescript/no-unsafe-return": "off",
      },
    },
    {
      // These tools read a default export.
      files: ["*.config.ts"],
      rules: { "import/no-default-export": "off" },
    },
  ],
});
