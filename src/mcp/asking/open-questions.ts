import type { ClientAsk } from "../../catalog/asking.ts";
import type { Caller } from "../../surface/caller.ts";
import { toSessionOver } from "../../catalog/session-over.ts";
import { Refusal, SurfaceError } from "../../errors.ts";
import { isJsonObject, type JsonObject } from "../../schema/json.ts";
import { followSignal } from "../../spine/follow-signal.ts";
import { toAborted } from "../../spine/until-aborted.ts";
import { ownParam } from "../own-param.ts";
import type { ResponseFrame } from "../parse-frame.ts";
import { writeJson } from "../write-json.ts";
import { toAskRequest } from "./ask-method.ts";
import { mayAnswer } from "./may-answer.ts";

/** One question, and where it goes. */
export interface SentAsk {
  readonly ask: ClientAsk;
  /**
   * Sends the question, or that it is not waited for any more, as the text of one message. Must not throw.
   *
   * @param onDropped - told where it is thrown away before anybody was sent it.
   */
  readonly send: (json: string, onDropped: () => void) => void;
  /** Nobody waits for the answer any more. */
  readonly signal: AbortSignal;
  /** Whose call asks: a lesser token does not answer. Left out: whoever has the connection does. */
  readonly caller?: Caller | undefined;
}

/** A question that has no answer. */
interface Question {
  readonly sent: SentAsk;
  /** Sends it; left out where it was sent. */
  deliver: (() => void) | undefined;
  resolve(answer: JsonObject): void;
  reject(cause: Error): void;
}

function failed(message: string, details?: JsonObject): Refusal {
  return new Refusal("ASK_FAILED", message, details);
}

/** Why an answer with an error is none. Its text is the client's own, and is not handed on. */
function toFailure(error: unknown): Refusal {
  const code = isJsonObject(error) ? ownParam(error, "code") : undefined;
  const details = Number.isSafeInteger(code) ? { clientCode: Number(code) } : undefined;
  return failed("the client answered the question with an error", details);
}

/** Returns why a question is given up: the refusal of one whose time is over, else what ended its call. */
function reasonOf(signal: AbortSignal): Error {
  const reason: unknown = signal.reason;
  return reason instanceof Refusal ? reason : toAborted(signal, "Asking the client");
}

/** The questions to one client that are open: each is answered once, is given up, or ends with the session. */
export class OpenQuestions {
  readonly #open = new Map<string, Question>();
  #held = false;
  #closed = false;

  /** How many wait for an answer. */
  get size(): number {
    return this.#open.size;
  }

  /** Asks, and waits for the answer. */
  ask(sent: SentAsk): Promise<JsonObject> {
    const { signal } = sent;
    if (this.#closed) return Promise.reject(toSessionOver());
    if (signal.aborted) return Promise.reject(reasonOf(signal));
    // No client and no SDK makes ids like it, and nobody can guess it: who was not sent a question cannot answer it.
    const id = `ask ${crypto.randomUUID()}`;
    return new Promise((resolve, reject) => {
      const question: Question = { sent, deliver: undefined, resolve, reject };
      const leave = followSignal(signal, () => this.#giveUp(id, reasonOf(signal)));
      const settle = (): void => {
        this.#open.delete(id);
        leave();
      };
      question.resolve = (answer) => (settle(), resolve(answer));
      question.reject = (cause) => (settle(), reject(cause));
      question.deliver = () => this.#deliver(id, sent);
      this.#open.set(id, question);
      if (!this.#held) question.deliver();
    });
  }

  /** Keeps what is asked from being sent, or sends what was kept and is still waited for. */
  hold(held: boolean): void {
    this.#held = held;
    if (!held) for (const question of [...this.#open.values()]) question.deliver?.();
  }

  /** Takes what a client answers; what nobody asked, or waits for any more, is dropped. */
  answer({ id, result, error }: ResponseFrame, by?: Caller): void {
    const question = this.#find(id, by);
    if (question === undefined) return;
    // Some write both members and leave one of them empty.
    if (error !== undefined && error !== null) question.reject(toFailure(error));
    else if (isJsonObject(result)) question.resolve(result);
    else question.reject(failed("the client answered the question with what is no answer"));
  }

  /** Rejects whatever is open, and all that is asked later. Callable twice. */
  close(): void {
    this.#closed = true;
    for (const id of [...this.#open.keys()]) this.#reject(id, toSessionOver());
  }

  /** The same, of a client that is still there: it is told that nobody waits for its answers. */
  drain(): void {
    this.#closed = true;
    for (const id of [...this.#open.keys()]) this.#giveUp(id, toSessionOver());
  }

  #find(id: unknown, by: Caller | undefined): Question | undefined {
    const question = typeof id === "string" ? this.#open.get(id) : undefined;
    const asked = question?.sent.caller;
    return asked === undefined || by === undefined || mayAnswer(by, asked) ? question : undefined;
  }

  #deliver(id: string, { ask, send }: SentAsk): void {
    const question = this.#open.get(id);
    if (question === undefined) return;
    question.deliver = undefined;
    send(writeJson({ jsonrpc: "2.0", id, ...toAskRequest(ask) }), () =>
      this.#reject(id, failed("the question was thrown away before the client was sent it")),
    );
  }

  /** Nobody waits for an answer any more. A form is not to stay on somebody's screen then. */
  #giveUp(id: string, cause: Error): void {
    const question = this.#open.get(id);
    if (question === undefined) return;
    question.reject(cause);
    if (question.deliver !== undefined) return;
    const isLate = cause instanceof Refusal || (cause instanceof SurfaceError && cause.code === "TIMEOUT");
    const reason = isLate ? "no answer in time" : "nobody waits for the answer any more";
    const params = { requestId: id, reason };
    question.sent.send(writeJson({ jsonrpc: "2.0", method: "notifications/cancelled", params }), () => {});
  }

  #reject(id: string, cause: Error): void {
    this.#open.get(id)?.reject(cause);
  }
}
