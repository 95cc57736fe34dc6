import { authorise } from "../call/authorise.ts";
import type { Caller } from "../surface/caller.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { EntryGuard, ToolEntry } from "../catalog/entry.ts";
import { guardsOf } from "./guards-of.ts";

/** What is asked for by tools that only read, and by those that may do more. */
interface Asked {
  readonly reads: readonly EntryGuard[];
  readonly changes: readonly EntryGuard[];
}

/** By the tools: every caller asks of the same ones. */
const asked = new WeakMap<Catalog["tools"], Asked>();

const isReading = ({ hints }: ToolEntry): boolean => hints.readOnlyHint;

function askedOf(tools: Catalog["tools"]): Asked {
  const known = asked.get(tools) ?? {
    reads: guardsOf(tools.filter(isReading)),
    changes: guardsOf(tools.filter((tool) => !isReading(tool))),
  };
  asked.set(tools, known);
  return known;
}

/**
 * Whether every tool of a catalog that a caller was granted only reads, and there is one. What they lack counts for nothing, so
 * that the answer tells nothing of it.
 */
export function onlyReads({ tools }: Catalog, caller: Caller): boolean {
  const isGranted = (guard: EntryGuard): boolean => authorise(caller, guard) === undefined;
  const { reads, changes } = askedOf(tools);
  return !changes.some(isGranted) && reads.some(isGranted);
}
