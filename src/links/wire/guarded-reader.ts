import type { DataCallback, Disposable, Event, Message, MessageReader, PartialMessageInfo } from "vscode-jsonrpc/node";
import { judgeMessage } from "./judge-message.ts";

/** What a {@link GuardedReader} tells. */
export interface Gatekeeper {
  /** A message has come, whatever it is. Answers whether any is taken still. */
  heard(): boolean;
  /** A message is about to be handed on, to wait for its turn. */
  passed(): void;
  /** What came is no message: the connection is to end. */
  malformed(why: string): void;
}

/**
 * Hands on what has the form of a message; no request whose id is in use, and one cancel for each that is: those have no
 * turn to wait for, so that nothing else bounds how many there are.
 */
export class GuardedReader implements MessageReader {
  readonly #inner: MessageReader;
  readonly #gatekeeper: Gatekeeper;
  /** The requests that are not answered yet, and whether they were cancelled. */
  readonly #answering = new Map<string | number, boolean>();

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
    if (id !== null) this.#answering.delete(id);
  }

  dispose(): void {
    this.#answering.clear();
    this.#inner.dispose();
  }

  #take(message: Message, callback: DataCallback): void {
    const judgement = judgeMessage(message);
    if (judgement.kind === "dropped") return;
    if (judgement.kind === "malformed") return this.#gatekeeper.malformed(judgement.why);
    if (judgement.kind === "cancel") {
      if (this.#answering.get(judgement.id) !== false) return;
      this.#answering.set(judgement.id, true);
      return callback(message);
    }
    if (judgement.kind === "request") {
      if (this.#answering.has(judgement.id)) return;
      this.#answering.set(judgement.id, false);
    }
    this.#gatekeeper.passed();
    callback(message);
  }
}
