/**
 * Requests made up from an OpenAPI document: most as it asks for, the others with one part
 * out of bounds or malformed. What answers bring (ids, ETags) goes into later requests, so
 * that they reach past the first check. The same seed makes the same choices.
 */
import { seeded } from "./seeded.ts";

export interface FuzzRequest {
  readonly route: string;
  readonly method: string;
  /** Path and query, as sent. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly malformed: boolean;
}

interface Schema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: unknown;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema: Schema;
}

interface Operation {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
  readonly responses: Readonly<Record<string, unknown>>;
}

export interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

const NASTY_TEXTS = [
  "",
  " ",
  "null",
  "undefined",
  "-1",
  "0",
  "1e309",
  "NaN",
  "9007199254740993",
  "99999999999999999999",
  "true",
  "\u0000",
  "a\u0000b",
  "\uD800",
  "\u202Eabc",
  "🦄".repeat(50),
  "x".repeat(4_000),
  "../../etc/passwd",
  "'; drop table items; --",
  "%",
  "%00",
  "{}",
  "[]",
  "a,b,,c",
  "2026-13-45T99:99:99Z",
  "0000-00-00",
  "+275760-09-13T00:00:00.001Z",
  "__proto__",
  "constructor",
  "00000000-0000-0000-0000-000000000000",
  "ffffffff",
  "//",
];

function deep(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level += 1) value = { a: value };
  return value;
}

const NASTY_VALUES: readonly unknown[] = [
  ...NASTY_TEXTS,
  null,
  true,
  0,
  -1,
  1.5,
  1e300,
  Number.MAX_SAFE_INTEGER,
  [],
  [null],
  ["x", 1],
  {},
  { a: 1 },
  deep(60),
  Array.from({ length: 300 }, (_, index) => `t${index}`),
];

/** A configuration that can be pushed any number of times: each body is another one by its comment. */
export const FUZZ_CONFIG =
  "work_item_schemas:\n  task:\n    notes:\n      - key: spec\n        role: queue\n";
const WORDS = ["alpha", "beta", "gamma", "delta", "review", "deploy"];

/** What answers have brought so far. */
export class Found {
  readonly items: string[] = [];
  readonly roots: string[] = [];
  readonly edges: string[] = [];
  readonly deleted: string[] = [];
  /** A project that is configured, planned and ruled, and a task of it with a note; never deleted. */
  home: { readonly root: string; readonly task: string } | null = null;
  readonly etags = new Map<string, string>();
}

export class RequestFuzz {
  readonly found = new Found();
  readonly #random: () => number;
  readonly #document: OpenApi;

  constructor(document: OpenApi, seed: number) {
    this.#document = document;
    this.#random = seeded(seed);
  }

  /** `METHOD path` of everything that the document has, but for streams: their answers do not end. */
  get routes(): string[] {
    return Object.entries(this.#document.paths).flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([, { responses }]) => !JSON.stringify(responses).includes("text/event-stream"))
        .map(([method]) => `${method.toUpperCase()} ${path}`),
    );
  }

  /** True if the document says that the route may answer so. */
  isDocumented(route: string, status: number): boolean {
    const { responses } = this.#operation(route);
    return String(status) in responses || (status >= 400 && "default" in responses);
  }

  /** Three of ten are malformed; by chance, so that no route is always asked for in the same way. */
  next(route: string, malformed = this.#chance(0.3)): FuzzRequest {
    const [method = "", path = ""] = route.split(" ");
    const { parameters = [], requestBody } = this.#operation(route);
    const bodyTypes = Object.entries(requestBody?.content ?? {});
    const spots = [
      ...parameters.map((one) => one.name),
      ...(bodyTypes.length === 0 ? [] : ["(body)", "(body)"]),
    ];
    const broken = malformed && spots.length > 0 ? this.#pick(spots) : null;
    const values = new Map<string, string>();
    for (const parameter of parameters) {
      const value = this.#parameter(parameter, route, broken === parameter.name);
      if (value !== undefined) values.set(parameter.name, value);
    }
    if (malformed && spots.length === 0) values.set("(extra)", this.#pick(NASTY_TEXTS));
    const itemId = values.get("id") ?? "";
    const headers = this.#headers(parameters, values, itemId);
    const [type, media] = bodyTypes.length === 0 ? [] : this.#pick(bodyTypes);
    const body =
      type === undefined || media === undefined
        ? undefined
        : this.#body(type, media.schema, route, broken === "(body)");
    if (type !== undefined)
      headers["content-type"] = broken === "(body)" && this.#chance(0.1) ? "text/csv" : type;
    return { route, method, target: target(path, parameters, values), headers, body, malformed };
  }

  /** Remembers what a successful answer is good for. */
  learn(request: FuzzRequest, status: number, answer: unknown, etag: string | null): void {
    if (status >= 300 || typeof answer !== "object" || answer === null) return;
    const { id, depth, fromItemId } = answer as Record<string, unknown>;
    if (typeof id !== "string") return;
    if (request.route === "POST /api/v1/dependencies" && typeof fromItemId === "string")
      remember(this.found.edges, id);
    if (typeof depth !== "number") return;
    remember(this.found.items, id);
    if (depth === 0) remember(this.found.roots, id);
    if (etag !== null) this.found.etags.set(id, etag);
  }

  #operation(route: string): Operation {
    const [method = "", path = ""] = route.split(" ");
    const operation = this.#document.paths[path]?.[method.toLowerCase()];
    if (operation === undefined) throw new Error(`the document has no ${route}`);
    return operation;
  }

