import { Buffer } from "node:buffer";

const initialBytes = 4 * 1024;
const keptBytes = 64 * 1024;

/**
 * Collects the bytes of one frame that spans chunks, in one store that doubles. The cost stays linear and the memory at most twice the
 * frame, even if a frame arrives byte by byte; a list of chunks would cost a hundred bytes for each byte.
 */
export class FrameBuffer {
  #store: Buffer = Buffer.alloc(0);
  /** Number of collected bytes. Only this class changes it. */
  length = 0;

  /** Copies `bytes` to the end. The caller may reuse them. */
  append(bytes: Uint8Array): void {
    const needed = this.length + bytes.length;
    if (needed > this.#store.length) this.#grow(needed);
    this.#store.set(bytes, this.length);
    this.length = needed;
  }

  /** Returns the collected bytes and empties the buffer. The bytes are a view, valid until the next call. Frees a large store. */
  take(): Buffer {
    const bytes = this.#store.subarray(0, this.length);
    this.length = 0;
    if (this.#store.length > keptBytes) this.#store = Buffer.alloc(0);
    return bytes;
  }

  #grow(needed: number): void {
    const store = Buffer.allocUnsafeSlow(Math.max(needed, this.#store.length * 2, initialBytes));
    store.set(this.#store.subarray(0, this.length));
    this.#store = store;
  }
}
