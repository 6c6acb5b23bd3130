/** The plan that a tree is made from: locked, so that no second tree is made from it, and cut into its sections. */
import { findRoots } from "../../../db/stores/graph-lock.ts";
import { lockDocument } from "../../../db/stores/plan-document-store.ts";
import type { Handle } from "../../../db/statement.ts";
import { RULE_PREFIX } from "../../contract/documents.ts";
import { fault } from "../../contract/errors.ts";
import { sectionsOf, textOfSection } from "../../core/texts/sections.ts";
import { requireRoot } from "../config/require-root.ts";

export interface OpenedDocument {
  readonly id: string;
  readonly slug: string;
  /** The text of a section; null if no heading has this slug. */
  readonly section: (anchor: string) => string | null;
  readonly anchors: readonly string[];
}

/** @param place the project, or an item of it whose root it is; its graph is locked */
export async function openDocument(
  tx: Handle,
  slug: string | null,
  place: string | null,
): Promise<OpenedDocument | null> {
  if (slug === null) return null;
  if (place === null) throw new Error("a plan without a project");
  if (slug.startsWith(RULE_PREFIX)) {
    throw fault("VALIDATION_ERROR", `docRef.slug: ${slug} is a rule, which stays open to change`, {
      hint: "Stash the plan under a slug of its own; rules are read with query_rules.",
    });
  }
  const rootId = (await findRoots(tx, [place])).get(place) ?? place;
  await requireRoot(tx, rootId);
  const found = await lockDocument(tx, rootId, slug);
  if (found === null) {
    throw fault("RESOURCE_NOT_FOUND", `the project ${rootId} has no document "${slug}"`, {
      hint: "List its documents with manage_plan_documents, operation list.",
    });
  }
  if (found.status === "adopted") {
    throw fault("CONFLICT_ERROR", `the plan "${slug}" was adopted before`, {
      details: { documentId: found.id, adoptedByItemId: found.adopted_by },
      hint: "Stash the text under another slug to make another tree from it.",
    });
  }
  const sections = new Map(sectionsOf(found.body).map((one) => [one.slug, one] as const));
  sections.delete("");
  return {
    id: found.id,
    slug,
    anchors: [...sections.keys()],
    section(anchor) {
      const section = sections.get(anchor.replace(/^#/, ""));
      return section === undefined ? null : textOfSection(found.body, section);
    },
  };
}
