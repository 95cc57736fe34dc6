import { createHmac, randomUUID } from "node:crypto";
import type { AskAnswer, Asking, RequestState, TimedInputRequest } from "../catalog/asking/asking.ts";
import { createErrorResult, inputRequired, type ErrorResult } from "../catalog/outcome.ts";
import { SurfaceError } from "../errors.ts";
import { canonicalText, type JsonObject, type JsonValue } from "../schema/json.ts";
import { internalError } from "../surface/fault.ts";
import type { ClientPort, Resumed } from "./asker.ts";
import type { CallContext } from "./call-context.ts";
import type { ThrownAt } from "./to-error-result.ts";

/**
 * Returns a digest of a value: equal values have equal digests.
 *
 * @param salt - a secret, so that readers of a digest cannot guess the value by trying.
 */
export function digestJson(json: JsonValue, salt = ""): string {
  return createHmac("sha256", salt).update(canonicalText(json)).digest("base64url");
}

/** The maximum size of a record in bytes of JSON. It travels in each request of the call. */
const maxRecordBytes = 32_768;

const tooLarge: ErrorResult = Object.freeze(
  createErrorResult(
    "ASK_STATE_TOO_LARGE",
    `the answers to the questions of this call exceed ${maxRecordBytes} bytes, which is more than a request can carry; answer more briefly`,
  ),
);

interface AskedQuestion {
  readonly digest: string;
  readonly answer: Promise<JsonObject>;
}

/** A question that was sent to the client. */
export interface OpenInputRequest {
  /** The name of the question in messages: `the form "title"`. */
  readonly name: string;
  /** The one who answers, in messages: `the client`. */
  readonly answerer: string;
  /** The time when it was sent, as `performance.now()` counts. */
  readonly since: number;
}

/** The length of a digest in a place. */
const placeLength = 12;

/** The questions and nested calls of one call. Created on demand. */
export class CallRounds {
  /** The path of the call within the host's call, the same in each round. */
  readonly place: string;
  readonly asked: Map<string, AskedQuestion> = new Map();
  /** Whether a question of the call, or of a call within it, ended the round. */
  isBlocked = false;
  readonly #counts = new Map<string, number>();
  readonly #stops = new Set<() => void>();
  readonly #waiting = new Map<(error: SurfaceError) => void, OpenInputRequest | undefined>();

  constructor(place = "") {
    this.place = place;
  }

