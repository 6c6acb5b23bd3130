/** Pieces that plans and rules of projects are called and answered with. */
import { z } from "zod";
import { answer, at, id } from "./answers.ts";
import * as limits from "./limits.ts";

export const DOCUMENT_STATUSES = ["pending", "adopted"] as const;

/** What the slugs of rules start with. */
export const RULE_PREFIX = "rule/";

const SLUG = /^[A-Za-z0-9][A-Za-z0-9._/-]*$/;
const RULE_KEY = /^[a-z0-9][a-z0-9._-]*$/;

function faultOfRuleKey(key: string): string | null {
  if (!RULE_KEY.test(key)) return "is not a rule's key: lower-case letters, digits and . _ - only";
  return key.length > limits.RULE_KEY_LENGTH_MAX
    ? `is too long: keys of rules have at most ${limits.RULE_KEY_LENGTH_MAX} characters`
    : null;
}

function faultOfSlug(slug: string): string | null {
  if (slug.startsWith(RULE_PREFIX)) return faultOfRuleKey(slug.slice(RULE_PREFIX.length));
  return SLUG.test(slug) ? null : "is not a slug: letters, digits and . _ - / only";
}

function refused(faultOf: (text: string) => string | null) {
  return (text: string, ctx: z.core.$RefinementCtx<string>): void => {
    const message = faultOf(text);
    if (message !== null)
      ctx.addIssue({ code: "custom", message: `"${text.slice(0, 60)}" ${message}`, input: text });
  };
}

/** Names a document in its project. */
export const documentSlug = z
  .string()
  .trim()
  .min(1)
  .max(limits.DOCUMENT_SLUG_LENGTH_MAX)
  .superRefine(refused(faultOfSlug));

export const ruleKey = z.string().trim().superRefine(refused(faultOfRuleKey));

export const documentShape = {
  id,
  rootId: id,
  slug: z.string(),
  contentHash: z.string(),
  status: z.enum(DOCUMENT_STATUSES),
  createdAt: at,
  updatedAt: at,
  adoptedByItemId: id.optional(),
};
export const documentHead = answer(documentShape);
export type DocumentHeadAnswer = z.output<typeof documentHead>;
