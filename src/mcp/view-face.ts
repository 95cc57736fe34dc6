import { authorise } from "../call/authorise.ts";
import type { Caller } from "../catalog/caller.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { EntryGuard } from "../catalog/entry.ts";
import { showTo } from "../views/show.ts";
import type { Face } from "./faces.ts";

/** For how many different grants a list is kept: what callers were granted is theirs to choose. */
const maxListed = 64;

/** Written once an entry: catalogs share them. */
const written = new WeakMap<EntryGuard, string>();

function write(entry: EntryGuard): string {
  const known = written.get(entry) ?? JSON.stringify([entry.scopes, entry.requires]);
  written.set(entry, known);
  return known;
}

/** What the entries of a catalog ask for, each different thing once. */
function guardsOf({ tools, resources, templates, prompts }: Catalog): readonly EntryGuard[] {
  const entries: readonly EntryGuard[] = [...tools, ...resources, ...templates, ...prompts];
  return [...new Map(entries.map((entry) => [write(entry), entry])).values()];
}

/** What a face is made of. */
export interface ViewFaceParts {
  readonly catalog: Catalog;
  readonly instructions: string | undefined;
  /** What can be called by it, as of now: behind a gateway it may be another while the face stays the same. */
  readonly behind: () => Catalog;
  /** Has those of a catalog's tools that tell of others tell of what is in it. */
  readonly dress: (catalog: Catalog) => Catalog;
}

/** One view's face, as long as it shows the same. */
export class ViewFace implements Face {
  readonly catalog: Catalog;
  readonly instructions: string | undefined;
  readonly #dress: ViewFaceParts["dress"];
  readonly #behind: ViewFaceParts["behind"];
  #guards: readonly EntryGuard[] | undefined;
  /** By what of all that is asked for a caller has; the oldest first. */
  readonly #listed = new Map<string, Catalog>();

  constructor({ catalog, instructions, dress, behind }: ViewFaceParts) {
    this.catalog = catalog;
    this.instructions = instructions;
    this.#dress = dress;
    this.#behind = behind;
  }

  get behind(): Catalog {
    return this.#behind();
  }

  listedFor(caller: Caller): Catalog {
    this.#guards ??= guardsOf(this.catalog);
    const granted = this.#guards.map((guard) => (authorise(caller, guard) === undefined ? "1" : "0")).join("");
    if (!granted.includes("0")) return this.catalog;
    const listed = this.#listed.get(granted) ?? this.#list(caller);
    this.#listed.set(granted, listed);
    const [oldest] = this.#listed.keys();
    if (this.#listed.size > maxListed && oldest !== undefined) this.#listed.delete(oldest);
    return listed;
  }

  #list(caller: Caller): Catalog {
    return this.#dress(showTo({ face: "direct", catalog: this.catalog, hidden: [] }, caller).catalog);
  }
}
