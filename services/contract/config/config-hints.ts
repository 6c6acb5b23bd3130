/** What is allowed in a configuration text and probably not meant. */
import type { ProjectSections, ServerSections, WrittenNote } from "./sections.ts";

type Sections = ProjectSections | ServerSections;

/** A key that so many traits take is likely several resources under one name. */
const TRAITS_PER_RESOURCE = 3;

export function hintsOf(sections: Sections): string[] {
  return [...typeHints(sections), ...resourceHints(sections)];
}

/** What is written in the server's own file and has a meaning only for a project. */
export function serverHintsOf(sections: ServerSections): string[] {
  return sections.schema_resolution === "isolated"
    ? [
        "schema_resolution: isolated has no effect here, with nothing above to be isolated from; it is read as layered",
      ]
    : [];
}

function typeHints({ work_item_schemas: types, note_schemas: tags, traits }: Sections): string[] {
  const hints: string[] = [];
  for (const [name, type] of Object.entries(types)) {
    const place = `work_item_schemas.${name}`;
    if (type.lifecycle === "auto-reopen")
      hints.push(`${place}.lifecycle: auto-reopen is read as auto; a closed parent takes no new children`);
    for (const trait of type.default_traits ?? []) {
      if (!Object.hasOwn(traits, trait))
        hints.push(`${place}.default_traits: ${trait} is not defined in this text`);
    }
    hints.push(...repeatedKeys(`${place}.notes`, type.notes));
  }
  for (const [name, notes] of Object.entries(tags)) {
    hints.push(...repeatedKeys(`note_schemas.${name}`, notes));
    if (Object.hasOwn(types, name))
      hints.push(`note_schemas.${name}: work_item_schemas.${name} is used instead`);
  }
  for (const [name, trait] of Object.entries(traits))
    hints.push(...repeatedKeys(`traits.${name}.notes`, trait.notes ?? []));
  return hints;
}

function repeatedKeys(place: string, notes: readonly WrittenNote[]): string[] {
  const repeated = notes.filter(({ key }, index) => notes.findIndex((other) => other.key === key) !== index);
  return repeated.map(({ key }) => `${place}: ${key} is there twice; the first counts`);
}

function resourceHints({ traits, resources }: Sections): string[] {
  const users = new Map<string, string[]>();
  for (const [name, trait] of Object.entries(traits)) {
    for (const { key } of trait.resources ?? []) users.set(key, [...(users.get(key) ?? []), name]);
  }
  return [...users].flatMap(([key, names]) => [
    ...(Object.hasOwn(resources, key)
      ? []
      : [`resources: ${key} is not described; it is taken all the same, for an hour unless its trait says`]),
    ...(names.length < TRAITS_PER_RESOURCE
      ? []
      : [
          `resources: ${key} is taken by ${names.length} traits; give it a longer name if these are different things`,
        ]),
  ]);
}
