import { SurfaceError } from "../errors.ts";
import { type ListDiff, patchSorted, placeOf, sortFrozen } from "./list-changes.ts";
import type { PromptEntry, ToolEntry } from "./entry.ts";

/** Lookups by a search, before a map is made: a catalog that changes all the time is looked at seldom between two changes. */
const maxSearches = 16;

const nameOf = ({ name }: ToolEntry): string => name;

/** Tools, sorted by name and frozen, and how each is found. */
export class IndexedTools {
  readonly tools: readonly ToolEntry[];
  #byName: ReadonlyMap<string, ToolEntry> | undefined;
  #byId: ReadonlyMap<string, ToolEntry> | undefined;
  #searches = 0;

  /** @param tools - sorted by name, no two of which share one. */
  constructor(tools: readonly ToolEntry[]) {
    this.tools = tools;
  }

  /** Returns the tool of this name on the wire. */
  readonly tool = (name: string): ToolEntry | undefined => {
    if (this.#byName !== undefined) return this.#byName.get(name);
    this.#searches += 1;
    if (this.#searches > maxSearches) this.#byName = new Map(this.tools.map((tool) => [tool.name, tool]));
    const found = this.tools[placeOf(this.tools, name, nameOf)];
    return found?.name === name ? found : undefined;
  };

  /** Returns the tool of this id: nearly always its name is the id with `_` for each dot. */
  readonly toolOf = (id: string): ToolEntry | undefined => {
    const found = this.#byId === undefined ? this.tool(id.replaceAll(".", "_")) : undefined;
    if (found?.id === id) return found;
    this.#byId ??= new Map(this.tools.map((tool) => [tool.id, tool]));
    return this.#byId.get(id);
  };

  /** Returns these tools without those that have gone, and with those that have come, whose names no other has. */
  patch({ gone, come }: ListDiff<ToolEntry>): IndexedTools {
    for (const tool of come) Object.freeze(tool);
    return new IndexedTools(Object.freeze(patchSorted(this.tools, { gone: new Set(gone), come }, nameOf)));
  }
}

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
  indexNames(tools);
  return new IndexedTools(sortFrozen(tools, nameOf));
}
