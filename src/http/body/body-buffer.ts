import type { BodyBytes } from "../message.ts";

const initialBytes = 1024;

/**
 * Collects the bytes of one body. They are copied into one store that doubles: what comes is a view of the store that a
 * whole read of a socket was made into, and a body that comes byte by byte would keep one of those for each of its bytes.
 */
export class BodyBuffer {
  readonly #maxBytes: number;
  readonly #bytes: BodyBytes | undefined;
  #store = new Uint8Array(0);
  #length = 0;

  /**
   * @param maxBytes - how many there are at most: no store is made for more.
   * @param bytes - counts every piece. @default nothing is counted
   */
  constructor(maxBytes: number, bytes?: BodyBytes) {
    this.#maxBytes = maxBytes;
    this.#bytes = bytes;
  }

  /** Sets what ends the reading early if others need the room; `undefined` once the body is complete. */
  set onEvicted(end: (() => void) | undefined) {
    if (this.#bytes !== undefined) this.#bytes.onEvicted = end;
  }

  /** Copies bytes to the end. Says why not where it does not. */
  append(bytes: Uint8Array): "too-large" | "refused" | undefined {
    const needed = this.#length + bytes.byteLength;
    if (needed > this.#maxBytes) return "too-large";
    if (this.#bytes?.take(bytes.byteLength) === false) return "refused";
    if (needed > this.#store.byteLength) this.#grow(needed);
    this.#store.set(bytes, this.#length);
    this.#length = needed;
    return undefined;
  }

  /** Whether so many bytes would be too many. */
  isTooSmallFor(bytes: number): boolean {
    return bytes > this.#maxBytes;
  }

  /** What was collected. Nothing may be appended after it. */
  take(): Uint8Array {
    return this.#store.subarray(0, this.#length);
  }

  #grow(needed: number): void {
    // Most bodies come in one piece, and need a store of just their size.
    const roomy = this.#length === 0 ? needed : Math.max(needed, this.#store.byteLength * 2, initialBytes);
    const store = new Uint8Array(Math.min(roomy, this.#maxBytes));
    store.set(this.#store.subarray(0, this.#length));
    this.#store = store;
  }
}
