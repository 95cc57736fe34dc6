import { SurfaceError } from "../../errors.ts";
import { clipText } from "../../schema/visible-text.ts";
import { onRejection } from "../../surface/fault.ts";
import { toDotted } from "../names.ts";

/** What an author says of things that services have: each by its own key, and by those of the links that lead to it. */
export type Say<TWords> = (key: string, path: readonly string[]) => TWords | undefined;

const maxNamed = 8;
const maxNamedBytes = 64;

/** Asks an author what is to be said, and knows whether that was ever anything. */
export class SaidBy<TWords extends object> {
  readonly #say: Say<TWords> | undefined;
  readonly #option: string;
  /** Those of which nothing was said, the first few; `undefined` as soon as something was said of one. */
  #unsaid: Set<string> | undefined = new Set();

  /** @param option - how the author calls it. */
  constructor(option: string, say: Say<TWords> | undefined) {
    this.#option = option;
    this.#say = say;
  }

  /**
   * Asked for at once: what came later would not be there in time, and may be what keeps somebody out.
   *
   * @throws SurfaceError `INVALID_OPTION`, and what the author's function throws.
   */
  ask(keys: readonly string[]): TWords | undefined {
    if (this.#say === undefined) return undefined;
    const words = this.#say(keys.at(-1) ?? "", Object.freeze(keys.slice(0, -1)));
    if (words === undefined) {
      this.#note(keys);
      return undefined;
    }
    this.#unsaid = undefined;
    if (typeof words === "object" && words !== null && !("then" in words)) return words;
    onRejection(words, () => {});
    throw new SurfaceError("INVALID_OPTION", "what is said of it must be an object, or nothing");
  }

  /** What is to be told the author when nobody is there any more: once, where it has said nothing of all that it was asked of. */
  end(): SurfaceError | undefined {
    const unsaid = this.#unsaid ?? new Set();
    if (unsaid.size === 0) return undefined;
    this.#unsaid = undefined;
    const asked = `"${[...unsaid].join('", "')}"`;
    return new SurfaceError(
      "INVALID_OPTION",
      `Showing a service: "${this.#option}" has said something of nothing that it was asked of, as ${asked}`,
    );
  }

  #note(keys: readonly string[]): void {
    if (this.#unsaid === undefined || this.#unsaid.size >= maxNamed) return;
    this.#unsaid.add(clipText(toDotted(keys), maxNamedBytes));
  }
}
