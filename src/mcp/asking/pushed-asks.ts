import type { ClientPort } from "../../call/asker.ts";
import type { AskKind, InputRequest } from "../../catalog/asking/asking.ts";
import { createSessionEndedError } from "../../catalog/own-refusals.ts";
import { Refusal, SurfaceError } from "../../errors.ts";
import { isJsonObject, type JsonObject } from "../../schema/json.ts";
import { followSignal, createAbortedError, untilAborted } from "../../spine/signals.ts";
import { callerKey, type Caller } from "../../surface/caller.ts";
import { internalError, type FaultReporter } from "../../surface/fault.ts";
import { Listeners } from "../../surface/listeners.ts";
import { ownParam, writeJson } from "../protocol.ts";
import type { ResponseFrame } from "../parse-frame.ts";
import { toAskRequest } from "./ask-protocol.ts";

/**
 * Sends a question, or its cancellation, as the text of one message. Must not throw.
 *
 * @param onDropped - called if the message is thrown away before the client got it.
 */
export type SendAsk = (json: string, onDropped: () => void) => void;

/** Dependencies of {@link PushedAsks}. */
export interface PushedAsksDeps {
  /** A second handshake may change them. */
  readonly kinds: () => ReadonlySet<AskKind>;
  /** Sends questions that belong to no request. */
  readonly send: SendAsk;
  readonly report?: FaultReporter;
}

interface SentAsk {
  readonly ask: InputRequest;
  readonly send: SendAsk;
  /** Fires when the call no longer waits for the answer. */
  readonly signal: AbortSignal;
  /** The caller whose call asks: an answer by a lesser token is dropped. Left out: any answer counts. */
  readonly caller: Caller | undefined;
}

interface Question extends SentAsk {
  isSent: boolean;
  readonly resolve: (answer: JsonObject) => void;
  readonly reject: (cause: Error) => void;
}

/** The roots of the client: one question for all calls that wait, and its answer until they change. */
interface SharedRoots {
  readonly answer: Promise<JsonObject>;
  readonly stop: AbortController;
  waiting: number;
  /** True if the answer is there, and small enough to be kept. */
  isKnown: boolean;
}

/** The largest list of roots that is kept, in UTF-16 units of its JSON. */
const maxKeptRoots = 65_536;

/** Returns whether roots are small enough to be kept. Roots too deep to be written are not. */
function canKeep(roots: JsonObject): boolean {
  try {
    return JSON.stringify(roots).length <= maxKeptRoots;
  } catch {
    return false;
  }
}

/** Refuses an answer with an error. Its text is the client's own and is not handed on. */
function toFailure(error: unknown): Refusal {
  const code = isJsonObject(error) ? ownParam(error, "code") : undefined;
  const details = Number.isSafeInteger(code) ? { clientCode: Number(code) } : undefined;
  return new Refusal("ASK_FAILED", "the client answered the question with an error", details);
}

/** Returns why a question is given up: the refusal of one whose time is over, else what ended its call. */
function reasonOf(signal: AbortSignal): Error {
  const reason: unknown = signal.reason;
  return reason instanceof Refusal ? reason : createAbortedError(signal, "Asking the client");
}

/** Returns whether a caller may answer a question asked of another: the same caller, granted at least as much. */
function mayAnswer(by: Caller, asked: Caller): boolean {
  if (callerKey(by) !== callerKey(asked)) return false;
  if (!asked.scopes.every((scope) => by.scopes.includes(scope))) return false;
  const { resources = {} } = by;
  return Object.entries(asked.resources ?? {}).every(([name, actions]) => {
    const own = Object.hasOwn(resources, name) ? (resources[name] ?? []) : [];
    return actions.every((action) => own.includes(action));
  });
}

/** Asks the client of one call. One object and no closures: most calls ask nothing. */
class PushedPort implements ClientPort {
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

  get push(): NonNullable<ClientPort["push"]> {
    return (ask, signal) => this.#asks.push({ ask, signal, send: this.#send, caller: this.#caller });
  }

  get onRoots(): NonNullable<ClientPort["onRoots"]> {
    return (changed) => this.#asks.onRoots(changed);
  }
}

/**
 * The questions to the client of one session or connection up to 2025-11-25. Each has an id, and is answered once, given up,
 * or ended with the session. Call `close()` when done.
 */
export class PushedAsks {
  readonly #deps: PushedAsksDeps;
  readonly #open = new Map<string, Question>();
  #roots: SharedRoots | undefined;
  readonly #rootsListeners = new Listeners();
  /** Asks for calls whose questions go where messages of no request go. */
  readonly port: ClientPort;
  #isHeld = false;
  #isClosed = false;

  constructor(deps: PushedAsksDeps) {
    this.#deps = deps;
    this.port = new PushedPort(this, deps.send);
  }

  get size(): number {
    return this.#open.size;
  }

  get kinds(): ReadonlySet<AskKind> {
    return this.#deps.kinds();
  }

  /**
   * Creates the port of one call.
   *
   * @param send - sends its questions.
   * @param caller - whose rights an answer needs. @default none
   */
  portFor(send: SendAsk, caller?: Caller): ClientPort {
    return new PushedPort(this, send, caller);
  }

