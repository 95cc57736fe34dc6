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
 * turn to wait for, so that nothing else bounds how many there are. One answer for each request, since the library keeps
 * one place for those of one id that wait for their turn. It takes a number and its text for one id, and so do we.
 */
export class GuardedReader implements MessageReader {
  readonly #inner: MessageReader;
  readonly #gatekeeper: Gatekeeper;
  /** The requests that are not answered yet, and whether they were cancelled. */
  readonly #answering = new Map<string, boolean>();
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
    this.#answering.delete(String(id));
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
    const wasCancelled = this.#answering.get(id);
    if (judgement.kind === "cancel") {
      if (wasCancelled !== false) return;
      this.#answering.set(id, true);
      return callback(message);
    }
    if (wasCancelled !== undefined) return;
    this.#answering.set(id, false);
    this.#pass(message, callback);
  }

  #pass(message: Message, callback: DataCallback): void {
    this.#gatekeeper.passed();
    callback(message);
  }
}
