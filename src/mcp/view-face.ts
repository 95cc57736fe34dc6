import { authorise } from "../call/authorise.ts";
import type { Caller } from "../surface/caller.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { EntryGuard } from "../catalog/entry.ts";
import { showTo } from "../views/show.ts";
import type { Face } from "./faces.ts";
import { guardsOf } from "./guards-of.ts";
import { onlyReads } from "./only-reads.ts";

/** For how many different grants a list is kept: what callers were granted is theirs to choose. */
const maxListed = 64;

/** What the entries of a catalog ask for. */
function askedOf({ tools, resources, templates, prompts }: Catalog): readonly EntryGuard[] {
  return guardsOf([...tools, ...resources, ...templates, ...prompts]);
}

/** What a face is made of. */
export interface ViewFaceParts {
  readonly rules: symbol;
  readonly catalog: Catalog;
  /** What is listed in its place to whom all that can be called only reads. Default: the same. */
  readonly reading: Catalog | undefined;
  readonly instructions: string | undefined;
  /** What can be called by it, as of now: behind a gateway it may be another while the face stays the same. */
  readonly behind: () => Catalog;
  /** Has those of a catalog's tools that tell of others tell of what is in it. */
  readonly dress: (catalog: Catalog) => Catalog;
}

/** One view's face, as long as it shows the same. */
export class ViewFace implements Face {
  readonly rules: symbol;
  readonly catalog: Catalog;
  readonly instructions: string | undefined;
  readonly #reading: Catalog | undefined;
  readonly #dress: ViewFaceParts["dress"];
  readonly #behind: ViewFaceParts["behind"];
  #guards: readonly EntryGuard[] | undefined;
  /** By what of all that is asked for a caller has, and by what they are listed it from; the oldest first. */
  readonly #listed = new Map<string, Catalog>();

  constructor({ rules, catalog, reading, instructions, dress, behind }: ViewFaceParts) {
    this.rules = rules;
    this.catalog = catalog;
    this.#reading = reading;
    this.instructions = instructions;
    this.#dress = dress;
    this.#behind = behind;
  }

  get behind(): Catalog {
    return this.#behind();
  }

  listedFor(caller: Caller): Catalog {
    this.#guards ??= askedOf(this.catalog);
    const granted = this.#guards.map((guard) => (authorise(caller, guard) === undefined ? "1" : "0")).join("");
    const whole = this.#wholeFor(caller);
    if (!granted.includes("0")) return whole;
    const key = whole === this.catalog ? granted : `${granted} reads`;
    const listed = this.#listed.get(key) ?? this.#list(whole, caller);
    this.#listed.set(key, listed);
    const [oldest] = this.#listed.keys();
    if (this.#listed.size > maxListed && oldest !== undefined) this.#listed.delete(oldest);
    return listed;
  }

  #wholeFor(caller: Caller): Catalog {
    return this.#reading !== undefined && onlyReads(this.behind, caller) ? this.#reading : this.catalog;
  }

  #list(catalog: Catalog, caller: Caller): Catalog {
    return this.#dress(showTo({ face: "direct", catalog, hidden: [] }, caller).catalog);
  }
}
