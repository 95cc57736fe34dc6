import { SurfaceError } from "../../errors.ts";
import { clipText } from "../../schema/visible-text.ts";
import { handleRejection } from "../../surface/fault.ts";
import { toDotted } from "../names.ts";

/** Returns the author's metadata of an action or state, by its key and the keys of the links to its service. */
export type Describe<TMetadata> = (key: string, path: readonly string[]) => TMetadata | undefined;

const maxNamed = 8;
const maxNamedBytes = 64;

/** Calls the author's function for metadata, and notes if it never returns any. */
export class AuthorMetadata<TMetadata extends object> {
  readonly #describe: Describe<TMetadata> | undefined;
  readonly #option: string;
  /** The first names without metadata; `undefined` as soon as one has metadata. */
  #unmatched: Set<string> | undefined = new Set();

  /** @param option - name of the option that holds the function. */
  constructor(option: string, describe: Describe<TMetadata> | undefined) {
    this.#option = option;
    this.#describe = describe;
  }

  /**
   * Returns the metadata of an entry. A promise is refused: until it settles, the entry would lack the scopes that restrict it.
   *
   * @throws SurfaceError `INVALID_OPTION`, and the errors of the author's function.
   */
  ask(keys: readonly string[]): TMetadata | undefined {
    if (this.#describe === undefined) return undefined;
    const metadata = this.#describe(keys.at(-1) ?? "", Object.freeze(keys.slice(0, -1)));
    if (metadata === undefined) {
      this.#note(keys);
      return undefined;
    }
    this.#unmatched = undefined;
    if (typeof metadata === "object" && metadata !== null && !("then" in metadata)) return metadata;
    handleRejection(metadata, () => {});
    throw new SurfaceError("INVALID_OPTION", "its metadata must be an object or undefined, not a promise");
  }

  /** Returns a warning, once, if the function returned metadata for no entry at all. Called when the last app has closed. */
  end(): SurfaceError | undefined {
    const unmatched = this.#unmatched ?? new Set();
    if (unmatched.size === 0) return undefined;
    this.#unmatched = undefined;
    const asked = `"${[...unmatched].join('", "')}"`;
    return new SurfaceError(
      "INVALID_OPTION",
      `Cannot use "${this.#option}": it returned nothing for every entry, such as ${asked}; check the keys that it compares`,
    );
  }

  #note(keys: readonly string[]): void {
    if (this.#unmatched === undefined || this.#unmatched.size >= maxNamed) return;
    this.#unmatched.add(clipText(toDotted(keys), maxNamedBytes));
  }
}
