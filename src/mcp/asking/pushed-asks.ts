import type { AskPort } from "../../call/ask-port.ts";
import type { AskKind } from "../../catalog/asking.ts";
import type { Caller } from "../../surface/caller.ts";
import type { JsonObject } from "../../schema/json.ts";
import { internalError, type FaultReporter } from "../../surface/fault.ts";
import { Listeners } from "../../surface/listeners.ts";
import type { ResponseFrame } from "../parse-frame.ts";
import { OpenQuestions, type SentAsk } from "./open-questions.ts";
import { SharedRoots } from "./shared-roots.ts";

/** Sends a question to a client, as {@link SentAsk} says. */
export type SendAsk = SentAsk["send"];

/** What the questions to one client are made of. */
export interface PushedAsksSetting {
  /** Returns the kinds of questions that the client can answer. A second handshake may change them. */
  readonly kinds: () => ReadonlySet<AskKind>;
  /** Where questions go that belong to no request. */
  readonly send: SendAsk;
  /** Told what those throw who are told of other roots. Left out: nobody is. */
  readonly report?: FaultReporter;
}

/** How the client of one call is asked. One object and no closures: most calls ask nothing. */
class PushedPort implements AskPort {
  readonly #asks: PushedAsks;
  readonly #send: SendAsk;
  readonly #caller: Caller | undefined;

  constructor(asks: PushedAsks, send: SendAsk, caller?: Caller) {
    this.#asks = asks;
    this.#send = send;
    this.#caller = caller;
  }

  get kinds(): ReadonlySet<AskKind> {
    return this.#asks.kinds;
  }

  get push(): NonNullable<AskPort["push"]> {
    return (ask, signal) => this.#asks.push({ ask, signal, send: this.#send, caller: this.#caller });
  }

  get onRoots(): NonNullable<AskPort["onRoots"]> {
    return (changed) => this.#asks.onRoots(changed);
  }
}

/**
 * The questions to the client of one session or connection of the legacy era: each with an id of its own, matched here and nowhere
 * else. Whoever made it closes it.
 */
export class PushedAsks {
  readonly #setting: PushedAsksSetting;
  readonly #questions = new OpenQuestions();
  readonly #roots = new SharedRoots();
  readonly #rootsListeners = new Listeners();
  readonly #port: AskPort;

  constructor(setting: PushedAsksSetting) {
    this.#setting = setting;
    this.#port = new PushedPort(this, setting.send);
  }

  /** How many questions wait for their answer. */
  get size(): number {
    return this.#questions.size;
  }

  /**
   * How the client of one call is asked.
   *
   * @param send - where its questions go. Default: where those of no request do.
   * @param caller - whose rights it takes to answer. Left out: nobody's.
   */
  portFor(send?: SendAsk, caller?: Caller): AskPort {
    return send === undefined ? this.#port : new PushedPort(this, send, caller);
  }

  /** Keeps what is asked from being sent, for as long as nobody reads it; then sends what is still waited for. */
  hold(held: boolean): void {
    this.#questions.hold(held);
  }

  /** Takes what a client answers; what nobody asked, or waits for any more, is dropped. */
  answer(frame: ResponseFrame, by?: Caller): void {
    this.#questions.answer(frame, by);
  }

  /** Its client says that its roots are others. */
  rootsChanged(): void {
    this.#roots.forget();
    const { report } = this.#setting;
    this.#rootsListeners.tell(undefined, (cause) => {
      if (report !== undefined) internalError(cause, "telling of other roots", report);
    });
  }

  /** Rejects whatever is open, and all that is asked later. Callable twice. */
  close(): void {
    this.#rootsListeners.clear();
    this.#roots.forget();
    this.#questions.close();
  }

  /** The same, of a client that is still there: it is told that nobody waits for its answers. */
  drain(): void {
    this.#questions.drain();
    this.close();
  }

  /** Kinds of questions that the client can answer. */
  get kinds(): ReadonlySet<AskKind> {
    return this.#setting.kinds();
  }

  /** Sends a question, and waits for the answer: of where its user works, together with all who want to know. */
  push(sent: SentAsk): Promise<JsonObject> {
    if (sent.ask.kind !== "roots") return this.#questions.ask(sent);
    return this.#roots.get((signal) => this.#questions.ask({ ...sent, signal }), sent.signal);
  }

  /** Calls `changed` when its client says that its roots are others. Returns what stops it. */
  onRoots(changed: () => void): () => void {
    return this.#rootsListeners.add(changed);
  }
}
