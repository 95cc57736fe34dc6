import { Buffer } from "node:buffer";
import { setImmediate } from "node:timers";
import { SurfaceError } from "../../errors.ts";
import { fitsDepth, fitsValues } from "../../json-rpc/scan.ts";
import { isJsonObject, type JsonObject } from "../../schema/json.ts";
import { systemClock } from "../../surface/system-clock.ts";
import type { TransportListener, WireTransport } from "../wire/transport.ts";
import { maxFrameBytes } from "./frame-cutter.ts";

/** Most levels of a message: more than values have, and few enough for recursive code. */
export const maxDepth = 256;

/**
 * Most commas and opening brackets of a message. A text full of small values is parsed for seconds, during which nothing else
 * runs; this many take about as long as the characters of the longest message.
 */
export const maxValues = 500_000;

/** Milliseconds that the far side may take to say goodbye in turn. */
const closingMs = 1000;
const heavyUnread = 1024 * 1024;
/** Memory of a text beside its characters. */
const textCost = 64;

function parse(text: string): JsonObject | undefined {
  if (!fitsDepth(text, maxDepth) || !fitsValues(text, maxValues)) return undefined;
  try {
    const message: unknown = JSON.parse(text);
    return isJsonObject(message) ? message : undefined;
  } catch {
    return undefined;
  }
}

function createUnreadable(): SurfaceError {
  const problem = `a message must be a JSON object of at most ${maxDepth} levels and ${maxValues} values`;
  return new SurfaceError("PROTOCOL_MISMATCH", `Reading from a link: ${problem}`);
}

function toOversize(problem: string): SurfaceError {
  return new SurfaceError("FRAME_TOO_LARGE", `Writing to a link: a message has ${problem}`);
}

/**
 * Bounds messages, parses and writes them, and pauses, whatever carries their texts. While it is paused it goes on reading up to a
 * bound, because the end of a carrier that is not read would not be seen. What came before the end is handed on before the end.
 */
export abstract class BaseTransport implements WireTransport {
  abstract readonly isFull: boolean;
  abstract readonly received: number;
  abstract readonly backlog: number;
  size = 0;
  #listener: TransportListener | undefined;
  #texts: string[] = [];
  #unread = 0;
  #isHeavy = false;
  #isPaused = false;
  /** Whether nothing is handed on: before the first turn, and while a message is. */
  #isBusy = true;
  #isDropping = false;
  #isOver = false;
  #isClosing = false;
  #end: { readonly cause: Error | undefined } | undefined;

  listen(listener: TransportListener): void {
    this.#listener = listener;
    // The listener can say something first, and hears by its failure why there is nobody to hear it.
    setImmediate(() => {
      this.#isBusy = false;
      this.#read();
    });
  }

  write(message: object): void {
    if (this.#isClosing || !this.isWritable()) {
      throw new SurfaceError("UNAVAILABLE", "Writing to a link: it has ended, and must be open");
    }
    const text = JSON.stringify(message);
    const bytes = Buffer.byteLength(text);
    if (bytes > maxFrameBytes) throw toOversize(`${bytes} bytes, and must have at most ${maxFrameBytes}`);
    if (!fitsValues(text, maxValues)) throw toOversize(`more values than ${maxValues}`);
    this.send(text, bytes);
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.#read();
  }

  close(): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    // Read on, into nothing: the far side's end would not be seen otherwise.
    this.#drop();
    this.finishWriting();
    this.onceClosed(systemClock.after(closingMs, () => this.destroy()));
  }

  abstract trust(): void;
  abstract destroy(): void;

  /** Whether the carrier takes a text. */
  protected abstract isWritable(): boolean;
  /** Sends a text. */
  protected abstract send(text: string, bytes: number): void;
  /** Sends what is written, then says that nothing follows. */
  protected abstract finishWriting(): void;
  /** Starts or stops reading the carrier. */
  protected abstract flow(isFlowing: boolean): void;
  /** Calls `fn` when the carrier is gone. */
  protected abstract onceClosed(fn: () => void): void;

  /** To be called with the text of each message. */
  protected push(text: string): void {
    if (this.#end !== undefined || this.#isDropping) return;
    this.#texts.push(text);
    this.#weigh(text.length + textCost);
    this.#read();
  }

  /** To be called when nothing follows. The first cause counts; none is an orderly end. */
  protected end(cause?: Error): void {
    if (this.#end !== undefined) return;
    this.#end = { cause };
    this.#read();
  }

  /** To be called each time that the carrier is no longer full. */
  protected drained(): void {
    this.#listener?.drained();
  }

  /** Drops what has come and what comes; the end is still told. */
  #drop(): void {
    this.#isDropping = true;
    this.#texts = [];
    this.#weigh(-this.#unread);
  }

  #weigh(more: number): void {
    this.#unread += more;
    const isHeavy = this.#unread > (this.#isHeavy ? heavyUnread / 2 : heavyUnread);
    if (isHeavy === this.#isHeavy) return;
    this.#isHeavy = isHeavy;
    this.flow(!isHeavy);
  }

  /** Never runs inside itself: `resume()` for a message lets the loop that is under way go on. */
  #read(): void {
    const listener = this.#listener;
    if (this.#isBusy || listener === undefined) return;
    this.#isBusy = true;
    // After the end nothing resumes it, and what is left is little.
    while (!this.#isPaused || this.#end !== undefined) {
      const text = this.#texts.shift();
      if (text === undefined) break;
      this.#weigh(-text.length - textCost);
      this.#deliver(text, listener);
    }
    this.#isBusy = false;
    if (this.#end !== undefined) this.#finish(this.#end.cause, listener);
  }

  #deliver(text: string, listener: TransportListener): void {
    const message = parse(text);
    this.size = text.length;
    if (message === undefined) return this.#fail(createUnreadable());
    try {
      listener.message(message);
    } catch (cause) {
      // A fault of this package: the connection ends, and what waits on it with it.
      this.#fail(cause instanceof Error ? cause : undefined);
    }
  }

  #fail(cause: Error | undefined): void {
    this.#drop();
    this.#end ??= { cause };
  }

  #finish(cause: Error | undefined, listener: TransportListener): void {
    if (this.#isOver) return;
    this.#isOver = true;
    listener.ended(cause);
    this.destroy();
  }
}