  /** Holds questions back while the client does not read; then sends those that are still waited for. */
  hold(held: boolean): void {
    this.#isHeld = held;
    // Read each time: a question may fill the output.
    for (const [id, question] of this.#open) if (!this.#isHeld && !question.isSent) this.#deliver(id, question);
  }

  /** Ids of the questions that wait for an answer. */
  get ids(): Iterable<string> {
    return this.#open.keys();
  }

  /** Returns whether a question waits for an answer. */
  has(id: unknown): id is string {
    return typeof id === "string" && this.#open.has(id);
  }

  /** Takes an answer of the client. Drops one that no call waits for. */
  answer({ id, result, error }: ResponseFrame, by?: Caller): void {
    const question = typeof id === "string" ? this.#open.get(id) : undefined;
    if (question === undefined) return;
    if (question.caller !== undefined && by !== undefined && !mayAnswer(by, question.caller)) return;
    // Some clients write both members and leave one of them empty.
    if (error !== undefined && error !== null) question.reject(toFailure(error));
    else if (isJsonObject(result)) question.resolve(result);
    else question.reject(new Refusal("ASK_FAILED", "the client answered the question with what is no answer"));
  }

  /** Takes a notification of the client: when its roots changed, forgets them and calls the listeners. */
  notified(method: unknown): void {
    if (method !== "notifications/roots/list_changed") return;
    this.#roots = undefined;
    const { report } = this.#deps;
    this.#rootsListeners.tell(undefined, (cause) => {
      if (report !== undefined) internalError(cause, "telling of other roots", report);
    });
  }

  /** Rejects all questions, open and later ones. Callable twice. */
  close(): void {
    this.#isClosed = true;
    this.#rootsListeners.clear();
    this.#roots = undefined;
    for (const { reject } of this.#open.values()) reject(createSessionEndedError());
  }

  /** Closes, and cancels the open questions at a client that is still there. */
  drain(): void {
    this.#isClosed = true;
    for (const [id, question] of this.#open) this.#giveUp(id, question, createSessionEndedError());
    this.close();
  }

  /** Sends a question and waits for the answer. A question for roots is shared by all calls that ask it. */
  push(sent: SentAsk): Promise<JsonObject> {
    return sent.ask.kind === "roots" ? this.#shareRoots(sent) : this.#ask(sent);
  }

  onRoots(changed: () => void): () => void {
    return this.#rootsListeners.add(changed);
  }

  async #shareRoots(sent: SentAsk): Promise<JsonObject> {
    const { signal } = sent;
    if (signal.aborted) throw createAbortedError(signal, "Asking the client");
    const roots = (this.#roots ??= this.#askRoots(sent));
    roots.waiting += 1;
    try {
      return await untilAborted({ start: () => roots.answer, signal, doing: "Asking the client" });
    } finally {
      roots.waiting -= 1;
      // The last call that leaves cancels the question.
      if (roots.waiting === 0 && !roots.isKnown) {
        roots.stop.abort();
        this.#forgetRoots(roots);
      }
    }
  }

  #askRoots(sent: SentAsk): SharedRoots {
    const stop = new AbortController();
    const answer = this.#ask({ ...sent, signal: stop.signal });
    const roots: SharedRoots = { answer, stop, waiting: 0, isKnown: false };
    answer.then(
      (known) => (canKeep(known) ? void (roots.isKnown = true) : this.#forgetRoots(roots)),
      () => this.#forgetRoots(roots),
    );
    return roots;
  }

  #forgetRoots(roots: SharedRoots): void {
    if (this.#roots === roots) this.#roots = undefined;
  }

  #ask(sent: SentAsk): Promise<JsonObject> {
    const { signal } = sent;
    if (this.#isClosed) return Promise.reject(createSessionEndedError());
    if (signal.aborted) return Promise.reject(reasonOf(signal));
    // No client can guess it: a client that did not get the question cannot answer it.
    const id = `ask ${crypto.randomUUID()}`;
    return new Promise((resolve, reject) => {
      const settle = (): void => {
        this.#open.delete(id);
        leave();
      };
      const question: Question = {
        ...sent,
        isSent: false,
        resolve: (answer) => (settle(), resolve(answer)),
        reject: (cause) => (settle(), reject(cause)),
      };
      const leave = followSignal(signal, () => this.#giveUp(id, question, reasonOf(signal)));
      this.#open.set(id, question);
      if (!this.#isHeld) this.#deliver(id, question);
    });
  }

  #deliver(id: string, question: Question): void {
    question.isSent = true;
    question.send(writeJson({ jsonrpc: "2.0", id, ...toAskRequest(question.ask) }), () =>
      question.reject(new Refusal("ASK_FAILED", "the question was thrown away before the client was sent it")),
    );
  }

  /** Rejects a question, and cancels it at the client, which may show a form. */
  #giveUp(id: string, { isSent, send, reject }: Question, cause: Error): void {
    reject(cause);
    if (!isSent) return;
    const isLate = cause instanceof Refusal || (cause instanceof SurfaceError && cause.code === "TIMEOUT");
    const reason = isLate ? "no answer in time" : "the call that asked is over";
    const params = { requestId: id, reason };
    send(writeJson({ jsonrpc: "2.0", method: "notifications/cancelled", params }), () => {});
  }
}
