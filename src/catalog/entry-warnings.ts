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

function flattenedWarning(origin: string, keywords: readonly string[]): string {
  return (
    `the input of ${origin} has ${keywords.join(", ")} at its root, which some model providers reject: agents see one plain ` +
    "object and a text about the rest, and the whole schema still validates; move it into a field to show it as it is"
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
    const { refusedKeywords = none } = input;
    if (refusedKeywords.length > 0) warnings.add(flattenedWarning(origin, refusedKeywords));
  }
  for (const list of [tools, resources]) {
    // A collection is a resource and a template with the same words: it is told once.
    for (const entry of list) for (const warning of wordsWarnings(entry)) warnings.add(warning);
  }
  return Object.freeze([...warnings]);
}
