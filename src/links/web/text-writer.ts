import { AbstractMessageWriter, type Message, type MessageWriter } from "vscode-jsonrpc/node";
import { WebSocket } from "ws";
import { toUnwritable } from "../transport/batch-writer.ts";
import { isResult, toMessageText } from "../transport/message-text.ts";

/** From here on what was written waits for the far side. */
const highWaterMark = 64 * 1024;

/** Writes messages to a web socket, a text each. That it broke is told by its reader. */
export class TextWriter extends AbstractMessageWriter implements MessageWriter {
  readonly #socket: WebSocket;
  readonly #drained: () => void;
  #answered: (() => void) | undefined;
  #wasFull = false;

  /**
   * @param drained - called each time that it is no longer full.
   * @param answered - told once, when a request is answered with a result.
   */
  constructor(socket: WebSocket, drained: () => void, answered?: () => void) {
    super();
    this.#socket = socket;
    this.#drained = drained;
    this.#answered = answered;
  }

  /** Whether more was written than the far side has taken. */
  get isFull(): boolean {
    return this.#socket.bufferedAmount > highWaterMark;
  }

  /** Rejects with `FRAME_TOO_LARGE`, or with `UNAVAILABLE` after the end: nothing of the message was sent then. */
  async write(message: Message): Promise<void> {
    if (this.#socket.readyState !== WebSocket.OPEN) throw toUnwritable();
    const { text } = toMessageText(message);
    if (this.#answered !== undefined && isResult(message)) {
      this.#answered();
      this.#answered = undefined;
    }
    this.#socket.send(text, this.#onSent);
    this.#wasFull ||= this.isFull;
  }

  end(): void {
    this.#socket.close(1000);
  }

  readonly #onSent = (): void => {
    if (!this.#wasFull || this.isFull) return;
    this.#wasFull = false;
    this.#drained();
  };
}
