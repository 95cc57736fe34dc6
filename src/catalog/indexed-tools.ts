import { SurfaceError } from "../errors.ts";
import { patchList, type ListDiff } from "./diff-lists.ts";
import type { PromptEntry, ToolEntry } from "./entry.ts";
import { sortFrozen } from "./sort-frozen.ts";

/** Tools, sorted by name and frozen, and where each is found. */
export interface IndexedTools {
  readonly tools: readonly ToolEntry[];
  readonly byName: ReadonlyMap<string, ToolEntry>;
  readonly byId: ReadonlyMap<string, ToolEntry>;
}

const nameOf = ({ name }: ToolEntry): string => name;

/** Indexes entries by name. @throws SurfaceError `NAME_COLLISION` naming both origins. */
export function indexNames<TEntry extends ToolEntry | PromptEntry>(
  entries: readonly TEntry[],
): ReadonlyMap<string, TEntry> {
  const byName = new Map<string, TEntry>();
  for (const entry of entries) {
    const taken = byName.get(entry.name);
    if (taken !== undefined) {
      throw new SurfaceError(
        "NAME_COLLISION",
        `Naming ${entry.origin}: its name on the wire, "${entry.name}", is taken by ${taken.origin}`,
      );
    }
    byName.set(entry.name, entry);
  }
  return byName;
}

/** Indexes tools. @throws SurfaceError `NAME_COLLISION` naming both origins. */
export function indexTools(tools: readonly ToolEntry[]): IndexedTools {
  const byName = indexNames(tools);
  return { tools: sortFrozen(tools, nameOf), byName, byId: new Map(tools.map((tool) => [tool.id, tool])) };
}

/** The same tools without those that have gone, and with those that have come, whose names nothing else has. */
export function patchTools(before: IndexedTools, diff: ListDiff<ToolEntry>): IndexedTools {
  // Copies: whoever has those before goes on with them.
  const [byName, byId] = [new Map(before.byName), new Map(before.byId)];
  for (const { name, id } of diff.gone) {
    byName.delete(name);
    byId.delete(id);
  }
  for (const tool of diff.come) {
    byName.set(tool.name, tool);
    byId.set(tool.id, tool);
  }
  return { tools: sortFrozen([...patchList(before.tools, diff)], nameOf), byName, byId };
}
