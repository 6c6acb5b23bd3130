/** Configurations, plans, rules and leases as REST shows them. */
import { z } from "zod";
import { answer, at, id } from "../answers.ts";

export const projectConfigDto = answer({
  rootId: id,
  fingerprint: z.string(),
  updatedAt: at,
  configYaml: z.string().optional(),
  warning: z.string().optional(),
  /** Of a text whose fingerprint was sent along: is it this one, an earlier one of this project, or neither? */
  relation: z.enum(["current", "superseded", "unknown"]).optional(),
  ignoredSections: z.array(z.string()).optional(),
  schemaWarnings: z.array(z.string()).optional(),
  changed: z.boolean().optional(),
});

export const configSnapshotDto = answer({
  fingerprint: z.string().nullable(),
  types: z.array(z.string()),
  traits: z.array(z.string()),
  statusLabels: z.record(z.string(), z.string().nullable()),
  noteLimits: z.string(),
});

export const planDto = answer({
  id,
  rootId: id,
  slug: z.string(),
  contentHash: z.string(),
  status: z.enum(["pending", "adopted"]),
  adoptedByItemId: id.optional(),
  createdAt: at,
  updatedAt: at,
  body: z.string().optional(),
});

export const ruleListDto = answer({
  rules: z.array(answer({ key: z.string(), rulesVersion: z.string(), updatedAt: at })),
  hasMore: z.boolean(),
});

export const ruleDto = answer({
  rootId: id,
  key: z.string(),
  slug: z.string(),
  rulesVersion: z.string(),
  updatedAt: at,
  body: z.string(),
});
