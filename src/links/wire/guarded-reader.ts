import type {
  DataCallback,
  Disposable,
  Event,
  Message,
  MessageReader,
  PartialMessageInfo,
  RequestMessage,
} from "vscode-jsonrpc/node";
import { judgeMessage } from "./judge-message.ts";

/** What a {@link GuardedReader} tells. */
export interface Gatekeeper {
  /** A message has come, whatever it is. Answers whether any is taken still. */
  heard(): boolean;
  /** Counts the request that is being handed on. Returns its size; `undefined`: there is no room for it. */
  admit(): number | undefined;
  /** A request of this size was answered. */
  answered(size: number): void;
  /** A message is about to be handed on, to wait for its turn. */
  passed(): void;
  /** What came is no message: the connection is to end. */
  malformed(why: string): void;
}

/** Stands for a request whose arguments found no room: it is answered with an error, and keeps nothing of them. */
export const overBudgetMethod = "surface/over-budget";

function toOverBudget({ jsonrpc }: Message, id: string | number | null): RequestMessage {
  return { jsonrpc, id, method: overBudgetMethod };
}

/**
 * Hands on what has the form of a message; no request whose id is in use, and one cancel for each that is: those have no
 * turn to wait for, so that nothing else bounds how many there are. One answer for each request, since the library keeps
 * one place for those of one id that wait for their turn. It takes a number and its text for one id, and so do we.
 */
export class GuardedReader implements MessageReader {
  readonly #inner: MessageReader;
  readonly #gatekeeper: Gatekeeper;
  /** The requests that are not answered yet, and their sizes. */
  readonly #answering = new Map<string, number>();
  /** Those of them that were cancelled. */
  readonly #cancelled = new Set<string>();
  /** Our own requests that are not answered yet. */
  readonly #asked = new Set<string>();

  constructor(inner: MessageReader, gatekeeper: Gatekeeper) {
    this.#inner = inner;
    this.#gatekeeper = gatekeeper;
  }

  get onError(): Event<Error> {
    return this.#inner.onError;
  }

  get onClose(): Event<void> {
    return this.#inner.onClose;
  }

  get onPartialMessage(): Event<PartialMessageInfo> {
    return this.#inner.onPartialMessage;
  }

  listen(callback: DataCallback): Disposable {
    return this.#inner.listen((message) => {
      if (this.#gatekeeper.heard()) this.#take(message, callback);
    });
  }

  /** The request with this id was answered: the id may be used again. */
  answered(id: string | number | null): void {
    const key = String(id);
    const size = this.#answering.get(key);
    this.#answering.delete(key);
    this.#cancelled.delete(key);
    if (size !== undefined) this.#gatekeeper.answered(size);
  }

  /** A request with this id is being sent: an answer to it is taken. */
  asked(id: string | number | null): void {
    this.#asked.add(String(id));
  }

  /** It was not sent after all. */
  unasked(id: string | number | null): void {
    this.#asked.delete(String(id));
  }

  dispose(): void {
    this.#answering.clear();
    this.#cancelled.clear();
    this.#asked.clear();
    this.#inner.dispose();
  }

  #take(message: Message, callback: DataCallback): void {
    const judgement = judgeMessage(message);
    if (judgement.kind === "dropped") return;
    if (judgement.kind === "malformed") return this.#gatekeeper.malformed(judgement.why);
    if (judgement.kind === "other") return this.#pass(message, callback);
    const id = String(judgement.id);
    if (judgement.kind === "answer") {
      if (this.#asked.delete(id)) this.#pass(message, callback);
      return;
    }
    const isAnswering = this.#answering.has(id);
    if (judgement.kind === "request") {
      if (!isAnswering) this.#pass(this.#admit(message, judgement.id), callback);
    } else if (isAnswering && !this.#cancelled.has(id)) {
      this.#cancelled.add(id);
      callback(message);
    }
  }

  #admit(message: Message, id: string | number | null): Message {
    const size = this.#gatekeeper.admit();
    this.#answering.set(String(id), size ?? 0);
    return size === undefined ? toOverBudget(message, id) : message;
  }

  #pass(message: Message, callback: DataCallback): void {
    this.#gatekeeper.passed();
    callback(message);
  }
}
