import type { ToolEntry } from "../catalog/entry.ts";

/** What makes one list of tools another. */
export interface ToolChanges {
  readonly gone: readonly ToolEntry[];
  readonly come: readonly ToolEntry[];
}

/**
 * What has gone and come between two lists of tools, each by name as catalogs have them: one look at each. What is another tool
 * under a name has gone and come. Also right for lists in another order, where it says so of more than it has to.
 */
export function toolChanges(before: readonly ToolEntry[], after: readonly ToolEntry[]): ToolChanges {
  const gone: ToolEntry[] = [];
  const come: ToolEntry[] = [];
  let at = 0;
  for (const tool of after) {
    for (let old = before[at]; old !== undefined && old !== tool && old.name <= tool.name; old = before[++at])
      gone.push(old);
    if (before[at] === tool) at += 1;
    else come.push(tool);
  }
  gone.push(...before.slice(at));
  return { gone, come };
}
