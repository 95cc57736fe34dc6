import { authorise } from "../call/authorise.ts";
import type { Caller } from "../surface/caller.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { EntryGuard, ToolEntry } from "../catalog/entry.ts";
import { toMatcher, type Named } from "../catalog/glob.ts";
import type { Decision } from "./decision.ts";
import type { HiddenEntry } from "./showing.ts";
import type { ViewVerdict } from "./view-rules.ts";

/** What somebody may be told of all that there is: what they have no right to is not there for them. */
export interface Telling {
  readonly hidden: (hidden: readonly HiddenEntry[]) => readonly HiddenEntry[];
  /** The verdict without patterns that fit nothing but what they are not told of. */
  readonly verdict: (decision: Decision) => ViewVerdict;
}

type Entry = Named & EntryGuard;

/** What a pattern fits: with the server's name before it only tools. */
function toFits(pattern: string, tools: ReadonlySet<Entry>, server: string | undefined): (entry: Entry) => boolean {
  const [ofTool, ofOther] = [toMatcher([pattern], server), toMatcher([pattern])];
  return (entry) => (tools.has(entry) ? ofTool : ofOther)(entry) !== undefined;
}

/** Sorts what there is by whether a caller may be told of it. */
export function toTelling(catalog: Catalog, caller: Caller): Telling {
  const { tools, prompts, resources, templates } = catalog;
  const all: readonly (Entry & Pick<ToolEntry, "isInternal">)[] = [...tools, ...prompts, ...resources, ...templates];
  const isTold = (entry: (typeof all)[number]): boolean =>
    entry.isInternal !== true && authorise(caller, entry) === undefined;
  const told = all.filter(isTold);
  const untold = all.filter((entry) => !isTold(entry));
  const untoldIds = new Set(untold.map(({ id }) => id));
  const ofTools: ReadonlySet<Entry> = new Set(tools);
  const keep = (patterns: readonly string[] | undefined, server: string | undefined): readonly string[] | undefined =>
    patterns?.filter((pattern) => {
      const fits = toFits(pattern, ofTools, server);
      return !untold.some(fits) || told.some(fits);
    });
  return {
    hidden: (hidden) => Object.freeze(hidden.filter(({ name }) => !untoldIds.has(name))),
    verdict({ verdict, server }) {
      if (verdict.kind === "deny" || untold.length === 0) return verdict;
      const [allow, disallow] = [keep(verdict.allow, server), keep(verdict.disallow, server)];
      return { ...verdict, ...(allow === undefined ? {} : { allow }), ...(disallow === undefined ? {} : { disallow }) };
    },
  };
}
