import type { ResourceEntry, TemplateEntry, ToolEntry } from "./entry.ts";
import { nameWarning } from "./wire-name.ts";

/** Where Claude Code cuts a tool's description, in characters (seen in 2.1.84); the least of the hosts looked at. */
const maxWordsLength = 2048;

function wordsWarnings(entry: ToolEntry | ResourceEntry | TemplateEntry): readonly string[] {
  return (["title", "description"] as const).flatMap((part) => {
    const length = entry[part]?.length ?? 0;
    if (length <= maxWordsLength) return [];
    return `the ${part} of ${entry.origin} is ${length} characters long: hosts cut it after ${maxWordsLength}`;
  });
}

/** Sentences for the author about entries that work but may not everywhere. */
export function entryWarnings(
  tools: readonly ToolEntry[],
  resources: readonly (ResourceEntry | TemplateEntry)[],
): readonly string[] {
  const names = tools.flatMap((tool) => nameWarning(tool.name, tool.origin) ?? []);
  // A collection is a resource and a template with the same words: it is told once.
  return Object.freeze([...names, ...new Set([...tools, ...resources].flatMap(wordsWarnings))]);
}
