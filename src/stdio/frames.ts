import { Buffer, isUtf8 } from "node:buffer";
import type { Writable } from "node:stream";
import { SurfaceError } from "../errors.ts";
import { FrameBuffer } from "../json-rpc/frame-buffer.ts";

/** Dependencies of a {@link FrameReader}. The callbacks run inside `push()` or `resume()`, one for each frame. */
export interface FrameReaderOptions {
  /** The maximum number of bytes of one frame: with a CR before the line end, without the LF. */
  readonly maxBytes: number;
  /** A complete frame without its line end; may be empty. */
  onFrame(text: string): void;
  /** A frame is too large. Called as soon as that is known; the rest of the frame is discarded up to its LF. */
  onOversize(): void;
  /** A complete frame is not UTF-8. */
  onBadEncoding(): void;
}

const LF = 0x0a;
const CR = 0x0d;
const BYTE_ORDER_MARK = 0xfeff;
const REPLACEMENT = "\uFFFD";

/**
 * Cuts a stream of bytes into frames that end with LF or CR LF. Memory is bounded by twice `maxBytes` and the backlog, work is linear
 * in the bytes, however they are cut into chunks. Drops one byte order mark at the very start, which hosts on Windows write.
 *
 * A callback that throws ends the `push()` or `resume()` that called it; the reader goes on with the next frame.
 */
export class FrameReader {
  readonly #options: FrameReaderOptions;
  readonly #partial = new FrameBuffer();
  readonly #queue: Buffer[] = [];
  /** Number of bytes of the first chunk of the queue that have been read. */
  #offset = 0;
  /** Number of bytes that were pushed and not read yet, because the reader is paused. Only the reader changes it. */
  backlog = 0;
  #atStart = true;
  #discarding = false;
  #reading = false;
  #paused = false;
  #ended = false;

  constructor(options: FrameReaderOptions) {
    this.#options = options;
  }

  /** Reads a chunk. Does not copy it as long as it is in the backlog, so the caller must leave it alone. */
  push(chunk: Uint8Array): void {
    if (this.#ended || chunk.length === 0) return;
    this.#queue.push(Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
    this.backlog += chunk.length;
    this.#read();
  }

  /** Ends the input. Drops a frame without its line end; complete frames of the backlog wait for `resume()`. */
  end(): void {
    this.#ended = true;
  }

  /**
   * Stops before the next frame, also in the middle of a chunk and from `onFrame`. Keeps further chunks whole: the caller stops its
   * source when {@link FrameReader.backlog} is too large. To stop the source at once would hide the end of the input, which is how a
   * host says goodbye.
   */
  pause(): void {
    this.#paused = true;
  }

  /** Reads the backlog, until it is empty or the reader is paused again. */
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
    this.backlog -= next - start;
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

/** Receives the state of the output. The callbacks may run inside `write()` or `flush()`. */
export interface FrameWriterEvents {
  /** The output is gone: EPIPE, a destroyed or ended stream, any error. Called once; nothing is written after it. */
  onBroken(cause: unknown): void;
  /** The output holds more than its high-water mark. Writing still works, and costs memory. */
  onFull(): void;
  /** The output is writable again after {@link FrameWriterEvents.onFull}. */
  onDrain(): void;
}

/** UTF-16 units that are written at once: about one pipe buffer on Linux. More in one write is not faster. */
const FLUSH_AT = 64 * 1024;
/**
 * Frames of one write, so that the client reads while the server works: with 32 calls in flight 30 % more calls a second than one
 * write for all, at no more CPU (measured on two cores). 8 is not faster than 16.
 */
const FRAMES_A_WRITE = 16;
const CLOSE_MS = 500;

/**
 * Writes frames to a stream, one a line. Small frames of one callback of the event loop and its microtasks share a write: a write for
 * each is a quarter of what a small call costs. Listens to the stream for good, also after `close()`: a late EPIPE must not become an uncaught exception.
 */
export class FrameWriter {
  readonly #output: Writable;
  readonly #events: FrameWriterEvents;
  #pending = "";
  #pendingFrames = 0;
  #isScheduled = false;
  #inFlight = 0;
  #full = false;
  #broken = false;
  #closing: Promise<void> | undefined;
  /** Ends the wait of `close()`. Restarted with each write that the output has taken. */
  #giveUp: NodeJS.Timeout | undefined;
  #settle: (() => void) | undefined;

  constructor(output: Writable, events: FrameWriterEvents) {
    this.#output = output;
    this.#events = events;
    output.on("error", this.#break);
    output.on("close", this.#onClosed);
    output.on("drain", this.#onDrained);
  }

  /** Queues one frame: JSON without a raw line break. Drops it once the output is broken or the writer closed. */
  write(json: string): void {
    if (this.#broken || this.#closing !== undefined) return;
    this.#pending += json + "\n";
    this.#pendingFrames += 1;
    if (this.#pendingFrames >= FRAMES_A_WRITE || this.#pending.length >= FLUSH_AT) this.flush();
    else this.#schedule();
  }

  /** Hands the queued frames to the output. */
  flush(): void {
    if (this.#broken || this.#pending === "") return;
    const text = this.#pending;
    this.#pending = "";
    this.#pendingFrames = 0;
    this.#send(text);
  }

  /**
   * Flushes, then waits until the output has taken everything, is broken, or takes nothing for half a second: a host that no longer
   * reads must not keep the process alive, and one that reads slowly gets every answer. Never rejects. Does not end the output, which belongs to the caller. Callable twice.
   */
  close(): Promise<void> {
    this.#closing ??= this.#drainOut();
    return this.#closing;
  }

  async #drainOut(): Promise<void> {
    this.flush();
    if (this.#broken || this.#inFlight === 0) return;
    await new Promise<void>((resolve) => {
      const giveUp = setTimeout(resolve, CLOSE_MS);
      this.#giveUp = giveUp;
      const settle = (): void => {
        clearTimeout(giveUp);
        resolve();
      };
      this.#settle = settle;
    });
  }

  #send(text: string): void {
    if (this.#output.destroyed || this.#output.writableEnded) return this.#onClosed();
    this.#inFlight += 1;
    this.#output.write(text, this.#onWritten);
    // What write() returns is no answer: it is false for a stream that failed as well, which will never drain.
    if (this.#full || !this.#output.writableNeedDrain) return;
    this.#full = true;
    this.#events.onFull();
  }

  /** A tick comes after all microtasks, so handlers that only await promises share a write, and before the next phase of the loop. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    process.nextTick(this.#flushLater);
  }

  readonly #flushLater = (): void => {
    this.#isScheduled = false;
    this.flush();
  };

  readonly #onWritten = (error: Error | null | undefined): void => {
    this.#inFlight -= 1;
    if (error) this.#break(error);
    if (this.#inFlight === 0) this.#settle?.();
    else if (!this.#broken) this.#giveUp?.refresh();
  };

  readonly #onDrained = (): void => {
    if (!this.#full || this.#broken) return;
    this.#full = false;
    this.#events.onDrain();
  };

  readonly #onClosed = (): void => this.#break(new SurfaceError("CLOSED", "Write a frame: the output is closed"));

  readonly #break = (cause: unknown): void => {
    if (this.#broken) return;
    this.#broken = true;
    this.#pending = "";
    this.#settle?.();
    this.#events.onBroken(cause);
  };
}
