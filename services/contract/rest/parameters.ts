/** Parameters of queries. One that may be repeated is read like one that lists its values with commas. */
import { z } from "zod";
import * as fields from "../fields.ts";
import { commonFilterShape } from "../filters.ts";
import { CLAIM_STATUSES, READINESS, SORT_FIELDS } from "../vocabulary.ts";

function repeatable<S extends z.ZodType>(schema: S) {
  return z
    .preprocess(
      (value) =>
        Array.isArray(value) && value.every((one) => typeof one === "string") ? value.join(",") : value,
      schema,
    )
    .meta({ type: "string" });
}

/** The operation parses the names; this only says that there are some. */
const names = z.string().min(1);

const { tags: _tags, ancestorId, parentId, priority, type, ...windows } = commonFilterShape;
const instants = Object.keys(windows) as readonly (keyof typeof windows)[];
const instantShape = Object.fromEntries(
  instants.map((name) => [name, z.string().optional().describe("ISO 8601.")]),
) as Record<keyof typeof windows, z.ZodOptional<z.ZodString>>;

/** What narrows a list of items. */
export const itemFilterShape = {
  role: repeatable(names).optional().describe("One or several."),
  priority,
  tag: repeatable(names).optional().describe("Has each of them."),
  tagAny: repeatable(names).optional().describe("Has any of them."),
  type,
  parentId,
  rootId: fields.itemRef.optional().describe("Of this project, its root included."),
  ancestorId,
  assignee: fields.agentName.optional().describe("Meant for this agent."),
  readiness: z.enum(READINESS).optional(),
  claimStatus: z.enum(CLAIM_STATUSES).optional(),
  ...instantShape,
};

export const itemOrderShape = {
  orderBy: z.enum(SORT_FIELDS).default("createdAt"),
  orderDir: z.enum(["asc", "desc"]).default("desc"),
};

/** Words from a set, separated by commas. */
export function words<const W extends readonly string[]>(known: W) {
  return repeatable(
    z.string().transform((text, ctx): W[number][] => {
      const parts = text.split(",").map((part) => part.trim());
      const bad = parts.find((part) => !known.includes(part));
      if (bad !== undefined) {
        const message = `"${bad.slice(0, 40)}" must be one of ${known.join(", ")}`;
        ctx.addIssue({ code: "custom", message, input: text });
      }
      return [...new Set(parts)];
    }),
  );
}
