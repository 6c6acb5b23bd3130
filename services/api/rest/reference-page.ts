/** `GET /api/v1/docs`: the OpenAPI document as a page to read. Plain HTML; nothing is loaded, nothing runs. */
import type { Json } from "./openapi-schemas.ts";
import { escape, STYLE } from "./status-page.ts";

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: { readonly type?: string; readonly enum?: readonly unknown[]; readonly default?: unknown };
}

interface Described {
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly description: string; readonly content: Readonly<Record<string, Media>> };
  readonly responses: Readonly<Record<string, { readonly description: string }>>;
}

interface Media {
  readonly schema: { readonly properties?: Readonly<Record<string, { readonly description?: string }>> };
}

interface Place {
  readonly path: string;
  readonly method: string;
  readonly operation: Described;
}

/** The page of a document that `openapi.ts` made. */
export function renderReference(document: Json): string {
  const { info, paths } = document as unknown as {
    readonly info: { readonly title: string; readonly version: string; readonly description: string };
    readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  };
  const places = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): Place => ({ path, method, operation })),
  );
  const areas = [...new Set(places.flatMap(({ operation }) => operation.tags))];
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>${escape(info.title)}</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><style>${STYLE}</style></head>
<body>
<h1>${escape(info.title)} ${escape(info.version)}</h1>
<p>${escape(info.description)} The same for programs: <a href="/api/v1/openapi.json">openapi.json</a>.</p>
<ul>${areas.map((area) => `<li><a href="#${idOf(area)}">${escape(area)}</a></li>`).join("")}</ul>
${areas.map((area) => renderArea(area, places)).join("\n")}
</body>
</html>
`;
}

function renderArea(area: string, places: readonly Place[]): string {
  const own = places.filter(({ operation }) => operation.tags.includes(area));
  return `<h2 id="${idOf(area)}">${escape(area)}</h2>\n${own.map(renderPlace).join("\n")}`;
}

function renderPlace({ path, method, operation }: Place): string {
  const { summary, description, parameters = [], requestBody, responses } = operation;
  const answers = Object.entries(responses).map(
    ([status, one]) => `<li>${escape(status)}: ${escape(one.description)}</li>`,
  );
  return `<h3>${escape(method.toUpperCase())} ${escape(path)}</h3>
<p>${escape(summary)}. ${escape(description ?? "").replaceAll("`", "")}</p>
${parameters.length === 0 ? "" : `<ul>${parameters.map(renderParameter).join("")}</ul>`}
${requestBody === undefined ? "" : renderBody(requestBody)}
<ul>${answers.join("")}</ul>`;
}

function renderParameter({ name, in: place, required, description, schema }: Parameter): string {
  const facts = [
    place,
    required === true ? "required" : "",
    schema.enum === undefined ? (schema.type ?? "") : schema.enum.map(String).join(" | "),
    schema.default === undefined ? "" : `default ${JSON.stringify(schema.default)}`,
  ].filter((fact) => fact !== "");
  return `<li><b>${escape(name)}</b> (${escape(facts.join(", "))}) ${escape(description ?? "")}</li>`;
}

function renderBody({ description, content }: NonNullable<Described["requestBody"]>): string {
  const [media] = Object.values(content);
  const fields = Object.entries(media?.schema.properties ?? {}).map(
    ([name, field]) => `<li><b>${escape(name)}</b> ${escape(field.description ?? "")}</li>`,
  );
  const types = Object.keys(content).join(", ");
  return `<p>Body: ${escape(types)}. ${escape(description)}</p>${fields.length === 0 ? "" : `<ul>${fields.join("")}</ul>`}`;
}

function idOf(area: string): string {
  return area.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
}
