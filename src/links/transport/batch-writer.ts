import type { Writable } from "node:stream";
import { AbstractMessageWriter, type Message, type MessageWriter } from "vscode-jsonrpc/node";
import { SurfaceError } from "../../errors.ts";
import { isResult, toMessageText } from "./message-text.ts";

/** More in one write is not faster. In UTF-16 units, which counting costs nothing for. */
const flushAt = 64 * 1024;

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
  #answered: (() => void) | undefined;
  #pending = "";
  #isScheduled = false;
  #isEnded = false;

  /**
   * @param end - ends the stream, after everything was handed to it.
   * @param answered - told once, when a request is answered with a result.
   */
  constructor(output: Writable, end: () => void, answered?: () => void) {
    super();
    this.#output = output;
    this.#end = end;
    this.#answered = answered;
  }

  /** Whether the stream holds more than its high-water mark. */
  get isFull(): boolean {
    return this.#output.writableNeedDrain || this.#pending.length >= flushAt;
  }

  /** Rejects with `FRAME_TOO_LARGE`, or with `UNAVAILABLE` after the end: nothing of the message was sent then. */
  async write(message: Message): Promise<void> {
    if (this.#isEnded || !this.#output.writable) throw toUnwritable();
    const { text, bytes } = toMessageText(message);
    if (this.#answered !== undefined && isResult(message)) {
      this.#answered();
      this.#answered = undefined;
    }
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