  #headers(
    parameters: readonly Parameter[],
    values: ReadonlyMap<string, string>,
    itemId: string,
  ): Record<string, string> {
    const headers: Record<string, string> = {};
    for (const { name, in: place } of parameters) {
      const value = values.get(name);
      if (place !== "header" || value === undefined) continue;
      const known = name === "If-Match" ? (this.found.etags.get(itemId) ?? "*") : value;
      // Headers take Latin letters only; what cannot be sent is not a request.
      const sent = (value === "*" ? known : value)
        .replaceAll(/[^\u0021-\u007e\u00a1-\u00ff ]/g, "?")
        .slice(0, 500);
      headers[name.toLowerCase()] = sent;
    }
    return headers;
  }

  #parameter(parameter: Parameter, route: string, broken: boolean): string | undefined {
    const { name, required = false, schema, in: place } = parameter;
    if (broken) return this.#pick(NASTY_TEXTS) || (place === "path" ? "x" : "");
    if (name === "If-Match") return required || this.#chance(0.2) ? "*" : undefined;
    if (name === "If-None-Match") return this.#chance(0.2) ? '"v1-abc"' : undefined;
    if (!required && !this.#chance(0.25)) return undefined;
    const value = this.#value(name, schema, route);
    return value === undefined || typeof value === "string" ? value : JSON.stringify(value);
  }