  /** Returns the place of a nested call: the digest of the call, and its number among equal calls. */
  placeOf(digest: string): string {
    const short = digest.slice(0, placeLength);
    const count = (this.#counts.get(short) ?? 0) + 1;
    this.#counts.set(short, count);
    return `${this.place}${short}.${count}/`;
  }

  get openQuestion(): OpenInputRequest | undefined {
    return [...this.#waiting.values()].find((question) => question !== undefined);
  }

  /**
   * Calls `over` if the call ends before the answer. Returns a function to call with the answer.
   *
   * @param question - left out for a question that ends the call.
   */
  wait(over: (error: SurfaceError) => void, question?: OpenInputRequest): () => void {
    this.#waiting.set(over, question);
    return () => void this.#waiting.delete(over);
  }

  /** Calls `stop` when the call is over, or when the returned function is called. */
  listen(stop: () => void): () => void {
    const once = (): void => {
      if (this.#stops.delete(once)) stop();
    };
    this.#stops.add(once);
    return once;
  }

  end(error: SurfaceError): void {
    const waiting = [...this.#waiting.keys()];
    this.#waiting.clear();
    for (const over of waiting) over(error);
    for (const stop of this.#stops) stop();
  }
}

type Answered = AskAnswer & Required<Pick<AskAnswer, "answer">>;

interface Open {
  readonly ask: TimedInputRequest;
  readonly digest: string;
  /** The number of rounds in a row in which it differs from the answered question. */
  readonly changed: number;
  readonly call: CallContext;
}

/** Marks a call and those above it as ended by a question. */
function block(call: CallContext): void {
  call.trail ??= new CallRounds();
  call.trail.isBlocked = true;
  if (call.partOf !== undefined) block(call.partOf.call);
}

function answeredOf({ record, answers }: Resumed): Map<string, Answered> {
  const answered = Object.entries(record.asked).flatMap(([key, asked]) => {
    const answer = asked.answer ?? (Object.hasOwn(answers, key) ? answers[key] : undefined);
    return answer === undefined ? [] : [[key, { ...asked, answer }] as const];
  });
  return new Map(answered);
}

/** Returns whether a retry answers at least one open question. */
export function hasAnswers({ answers }: Resumed): boolean {
  return Object.keys(answers).length > 0;
}

/** Returns the questions of a root call and its nested calls; `undefined` without a client to ask. */
export function questionsOf({ root }: CallContext): Questions | undefined {
  if (root.asking === undefined) return undefined;
  root.questions ??= new Questions(root, root.asking);
  return root.questions;
}

/**
 * Returns a promise if a nested call must wait before its handler starts: else it would repeat its changes in the next round, or
 * prevent a confirmation that is about to be asked. The call may have been aborted by then.
 */
export function endOfRound(call: CallContext): Promise<void> | undefined {
  call.posed?.();
  return call.mayChange ? call.root.questions?.ending : undefined;
}

/** Returns the outcome of a call that a question ended. Only that of a root call reaches a client. */
export function suspendedOutcome(call: CallContext): Asking | ErrorResult | undefined {
  if (!call.isSuspended) return undefined;
  return (call.partOf === undefined ? call.questions?.outcome : undefined) ?? inputRequired;
}

/** Reports a handler that continued after its question ended the call: it decided without an answer, and will run again. */
export function reportContinued(call: CallContext, { where, report }: Pick<ThrownAt, "where" | "report">): void {
  if (!call.isSuspended || call.trail?.isBlocked !== true) return;
  const reportFault = (): void => {
    const cause = new SurfaceError(
      "INPUT_REQUIRED",
      `Cannot run ${where} as intended: it caught the INPUT_REQUIRED of a question and continued; rethrow what asking rejects with`,
    );
    internalError(cause, where, report);
  };
  // A handler that rejects has not continued.
  void call.overrun?.then(reportFault, () => {});
}

/** The questions of a root call and its nested calls: the answers of earlier rounds, and the questions that end this round. */
export class Questions {
  /** Whether a question ends the call, so that its answer comes with another request. */
  readonly endCall: boolean;
  /** The key of the call's digests, the same in each round. Clients see digests and must not guess their values. */
  readonly salt: string;
  readonly #root: CallContext;
  readonly #answered: Map<string, Answered>;
  /** The stamps of the operations that asked, by place. */
  readonly stamps: Map<string, string>;
  readonly #open = new Map<string, Open>();
  readonly #waiting: (() => void)[] = [];
  /** The number of confirmations about to be asked. */
  #held = 0;
  #isScheduled = false;
  outcome: Asking | ErrorResult | undefined;

  constructor(root: CallContext, { push, resumed }: ClientPort) {
    this.#root = root;
    this.endCall = push === undefined;
    this.salt = resumed?.record.salt ?? randomUUID();
    this.#answered = resumed === undefined ? new Map<string, Answered>() : answeredOf(resumed);
    this.stamps = new Map(Object.entries(resumed?.record.stamps ?? {}));
  }

  /** Sets the place of a nested call, which is the same in each round if the handler makes the same calls. */
  place(call: CallContext, parent: CallContext, made: JsonObject): void {
    if (!this.endCall) return;
    parent.trail ??= new CallRounds();
    call.trail = new CallRounds(parent.trail.placeOf(digestJson(made, this.salt)));
  }

  /** Returns the answer of an earlier round to the same question. */
  answerTo(key: string, digest: string): JsonObject | undefined {
    const answered = this.#answered.get(key);
    return answered?.digest === digest ? answered.answer : undefined;
  }

  /** Keeps an answer that did not come from the client, for the next rounds. */
  keep(key: string, answered: Answered): void {
    this.#answered.set(key, answered);
  }

  /** Returns whether a question of the call in this place, or below it, was answered. */
  hasAnswerIn(place: string): boolean {
    return [...this.#answered.keys()].some((key) => key.startsWith(place));
  }

  /** Returns in how many rounds in a row the question under this key has changed. */
  changesOf(key: string, digest: string): number {
    const answered = this.#answered.get(key);
    return answered === undefined || answered.digest === digest ? 0 : (answered.changed ?? 0) + 1;
  }

  /** Ends the call with a question, and all others of the same turn of the event loop and of holders. */
  open(key: string, open: Open): void {
    this.#open.set(key, open);
    this.#schedule();
  }

  /** Delays the end of the round, and the start of changes, until a confirmation is asked. Returns a function that releases it. */
  hold(): () => void {
    this.#held += 1;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#held -= 1;
      if (this.#held === 0) this.#schedule();
    };
  }

  /** Resolves when the round has ended, or continues without a question. `undefined` if no question is open or about to be asked. */
  get ending(): Promise<void> | undefined {
    const isEnding = this.#held > 0 || [...this.#open.values()].some(({ call }) => !call.isOver);
    return isEnding ? new Promise((resolve) => void this.#waiting.push(resolve)) : undefined;
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      if (this.#held > 0) return;
      this.#end();
      for (const resolve of this.#waiting.splice(0)) resolve();
    });
  }

  #end(): void {
    for (const [key, { call }] of this.#open) if (call.isOver) this.#open.delete(key);
    if (this.#open.size === 0 || this.#root.isOver) return;
    for (const { call } of this.#open.values()) block(call);
    this.outcome = this.#toOutcome();
    this.#root.abort(
      new SurfaceError("INPUT_REQUIRED", "Cannot answer yet: the answer of the client comes with another request"),
    );
  }

  #toOutcome(): Asking | ErrorResult {
    const opened = [...this.#open].map(([key, { digest, changed }]) => {
      return [key, changed === 0 ? { digest } : { digest, changed }] as const;
    });
    const record: RequestState = {
      salt: this.salt,
      asked: Object.fromEntries<AskAnswer>([...this.#answered, ...opened]),
      ...(this.stamps.size === 0 ? {} : { stamps: Object.fromEntries(this.stamps) }),
    };
    if (Buffer.byteLength(JSON.stringify(record)) > maxRecordBytes) return tooLarge;
    return { kind: "asking", open: Object.fromEntries([...this.#open].map(([key, { ask }]) => [key, ask])), record };
  }
}
