import { Message, type Event, type MessageWriter, type ResponseMessage } from "vscode-jsonrpc/node";
import { SurfaceError } from "../../errors.ts";
import { toErrorAnswer } from "./wire-fault.ts";

/** One request on its way out. */
export interface Outgoing {
  /** Why it was not written, where it was not. */
  failure?: unknown;
}

/** What a {@link GuardedWriter} tells. */
export interface WriteWatcher {
  /** Something was handed over to be sent. */
  wrote(): void;
  /** A request is being answered. */
  answered(id: string | number | null): void;
  /** A request of ours is being sent. */
  asked(id: string | number | null): void;
  /** It could not be. */
  unasked(id: string | number | null): void;
}

/** Whether one message was too large to be written. The connection is none the worse for it. */
export function isTooLarge(cause: unknown): cause is SurfaceError {
  return cause instanceof SurfaceError && cause.code === "FRAME_TOO_LARGE";
}

/** Writes, and keeps what the JSON-RPC library would lose of a write that failed. */
export class GuardedWriter implements MessageWriter {
  readonly #inner: MessageWriter;
  readonly #watcher: WriteWatcher;
  /** The request that was written last: the library writes it before it returns. */
  last: Outgoing = {};

  constructor(inner: MessageWriter, watcher: WriteWatcher) {
    this.#inner = inner;
    this.#watcher = watcher;
  }

  get onError(): Event<[Error, Message | undefined, number | undefined]> {
    return this.#inner.onError;
  }

  get onClose(): Event<void> {
    return this.#inner.onClose;
  }

  write(message: Message): Promise<void> {
    const writing = this.#inner.write(message);
    this.#watcher.wrote();
    if (Message.isRequest(message)) return this.#writeRequest(writing, message.id);
    return Message.isResponse(message) ? this.#writeAnswer(writing, message) : writing;
  }

  end(): void {
    this.#inner.end();
  }

  dispose(): void {
    this.#inner.dispose();
  }

  #writeRequest(writing: Promise<void>, id: string | number | null): Promise<void> {
    const outgoing: Outgoing = {};
    this.last = outgoing;
    this.#watcher.asked(id);
    return writing.catch((cause: unknown) => {
      this.#watcher.unasked(id);
      outgoing.failure = cause;
      throw cause;
    });
  }

  /** One request, one answer: where the answer is too large, that is the answer. */
  #writeAnswer(writing: Promise<void>, answer: ResponseMessage): Promise<void> {
    this.#watcher.answered(answer.id);
    return writing.catch(async (cause: unknown) => {
      if (!isTooLarge(cause)) throw cause;
      const { jsonrpc, id } = answer;
      const small: ResponseMessage = {
        jsonrpc,
        id,
        error: toErrorAnswer(new SurfaceError("FRAME_TOO_LARGE", "")).toJson(),
      };
      await this.#inner.write(small);
    });
  }
}
