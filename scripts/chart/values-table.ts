/** The values of the chart as a table: the comment above each is its meaning, so that they cannot part. */
import { isMap, isScalar, parseDocument, type YAMLMap } from "yaml";

export interface ChartValue {
  /** With dots: `api.replicas`. */
  readonly path: string;
  /** As JSON. */
  readonly default: string;
  readonly meaning: string;
}

/**
 * Every value with a comment above it; of a map without one, what is inside.
 * @param text of values.yaml
 */
export function readValues(text: string): ChartValue[] {
  const document = parseDocument(text);
  if (!isMap(document.contents)) throw new Error("values.yaml is no map");
  return valuesOf(document.contents, "");
}

function valuesOf(map: YAMLMap, prefix: string): ChartValue[] {
  return map.items.flatMap(({ key, value }, index): ChartValue[] => {
    if (!isScalar(key)) return [];
    const path = `${prefix}${String(key.value)}`;
    const meaning = meaningOf(key.commentBefore ?? (index === 0 ? map.commentBefore : null));
    // One that is explained as a whole is one value, whatever it holds.
    if (meaning === "" && isMap(value)) return valuesOf(value, `${path}.`);
    const shown = JSON.stringify(isScalar(value) ? value.value : ((value as YAMLMap).toJSON() as unknown));
    return [{ path, default: shown, meaning }];
  });
}

/** The last paragraph: what stands before it belongs to the file. */
function meaningOf(comment: string | null | undefined): string {
  const paragraphs = (comment ?? "").split(/\n\s*\n/);
  return (paragraphs.at(-1) ?? "")
    .split("\n")
    .map((line) => line.trim())
    .join(" ")
    .trim();
}

export function readmeOf(values: readonly ChartValue[]): string {
  const rows = values.map((one) => `| \`${one.path}\` | \`${one.default}\` | ${one.meaning} |`);
  return `# The Muster chart

Two Deployments (API and scheduler), a Job that migrates, and what keeps them well. It brings neither PostgreSQL nor Redis: name the secrets that hold their addresses.

\`\`\`bash
kubectl create namespace agents
kubectl -n agents create secret generic muster-database --from-literal=url=postgres://…
kubectl -n agents create secret generic muster-redis --from-literal=url=redis://…
helm -n agents install fleet deploy/helm/muster --set database.existingSecret=muster-database --set redis.existingSecret=muster-redis
helm -n agents test fleet
\`\`\`

It was rendered, linted and checked against the models of its objects; it has not been installed on a cluster by the project's own tests.

## Values

| value | default | meaning |
| --- | --- | --- |
${rows.join("\n")}
`;
}