  #body(type: string, schema: Schema, route: string, broken: boolean): string {
    if (schema.type === "string") {
      if (broken) return this.#pick(NASTY_TEXTS);
      return route.includes("/config")
        ? `${FUZZ_CONFIG}# ${this.#pick(WORDS)}${Math.floor(this.#random() * 1e6)}\n`
        : "# Plan\n\ntext";
    }
    if (broken && this.#chance(0.15)) return this.#pick(["", "{", "[1,2", "nul", '{"a":1}}', "\u0000"]);
    const body = this.#object(schema, route, type.includes("patch"));
    if (broken) {
      const name = this.#pick([...Object.keys(schema.properties ?? {}), "unheardOf"]);
      Object.defineProperty(body, name, { value: this.#pick(NASTY_VALUES), enumerable: true });
    }
    return JSON.stringify(body);
  }

  #object(schema: Schema, route: string, atLeastOne: boolean): Record<string, unknown> {
    const { properties = {} } = schema;
    let { required = [] } = schema;
    const body: Record<string, unknown> = atLeastOne ? { title: this.#text() } : {};
    // Exactly one of several has to be there, which a schema without unions does not say.
    if (/POST \/api\/v1\/(claims|trash\/restore|dead\/\w+)$/.test(route))
      required = [...required, route.endsWith("/claims") ? "itemId" : "itemIds"];
    for (const [name, field] of Object.entries(properties)) {
      if (!required.includes(name) && !this.#chance(0.2)) continue;
      const value = this.#value(name, field, route);
      if (value !== undefined) body[name] = value;
    }
    return body;
  }

  #value(name: string, schema: Schema, route: string): unknown {
    const known = this.#known(name, route);
    if (known !== null) return known;
    if (schema.enum !== undefined) return this.#pick(schema.enum);
    const [first] = schema.anyOf ?? [];
    if (first !== undefined) return this.#value(name, first, route);
    switch (schema.type) {
      case "integer":
      case "number":
        return this.#number(schema);
      case "boolean":
        return this.#chance(0.5);
      case "array":
        return [this.#value(name, schema.items ?? { type: "string" }, route)];
      case "object":
        return schema.properties === undefined ? { note: this.#text() } : this.#object(schema, route, false);
      default:
        return this.#text();
    }
  }

  #number({ minimum = 1, maximum = 1_000 }: Schema): number {
    if (this.#chance(0.2)) return this.#pick([minimum, Math.min(maximum, 1_000_000)]);
    return minimum + Math.floor(this.#random() * Math.min(10, maximum - minimum + 1));
  }

  /** Values whose meaning the schema does not tell; undefined leaves the part out, null knows nothing. */
  #known(name: string, route: string): unknown {
    const { items, roots, edges } = this.found;
    switch (name) {
      case "id":
        if (route.includes("/dependencies/")) return edges.shift() ?? "00000000-0000-4000-8000-000000000000";
        if (route === "DELETE /api/v1/items/{id}") {
          const gone = items.shift() ?? "abcd";
          this.found.deleted.push(gone);
          return gone;
        }
        return this.#home(route, /schema|\/notes\/\{key\}/)?.task ?? this.#pick(items);
      case "itemId":
      case "parentId":
      case "fromItemId":
      case "toItemId":
      case "ancestorId":
        return this.#pick(items);
      case "rootId":
        return (
          this.#home(route, /^(?!DELETE).*(roots|config|schemas|traits|types|graph)/)?.root ??
          this.#pick(roots)
        );
      case "itemIds":
        return [
          route.includes("/trash/") ? (this.found.deleted.shift() ?? this.#pick(items)) : this.#pick(items),
        ];
      case "trashIds":
      case "selector":
        return undefined;
      case "refreshes":
      case "releases":
        return [{ itemId: this.#pick(items), fence: 1 }];
      case "trigger":
        return this.#pick(["start", "block", "resume", "start", "complete", "cancel", "reopen", "requeue"]);
      case "key":
        if (route.includes("/rules/")) return "style";
        return route.includes("/resources/") ? "db/staging" : this.#pick(["spec", "plan", "review/notes"]);
      case "slug":
        return this.#pick(["launch", "rule/style", "a.b-c"]);
      case "type":
        return route.includes("POST /api/v1/dependencies") ? this.#pick(["blocks", "RELATES_TO"]) : "task";
      case "include":
        return this.#pick(["notes", "children,deps", "notes,children,deps"]);
      case "kinds":
        return "item,note";
      case "role":
        return this.#pick(["queue", "work", "review"]);
      case "tags":
      case "traits":
      case "needs":
        return route.startsWith("POST") ? [this.#pick(WORDS)] : this.#pick(WORDS);
      case "tag":
      case "tagAny":
      case "capabilities":
        return `${this.#pick(WORDS)},${this.#pick(WORDS)}`;
      case "priority":
        return this.#pick(["high", "medium", "low"]);
      case "complexity":
        return 1 + Math.floor(this.#random() * 10);
      case "page":
        return this.#pick([1, 1, 1, 2, 10_000_000]);
      case "unblockAt":
      case "onCancelled":
      case "fence":
      case "class":
      case "workerId":
      case "expectedVersion":
      case "waitSeconds":
      case "credentialRefs":
      case "override":
      case "overrideResourceLeases":
        return undefined;
      case "Idempotency-Key":
        return crypto.randomUUID();
      default:
        return /(After|since|^at)$/.test(name)
          ? "2026-01-01T00:00:00Z"
          : name.endsWith("Before")
            ? "2099-01-01T00:00:00Z"
            : null;
    }
  }

  /** The project that is there for routes that need more than an item. */
  #home(route: string, routes: RegExp): Found["home"] {
    return routes.test(route) && this.#chance(0.7) ? this.found.home : null;
  }

  #text(): string {
    return `${this.#pick(WORDS)} ${this.#pick(WORDS)}`;
  }

  #chance(share: number): boolean {
    return this.#random() < share;
  }

  #pick<T>(from: readonly T[]): T {
    const picked = from[Math.floor(this.#random() * from.length)];
    // An empty pool: the caller makes sure that there are items before it asks for them.
    if (picked === undefined && from.length === 0) throw new Error("nothing to pick from");
    return picked as T;
  }
}

const KEPT = 200;

function remember(list: string[], id: string): void {
  if (!list.includes(id)) list.push(id);
  if (list.length > KEPT) list.shift();
}

function target(path: string, parameters: readonly Parameter[], values: ReadonlyMap<string, string>): string {
  const query = new URLSearchParams();
  let filled = path;
  for (const { name, in: place } of parameters) {
    const value = values.get(name);
    if (value === undefined) continue;
    if (place === "path") filled = filled.replace(`{${name}}`, encodeURIComponent(value.toWellFormed()));
    if (place === "query") query.set(name, value);
  }
  const extra = values.get("(extra)");
  if (extra !== undefined) query.set("extra", extra);
  const search = query.toString();
  return search === "" ? filled : `${filled}?${search}`;
}
