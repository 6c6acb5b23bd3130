/**
 * What a configuration text says, once YAML has been read: checked, and turned into what the
 * rules of schemas work with. Every fault is named with its path, its cause and what would be
 * right; nothing of a text with a fault is used.
 */
import { z } from "zod";
import type { ConfigLayer } from "../../core/schemas/config-layer.ts";
import type { RetentionWindows } from "../../core/retention.ts";
import type { ActorAuthentication } from "./actor-authentication.ts";
import { describe, pathText } from "../parse.ts";
import { nearestName } from "../unknown-key.ts";
import { hintsOf, serverHintsOf } from "./config-hints.ts";
import { seatFaults } from "./seat-faults.ts";
import { projectSections, type ProjectSections, serverSections, type ServerSections } from "./sections.ts";
import { isRecord, type KnownKeys, separateUnknown } from "./separate-unknown.ts";
import { toLayer } from "./to-layer.ts";
import { toRetention } from "./to-retention.ts";

/** What the clients of task-orchestrator read for themselves. */
const CLIENT_SECTIONS = ["project", "retrospective", "orchestration", "actor_attribution"];
/** Once asked for by task-orchestrator; what it promised would silently not be there. */
const REMOVED_SECTIONS: ReadonlyMap<string, string> = new Map([
  ["auditing", "was renamed: write it as actor_authentication"],
]);
const FAULTS_SHOWN_MAX = 20;

interface Said {
  readonly layer: ConfigLayer;
  /** Sections that are for others, or only for the server's own file. */
  readonly ignoredSections: readonly string[];
  /** What is accepted and probably not meant. */
  readonly warnings: readonly string[];
}

export interface ProjectConfig extends Said {
  /** The root that the text says it belongs to. */
  readonly rootId: string | null;
}

export interface ServerConfig extends Said {
  readonly identity: "session" | "actor" | null;
  /** Undefined: nothing is verified. */
  readonly actorAuthentication: ActorAuthentication | undefined;
  readonly retention: RetentionWindows;
}

export type Parsed<C> =
  | { readonly ok: true; readonly config: C }
  /** Each names a place, what is wrong there and what would be right. */
  | { readonly ok: false; readonly faults: readonly string[] };

/** The text that a project brings along. */
export function parseProjectConfig(data: unknown): Parsed<ProjectConfig> {
  return parse(projectSections, data, (sections: ProjectSections, said) => ({
    ...said,
    rootId: sections.project?.rootId ?? null,
  }));
}

/** The server's own file. */
export function parseServerConfig(data: unknown): Parsed<ServerConfig> {
  return parse(serverSections, data, (sections: ServerSections, said) => ({
    ...said,
    warnings: [...said.warnings, ...serverHintsOf(sections)],
    identity: sections.identity ?? null,
    actorAuthentication: sections.actor_authentication,
    retention: toRetention(sections.retention),
  }));
}

function parse<S extends typeof projectSections | typeof serverSections, C>(
  schema: S,
  data: unknown,
  finish: (sections: z.output<S>, said: Said) => C,
): Parsed<C> {
  // A text of comments only.
  const whole = data ?? {};
  if (!isRecord(whole)) return refused(["the text must be a list of sections, such as work_item_schemas:"]);
  const top = topLevel(schema, whole);
  const { value, unknown } = separateUnknown(knownKeys(schema), top.known);
  const slips = unknown.filter(({ near }) => near !== undefined);
  const parsed = schema.safeParse(value, { error: describe });
  const faults = [
    ...top.faults,
    ...slips.map(({ path, key, near }) => `${pathText([...path, key])}: is not known; did you mean ${near}?`),
    ...(parsed.error?.issues ?? []).map(faultText),
    ...(parsed.success ? seatFaults(parsed.data) : []),
  ];
  if (faults.length > 0 || !parsed.success) return refused(faults);
  const sections = parsed.data as z.output<S>;
  return {
    ok: true,
    config: finish(sections, {
      layer: toLayer(sections),
      ignoredSections: top.ignored,
      warnings: [
        ...unknown.map(({ path, key }) => `${pathText([...path, key])}: is not known and was ignored`),
        ...hintsOf(sections),
      ],
    }),
  };
}

function refused(faults: readonly string[]): Parsed<never> {
  const shown = faults.slice(0, FAULTS_SHOWN_MAX);
  const more = faults.length - shown.length;
  return { ok: false, faults: more > 0 ? [...shown, `and ${more} more`] : shown };
}

interface TopLevel {
  readonly known: Readonly<Record<string, unknown>>;
  readonly ignored: readonly string[];
  readonly faults: readonly string[];
}

/** Tells our sections from those of others, and both from a slip of the pen. */
function topLevel(schema: z.ZodObject, whole: Readonly<Record<string, unknown>>): TopLevel {
  const ours = Object.keys(schema.shape);
  const elsewhere = Object.keys(serverSections.shape);
  const known: [string, unknown][] = [];
  const ignored: string[] = [];
  const faults: string[] = [];
  for (const [name, value] of Object.entries(whole)) {
    const removed = REMOVED_SECTIONS.get(name);
    if (removed !== undefined) faults.push(`${name}: ${removed}`);
    else if (Object.hasOwn(schema.shape, name)) known.push([name, value ?? undefined]);
    else if (CLIENT_SECTIONS.includes(name) || elsewhere.includes(name)) ignored.push(name);
    else {
      const near = nearestName(name, ours);
      if (near === undefined) ignored.push(name);
      else faults.push(`${name}: is not a section; did you mean ${near}?`);
    }
  }
  return { known: Object.fromEntries(known), ignored, faults };
}

const keysKnown = new WeakMap<z.ZodObject, KnownKeys>();

function knownKeys(schema: z.ZodObject): KnownKeys {
  let known = keysKnown.get(schema);
  if (known === undefined) {
    known = z.toJSONSchema(schema, { io: "output", unrepresentable: "any" }) as KnownKeys;
    // Who is believed is no place for keys that nobody knows: those are left to the schema, which refuses them.
    if (known.properties?.["actor_authentication"] !== undefined)
      known = { ...known, properties: { ...known.properties, actor_authentication: {} } };
    keysKnown.set(schema, known);
  }
  return known;
}

function faultText(issue: z.core.$ZodIssue): string {
  const path = pathText(issue.path);
  if (issue.code === "unrecognized_keys") return `${path}: ${issue.keys.join(", ")} is not known here`;
  return path === "" ? issue.message : `${path}: ${issue.message}`;
}
