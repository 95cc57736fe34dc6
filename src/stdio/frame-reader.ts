import { Buffer, isUtf8 } from "node:buffer";
import { FrameBuffer } from "../json-rpc/frame-buffer.ts";

/** What a {@link FrameReader} is made of. The callbacks run inside `push()` or `resume()`, one for each frame. */
export interface FrameReaderOptions {
  /** Most bytes of one frame, a CR before the line end included, the LF not. */
  readonly maxBytes: number;
  /** A complete frame without its line end; may be empty. */
  onFrame(text: string): void;
  /** A frame passed the cap. Told at that moment; the rest of the frame is discarded up to its LF. */
  onOversize(): void;
  /** A complete frame is not UTF-8. */
  onBadEncoding(): void;
}

/** Cuts a stream of bytes into frames that end with LF or CR LF. */
export interface FrameReader {
  /** Bytes that were pushed and not read yet, because the reader is paused. */
  readonly backlog: number;
  /** Reads a chunk. It is not copied as long as it is in the backlog, so the caller must leave it alone. */
  push(chunk: Uint8Array): void;
  /** Nothing follows. A frame without its line end is dropped; complete frames of the backlog wait for `resume()`. */
  end(): void;
  /**
   * Stops before the next frame, also in the middle of a chunk, and may be called from `onFrame`. Chunks pushed from
   * here on are kept whole: the caller stops its source when {@link FrameReader.backlog} is more than it will hold.
   * Stopping the source at once would hide the end of the input, which is how a host says goodbye.
   */
  pause(): void;
  /** Reads the backlog, until it is empty or somebody pauses again. */
  resume(): void;
}

/**
 * Makes a {@link FrameReader}. Memory is bounded by twice `maxBytes` and the backlog, work is linear in the bytes,
 * however they are cut into chunks. One byte order mark at the very start is dropped (Windows hosts write it).
 *
 * A callback that throws ends the `push()` or `resume()` that called it; the reader stays usable and goes on with the
 * next frame.
 */
export function createFrameReader(options: FrameReaderOptions): FrameReader {
  return new LineReader(options);
}

const LF = 0x0a;
const CR = 0x0d;
const BYTE_ORDER_MARK = 0xfeff;
const REPLACEMENT = "\uFFFD";

class LineReader implements FrameReader {
  readonly #options: FrameReaderOptions;
  readonly #partial = new FrameBuffer();
  readonly #queue: Buffer[] = [];
  /** How much of the first chunk of the queue has been read. */
  #offset = 0;
  #backlog = 0;
  #atStart = true;
  #discarding = false;
  #reading = false;
  #paused = false;
  #ended = false;

  constructor(options: FrameReaderOptions) {
    this.#options = options;
  }

  get backlog(): number {
    return this.#backlog;
  }

  push(chunk: Uint8Array): void {
    if (this.#ended || chunk.length === 0) return;
    this.#queue.push(Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
    this.#backlog += chunk.length;
    this.#read();
  }

  end(): void {
    this.#ended = true;
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.#read();
  }

  /** Never runs inside itself: `resume()` in a callback lets the loop that is under way go on. */
  #read(): void {
    if (this.#reading) return;
    this.#reading = true;
    try {
      for (let chunk = this.#queue[0]; chunk !== undefined && !this.#paused; chunk = this.#queue[0]) this.#step(chunk);
    } finally {
      this.#reading = false;
    }
  }

  /** Reads up to one line end. All state moves on before a callback runs, which may pause, push or throw. */
  #step(chunk: Buffer): void {
    const start = this.#offset;
    const lineEnd = chunk.indexOf(LF, start);
    const next = lineEnd === -1 ? chunk.length : lineEnd + 1;
    this.#backlog -= next - start;
    this.#offset = next;
    if (next === chunk.length) {
      this.#queue.shift();
      this.#offset = 0;
    }
    const bytes = chunk.subarray(start, lineEnd === -1 ? next : lineEnd);
    if (lineEnd === -1) this.#keep(bytes);
    else this.#finish(bytes);
  }

  #keep(bytes: Buffer): void {
    if (this.#discarding) return;
    if (this.#partial.length + bytes.length <= this.#options.maxBytes) return this.#partial.append(bytes);
    this.#discarding = true;
    this.#overflow();
  }

  #finish(bytes: Buffer): void {
    if (this.#discarding) {
      this.#discarding = false;
      return;
    }
    if (this.#partial.length + bytes.length > this.#options.maxBytes) return this.#overflow();
    if (this.#partial.length === 0) return this.#deliver(bytes);
    this.#partial.append(bytes);
    this.#deliver(this.#partial.take());
  }

  #overflow(): void {
    this.#partial.take();
    this.#atStart = false;
    this.#options.onOversize();
  }

  #deliver(frame: Buffer): void {
    const length = frame.at(-1) === CR ? frame.length - 1 : frame.length;
    const text = frame.toString("utf8", 0, length);
    const isFirst = this.#atStart;
    this.#atStart = false;
    // Decoding is the cheap check: bad bytes become U+FFFD, and only a text that holds one is looked at again.
    if (text.includes(REPLACEMENT) && !isUtf8(frame)) return this.#options.onBadEncoding();
    this.#options.onFrame(isFirst && text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text);
  }
}
