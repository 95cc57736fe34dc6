import type { ResourceEntry, TemplateEntry, ToolEntry } from "./entry.ts";
import { nameWarning } from "./wire-name.ts";

/** Where Claude Code cuts a tool's description, in characters (seen in 2.1.84); the least of the hosts looked at. */
const maxWordsLength = 2048;

type Worded = ToolEntry | ResourceEntry | TemplateEntry;

const none: readonly string[] = Object.freeze([]);

function isLong({ title = "", description = "" }: Worded): boolean {
  return title.length > maxWordsLength || description.length > maxWordsLength;
}

function wordsWarnings(entry: Worded): readonly string[] {
  // Looked at for thousands, each time that one of them comes.
  if (!isLong(entry)) return none;
  return (["title", "description"] as const).flatMap((part) => {
    const length = entry[part]?.length ?? 0;
    if (length <= maxWordsLength) return [];
    return `the ${part} of ${entry.origin} is ${length} characters long: hosts cut it after ${maxWordsLength}`;
  });
}

function flattenedWarning(origin: string): string {
  return (
    `the input of ${origin} has alternatives at its root: agents are shown one object with optional fields, since some ` +
    "providers refuse a whole session for them; put the union into a field to show it as it is"
  );
}

/** Sentences for the author about entries that work but may not everywhere. */
export function entryWarnings(
  tools: readonly ToolEntry[],
  resources: readonly (ResourceEntry | TemplateEntry)[],
): readonly string[] {
  const warnings = new Set<string>();
  for (const { name, origin, input } of tools) {
    const warning = nameWarning(name, origin);
    if (warning !== undefined) warnings.add(warning);
    if (input.isFlattened === true) warnings.add(flattenedWarning(origin));
  }
  for (const list of [tools, resources]) {
    // A collection is a resource and a template with the same words: it is told once.
    for (const entry of list) for (const warning of wordsWarnings(entry)) warnings.add(warning);
  }
  return Object.freeze([...warnings]);
}
