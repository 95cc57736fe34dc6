import { Buffer } from "node:buffer";
import type { Writable } from "node:stream";
import { AbstractMessageWriter, type Message, type MessageWriter } from "vscode-jsonrpc/node";
import { SurfaceError } from "../../errors.ts";
import { maxFrameBytes } from "./frame-cutter.ts";

/** More in one write is not faster. In UTF-16 units, which counting costs nothing for. */
const flushAt = 64 * 1024;

/** The error of a message that is larger than the far side takes: it is not sent, and the connection lives on. */
export function toOversize(bytes: number): SurfaceError {
  return new SurfaceError(
    "FRAME_TOO_LARGE",
    `Writing to a link: a message has ${bytes} bytes, and must have at most ${maxFrameBytes}`,
  );
}

/** The error of a message that was written after the end. */
export function toUnwritable(): SurfaceError {
  return new SurfaceError("UNAVAILABLE", "Writing to a link: it has ended, and must be open");
}

/**
 * Writes messages to a stream. Those of one turn of the event loop go out in one write, since a write a message is most
 * of what a small message costs. That the stream broke is told by its reader.
 */
export class BatchWriter extends AbstractMessageWriter implements MessageWriter {
  readonly #output: Writable;
  readonly #end: () => void;
  #pending = "";
  #isScheduled = false;
  #isEnded = false;

  /** @param end - ends the stream, after everything was handed to it. */
  constructor(output: Writable, end: () => void) {
    super();
    this.#output = output;
    this.#end = end;
  }

  /** Whether the stream holds more than its high-water mark. */
  get isFull(): boolean {
    return this.#output.writableNeedDrain || this.#pending.length >= flushAt;
  }

  /** Rejects with `FRAME_TOO_LARGE`, or with `UNAVAILABLE` after the end: nothing of the message was sent then. */
  async write(message: Message): Promise<void> {
    if (this.#isEnded || !this.#output.writable) throw toUnwritable();
    const text = JSON.stringify(message);
    const bytes = Buffer.byteLength(text);
    if (bytes > maxFrameBytes) throw toOversize(bytes);
    this.#pending += `Content-Length: ${bytes}\r\n\r\n${text}`;
    if (this.#pending.length >= flushAt) this.#flush();
    else this.#schedule();
  }

  end(): void {
    if (this.#isEnded) return;
    this.#flush();
    this.#isEnded = true;
    this.#end();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    // Runs when the microtasks of this turn have: what they answer is in the same write.
    process.nextTick(this.#onTick);
  }

  readonly #onTick = (): void => {
    this.#isScheduled = false;
    this.#flush();
  };

  #flush(): void {
    const text = this.#pending;
    this.#pending = "";
    if (text !== "" && this.#output.writable) this.#output.write(text);
  }
}
