import { canonical } from "./canonical.ts";

/** Values that clients have read between two samples, and that differ from the sample before. */
interface Doubt {
  /** Number of the last sample that had begun when the first of these values was read. */
  readonly from: number;
  /** The same, for the last of these values. */
  readonly to: number;
  /** The content of all these values; `undefined` if they differ. */
  readonly text: string | undefined;
}

/**
 * The last content that the watchers of a sampled source have received. A sample is a change if its content differs, or if a
 * client has read another content since: that client would otherwise keep an old value.
 */
export class ToldContent {
  #last: { readonly text: string; readonly value: unknown } | undefined;
  #doubt: Doubt | undefined;

  /**
   * Returns the value of sample number `turn`, or the value before if the content is the same. Calls `renew` first if that is
   * a change all the same.
   */
  take(value: unknown, turn: number, renew: () => void): unknown {
    const text = canonical(value);
    if (this.#last?.text !== text) this.#last = { text, value };
    const doubt = this.#doubt;
    if (doubt === undefined) return this.#last.value;
    if (doubt.text === text) this.#doubt = undefined;
    else if (doubt.from < turn) {
      // A value read while this sample was being read may be the newer of the two.
      this.#doubt = doubt.to < turn ? undefined : { from: doubt.to, to: doubt.to, text: undefined };
      renew();
    }
    return this.#last.value;
  }

  /**
   * Records a value that a client has read. Returns whether its content differs from the last sample.
   *
   * @param turn - Number of the last sample that has begun.
   */
  note(value: unknown, turn: number): boolean {
    const text = canonical(value);
    if (this.#last?.text === text) return false;
    const doubt = this.#doubt ?? { from: turn, text };
    this.#doubt = { from: doubt.from, to: turn, text: doubt.text === text ? text : undefined };
    return true;
  }
}
