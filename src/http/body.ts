import type { Budget, OverBudget, Share } from "../spine/budget.ts";

const decoder = new TextDecoder("utf-8", { fatal: true });

/** Returns the text of a body, without its byte order mark; `undefined` if it is not valid UTF-8. */
export function decodeBody(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}

const usualType = "application/json";

const utf8 = /^"?utf-?8"?$/;

/**
 * Returns whether a media type is JSON in UTF-8. The server refuses other types unread: a browser lets every page send forms and
 * plain text to any server, but not JSON (CVE-2026-33252).
 */
export function isJsonType(contentType: string | undefined): boolean {
  if (contentType === usualType) return true;
  const [type, ...params] = (contentType ?? "").toLowerCase().split(";");
  if (type?.trim() !== usualType) return false;
  return params.every((param) => {
    const [name, ...value] = param.split("=");
    return name?.trim() !== "charset" || utf8.test(value.join("=").trim());
  });
}

const initialBytes = 1024;
const nothing = new Uint8Array(0);

type Counter = Pick<HeldBytes, "take" | "onEvicted">;

/**
 * Collects the bytes of one body in one store that doubles. Copies the pieces: each is a view of the buffer of a whole read of a
 * socket, and a body that comes byte by byte would keep one such buffer for each byte.
 */
export class BodyBuffer {
  readonly #maxBytes: number;
  readonly #bytes: Counter | undefined;
  #store: Uint8Array = nothing;
  #length = 0;

  /** @param maxBytes - the maximum size of the body. @param bytes - counts every piece. @default nothing is counted */
  constructor(maxBytes: number, bytes?: Counter) {
    this.#maxBytes = maxBytes;
    this.#bytes = bytes;
  }

  /** Sets the function that ends the reading early if others need the room; `undefined` once the body is complete. */
  set onEvicted(end: (() => void) | undefined) {
    if (this.#bytes !== undefined) this.#bytes.onEvicted = end;
  }

  /**
   * Adds bytes to the end. Returns why not, if there are too many.
   *
   * @param isWhole - whether they are the whole body, which is not copied.
   */
  append(bytes: Uint8Array, isWhole = false): "too-large" | "refused" | undefined {
    const needed = this.#length + bytes.byteLength;
    if (needed > this.#maxBytes) return "too-large";
    if (this.#bytes?.take(bytes.byteLength) === false) return "refused";
    if (isWhole) this.#store = bytes;
    else this.#copy(bytes, needed);
    this.#length = needed;
    return undefined;
  }

  /** Returns whether a body of this size is too large. */
  isTooSmallFor(bytes: number): boolean {
    return bytes > this.#maxBytes;
  }

  /** Returns the body and forgets it. Nothing may be appended after that. */
  take(): Uint8Array {
    const store = this.#store;
    this.#store = nothing;
    return this.#length === store.byteLength ? store : store.subarray(0, this.#length);
  }

  #copy(bytes: Uint8Array, needed: number): void {
    if (needed > this.#store.byteLength) {
      const roomy = this.#length === 0 ? needed : Math.max(needed, this.#store.byteLength * 2, initialBytes);
      const store = new Uint8Array(Math.min(roomy, this.#maxBytes));
      store.set(this.#store.subarray(0, this.#length));
      this.#store = store;
    }
    this.#store.set(bytes, this.#length);
  }
}

/** Bytes of one request's body: counted as they arrive, for as long as the request waits or runs. */
export class HeldBytes {
  /** The bound that was reached, once there was no room. */
  refused: OverBudget | undefined;
  readonly #share: Share;
  #onEvicted: (() => void) | undefined;
  #holders = 0;

  /** @param key - the owner of the body, as in {@link Budget.open}. */
  constructor(budget: Budget, key: string | undefined) {
    // Only a body that is still arriving can be evicted: a complete one belongs to a request that runs.
    this.#share = budget.open(key, (_excess, what) => {
      if (what === "spare") return;
      this.#share.release();
      this.#onEvicted?.();
    });
    this.#share.eviction = "never";
  }

  /** Called when the body has to make room for others. Set while the body is read. */
  set onEvicted(run: (() => void) | undefined) {
    this.#onEvicted = run;
    this.#share.eviction = run === undefined ? "never" : "normal";
  }

  /** Counts more bytes. Returns `false` if there is no room for them. */
  take(bytes: number): boolean {
    this.refused = this.#share.take(bytes);
    // The first bytes make the share the last to be evicted, too.
    if (this.#share.amount > bytes) this.#share.touch();
    return this.refused === undefined;
  }

  /** Keeps the bytes counted until {@link release} was called as often. */
  hold(): void {
    this.#holders += 1;
  }

  release(): void {
    this.#holders -= 1;
    if (this.#holders === 0) this.#share.release();
  }
}
