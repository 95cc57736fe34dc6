import type { Writable } from "node:stream";
import { SurfaceError } from "../errors.ts";

/** What a {@link FrameWriter} reports. The callbacks may run inside `write()` or `flush()`. */
export interface FrameWriterEvents {
  /** The output is gone: EPIPE, a destroyed or ended stream, any error. Told once; nothing is written after it. */
  onBroken(cause: unknown): void;
  /** The output holds more than its high-water mark. Writing still works, and costs memory. */
  onFull(): void;
  /** The output is writable again after {@link FrameWriterEvents.onFull}. */
  onDrain(): void;
}

/** Sends frames, one a line. */
export interface FrameWriter {
  /** Queues one frame: JSON without a raw line break. Dropped once the output is broken or the writer closed. */
  write(json: string): void;
  /** Hands what is queued to the output now. */
  flush(): void;
  /**
   * Flushes, then waits until the output has taken everything, is broken, or half a second has passed, since a host
   * that no longer reads must not keep the process alive. Never rejects; a second call gives the same promise. The
   * output itself is not ended: it belongs to whoever made it.
   */
  close(): Promise<void>;
}

/** About one pipe buffer on Linux: more in one write is not faster. In UTF-16 units, which the check costs nothing for. */
const FLUSH_AT = 64 * 1024;
const CLOSE_MS = 500;

/**
 * Makes a {@link FrameWriter} over a stream. All frames of one turn of the event loop go out in one write, since a
 * write a message is a quarter of what a small call costs. The writer listens to the stream for good, also after
 * `close()`: a late EPIPE must not become an uncaught exception.
 */
export function createFrameWriter(output: Writable, events: FrameWriterEvents): FrameWriter {
  return new LineWriter(output, events);
}

class LineWriter implements FrameWriter {
  readonly #output: Writable;
  readonly #events: FrameWriterEvents;
  #pending = "";
  #scheduled: NodeJS.Immediate | undefined;
  #inFlight = 0;
  #full = false;
  #broken = false;
  #closing: Promise<void> | undefined;
  #settle: (() => void) | undefined;

  constructor(output: Writable, events: FrameWriterEvents) {
    this.#output = output;
    this.#events = events;
    output.on("error", this.#break);
    output.on("close", this.#onClosed);
    output.on("drain", this.#onDrained);
  }

  write(json: string): void {
    if (this.#broken || this.#closing !== undefined) return;
    this.#pending += json + "\n";
    if (this.#pending.length >= FLUSH_AT) this.flush();
    else this.#scheduled ??= setImmediate(this.#flushLater);
  }

  flush(): void {
    clearImmediate(this.#scheduled);
    this.#scheduled = undefined;
    if (this.#broken || this.#pending === "") return;
    const text = this.#pending;
    this.#pending = "";
    this.#send(text);
  }

  close(): Promise<void> {
    this.#closing ??= this.#drainOut();
    return this.#closing;
  }

  async #drainOut(): Promise<void> {
    this.flush();
    if (this.#broken || this.#inFlight === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, CLOSE_MS);
      const settle = (): void => {
        clearTimeout(timer);
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

  readonly #flushLater = (): void => this.flush();

  readonly #onWritten = (error: Error | null | undefined): void => {
    this.#inFlight -= 1;
    if (error) this.#break(error);
    if (this.#inFlight === 0) this.#settle?.();
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
    clearImmediate(this.#scheduled);
    this.#settle?.();
    this.#events.onBroken(cause);
  };
}
