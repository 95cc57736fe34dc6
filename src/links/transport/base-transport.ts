import { Buffer } from "node:buffer";
import { setImmediate } from "node:timers";
import { SurfaceError } from "../../errors.ts";
import { fitsDepth, fitsValues } from "../../json-rpc/scan.ts";
import { isJsonObject, type JsonObject } from "../../schema/json.ts";
import { systemClock } from "../../surface/system-clock.ts";

/** Callbacks of a {@link WireTransport}. None of them may throw. */
export interface TransportListener {
  message(message: JsonObject): void;
  drained(): void;
  /** Called once, after the last message. Without a cause the end is orderly. */
  ended(cause: Error | undefined): void;
}

/** A two-way pipe of whole JSON-RPC messages of bounded size, with flow control. */
export interface WireTransport {
  /** Whether the output is above its high-water mark: messages that can wait, or be dropped, should. */
  readonly isFull: boolean;
  /** Bytes read so far, including those of an unfinished message. */
  readonly received: number;
  /** Bytes written that the far side has not taken. */
  readonly backlog: number;
  /** Characters of the message that the listener is handling. */
  readonly size: number;
  /** Delivers messages from the next turn on, including those that came before, and the end. Called once. */
  listen(listener: TransportListener): void;
  /** Writes a message. @throws SurfaceError, with nothing of it sent: `FRAME_TOO_LARGE`, or `UNAVAILABLE` after the end. */
  write(message: object): void;
  /** Takes large messages from now on. A server does so after the hello of its peer. */
  trust(): void;
  /** Stops reading, so that back pressure reaches the far side. Callable twice. */
  pause(): void;
  /** Reads on. Callable twice. */
  resume(): void;
  /** Sends what is written and ends; destroys the carrier if that takes long. Callable twice. */
  close(): void;
  /** Destroys the carrier at once: unsent messages are lost. Callable more than once. */
  destroy(): void;
}

/** Most bytes of one message, its header not counted. */
export const maxFrameBytes: number = 16 * 1024 * 1024;

/** Most bytes of a message before the hello: names and digests of some thousand members. */
export const maxFirstBytes: number = 1024 * 1024;

/** Creates the error of a message of the far side that breaks the protocol. */
export function unreadable(
  problem: string,
  code: "PROTOCOL_MISMATCH" | "FRAME_TOO_LARGE" = "PROTOCOL_MISMATCH",
): SurfaceError {
  return new SurfaceError(code, `Cannot read from a link: ${problem}`);
}

/** Creates the error of a message that is too large. */
export function toTooLarge(bytes: number, most: number): SurfaceError {
  return unreadable(`a message has ${bytes} bytes, more than ${most}`, "FRAME_TOO_LARGE");
}

/** Creates the error of a carrier that failed. */
export function toBroken(cause: unknown): SurfaceError {
  return new SurfaceError("DISCONNECTED", "Cannot use a link: the connection broke", { cause });
}

/** Most levels of a message: more than values have, and few enough for recursive code. */
export const maxDepth = 256;

/** Most commas and opening brackets of a message: parsing many small values takes longer than one long text. */
export const maxValues = 500_000;

/** Milliseconds that the far side may take to end its half. */
const closingMs = 1000;
const heavyUnread = 1024 * 1024;
/** Memory of a text in addition to its characters. */
const textCost = 64;

function parse(text: string): JsonObject | undefined {
  // A text of so few characters cannot be too deep.
  if (text.length > maxDepth && !(fitsDepth(text, maxDepth) && fitsValues(text, maxValues))) return undefined;
  try {
    const message: unknown = JSON.parse(text);
    return isJsonObject(message) ? message : undefined;
  } catch {
    return undefined;
  }
}

function tooLargeToWrite(problem: string): SurfaceError {
  return new SurfaceError("FRAME_TOO_LARGE", `Cannot write to a link: a message has ${problem}`);
}

/** Bounds, parses and writes messages. While paused it reads on up to a bound: a carrier that is not read does not show its end. */
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
  /** Whether nothing is delivered: before the first turn, and during a delivery. */
  #isBusy = true;
  #isDropping = false;
  #isOver = false;
  #isClosing = false;
  #end: { readonly cause: Error | undefined } | undefined;

  listen(listener: TransportListener): void {
    this.#listener = listener;
    // The listener can write first, and learns of a dead carrier by the failure of that write.
    setImmediate(() => {
      this.#isBusy = false;
      this.#read();
    });
  }

  write(message: object): void {
    if (this.#isClosing || !this.isWritable()) {
      throw new SurfaceError("UNAVAILABLE", "Cannot write to a link: it has ended");
    }
    const text = JSON.stringify(message);
    const bytes = Buffer.byteLength(text);
    if (bytes > maxFrameBytes) throw tooLargeToWrite(`${bytes} bytes, more than ${maxFrameBytes}`);
    if (bytes > maxValues && !fitsValues(text, maxValues)) throw tooLargeToWrite(`more than ${maxValues} values`);
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
    // It still reads, and drops the messages: otherwise it would not see the end of the far side.
    this.#drop();
    this.finishWriting();
    this.onceClosed(systemClock.after(closingMs, () => this.destroy()));
  }

  abstract trust(): void;
  abstract destroy(): void;

  /** Returns whether the carrier accepts a text. */
  protected abstract isWritable(): boolean;
  protected abstract send(text: string, bytes: number): void;
  /** Sends what is written, then ends the output. */
  protected abstract finishWriting(): void;
  /** Starts or stops reading the carrier. */
  protected abstract flow(isFlowing: boolean): void;
  /** Calls `fn` when the carrier is gone. */
  protected abstract onceClosed(fn: () => void): void;

  protected push(text: string): void {
    if (this.#end !== undefined || this.#isDropping) return;
    this.#texts.push(text);
    this.#weigh(text.length + textCost);
    this.#read();
  }

  /** Ends the transport. The first cause counts; without one the end is orderly. */
  protected end(cause?: Error): void {
    if (this.#end !== undefined) return;
    this.#end = { cause };
    this.#read();
  }

  protected drained(): void {
    this.#listener?.drained();
  }

  /** Drops all messages from now on, but not the end. */
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

  /** Does not run inside itself: after `resume()` during a delivery, the running loop goes on. */
  #read(): void {
    const listener = this.#listener;
    if (this.#isBusy || listener === undefined) return;
    this.#isBusy = true;
    // After the end nothing resumes it, and few messages are left.
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
    if (message === undefined)
      return this.#fail(
        unreadable(`a message must be a JSON object of at most ${maxDepth} levels and ${maxValues} values`),
      );
    try {
      listener.message(message);
    } catch (cause) {
      // A bug of this package: the connection ends, so that no operation waits for ever.
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
