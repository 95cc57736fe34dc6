import { Buffer } from "node:buffer";

const INITIAL_BYTES = 4 * 1024;
const KEPT_BYTES = 64 * 1024;

/**
 * Collects the bytes of one frame that spans chunks. Bytes are copied into one store that doubles, so that the cost
 * stays linear and the memory at most twice the frame, even when a frame arrives byte by byte; a list of chunks would
 * cost a hundred bytes for each of those.
 */
export class FrameBuffer {
  #store: Buffer = Buffer.alloc(0);
  /** Number of bytes that are held. Only this class changes it. */
  length = 0;

  /** Copies `bytes` to the end; the caller may reuse them. */
  append(bytes: Uint8Array): void {
    const needed = this.length + bytes.length;
    if (needed > this.#store.length) this.#grow(needed);
    this.#store.set(bytes, this.length);
    this.length = needed;
  }

  /** What was collected, as a view that holds until the next call, and empties the buffer. A large store is let go. */
  take(): Buffer {
    const bytes = this.#store.subarray(0, this.length);
    this.length = 0;
    if (this.#store.length > KEPT_BYTES) this.#store = Buffer.alloc(0);
    return bytes;
  }

  #grow(needed: number): void {
    const store = Buffer.allocUnsafeSlow(Math.max(needed, this.#store.length * 2, INITIAL_BYTES));
    store.set(this.#store.subarray(0, this.length));
    this.#store = store;
  }
}
