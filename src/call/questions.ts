import { randomUUID } from "node:crypto";
import type { AskAnswer, Asking, AskRecord, TimedAsk } from "../catalog/asking/asking.ts";
import { createRefused, inputRequired, type Refused } from "../catalog/outcome.ts";
import { SurfaceError } from "../errors.ts";
import type { JsonObject } from "../schema/json.ts";
import { internalError } from "../surface/fault.ts";
import type { AskPort, Resumed } from "./ask-port.ts";
import type { CallContext } from "./call-context.ts";
import { digestOf } from "./digest-of.ts";
import type { RefusedAt } from "./to-refused.ts";

/** The most that a record may take, in bytes of JSON: it travels in each request of the call. */
const maxRecordBytes = 32_768;

const tooLarge: Refused = Object.freeze(
  createRefused(
    "ASK_STATE_TOO_LARGE",
    `the answers of this call are more than ${maxRecordBytes} bytes, which cannot be kept until the next answer comes`,
  ),
);

interface AskedHere {
  readonly digest: string;
  readonly answer: Promise<JsonObject>;
}

/** A question that the client was sent. */
export interface OpenQuestion {
  /** Names the question in messages: `the form "title"`. */
  readonly name: string;
  /** When it was sent, as `performance.now()` counts it. */
  readonly since: number;
}

/** How much of a digest stands in the name of a place. */
const placeLength = 12;

/** The questions and nested calls of one call. Made for calls that ask or nest only. */
export class CallTrail {
  /** The place of the call within the host's call, the same in each round. */
  readonly place: string;
  readonly asked: Map<string, AskedHere> = new Map();
  /** Whether a question of the call, or of a call within it, ended the round. */
  isBlocked = false;
  readonly #counts = new Map<string, number>();
  readonly #stops = new Set<() => void>();
  readonly #waiting = new Map<(error: SurfaceError) => void, OpenQuestion | undefined>();

  constructor(place = "") {
    this.place = place;
  }

  /** Returns the place of a call within this one: the digest of the call, and its number among equal calls. */
  placeOf(digest: string): string {
    const short = digest.slice(0, placeLength);
    const count = (this.#counts.get(short) ?? 0) + 1;
    this.#counts.set(short, count);
    return `${this.place}${short}.${count}/`;
  }

  get openQuestion(): OpenQuestion | undefined {
    return [...this.#waiting.values()].find((question) => question !== undefined);
  }

  /**
   * Calls `over` if the call ends before there is an answer. Returns a function that says that there is one.
   *
   * @param question - left out for a question that is not sent while the call waits.
   */
  wait(over: (error: SurfaceError) => void, question?: OpenQuestion): () => void {
    this.#waiting.set(over, question);
    return () => void this.#waiting.delete(over);
  }

  /** Calls `stop` when the call is over. Returns a function that calls it before, once. */
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
  readonly ask: TimedAsk;
  readonly digest: string;
  /** How often in a row it differs from the question that was answered before. */
  readonly changed: number;
  readonly call: CallContext;
}

/** Marks a call, and all calls that it is within, as ended by a question. */
function block(call: CallContext): void {
  call.trail ??= new CallTrail();
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

/** Returns whether a retry answers at least one of the questions that were open. */
export function answersAny({ answers }: Resumed): boolean {
  return Object.keys(answers).length > 0;
}

/** Returns the questions of a host's call and all calls within it; `undefined` if the call has no client to ask. */
export function questionsOf({ root }: CallContext): Questions | undefined {
  if (root.asking === undefined) return undefined;
  root.questions ??= new Questions(root, root.asking);
  return root.questions;
}

/**
 * Returns a promise if a nested call has to wait before its handler starts: it would repeat its changes in the next round, or
 * refuse a confirmation that is about to be asked. After the promise, the call may have been aborted.
 */
export function endingBefore(part: CallContext): Promise<void> | undefined {
  part.posed?.();
  return part.mayChange ? part.root.questions?.ending : undefined;
}

/** Returns the outcome of a call that a question ended. Only that of a host's call reaches a client. */
export function suspendedOutcome(call: CallContext): Asking | Refused | undefined {
  if (!call.isSuspended) return undefined;
  return (call.partOf === undefined ? call.questions?.outcome : undefined) ?? inputRequired;
}

/** Reports a handler that went on after its question ended the call: it decided without an answer, and runs again. */
export function watchGoingOn(call: CallContext, { where, report }: Pick<RefusedAt, "where" | "report">): void {
  if (!call.isSuspended || call.trail?.isBlocked !== true) return;
  const tell = (): void => {
    const cause = new SurfaceError(
      "INPUT_REQUIRED",
      `Running ${where}: it went on after a question that had no answer yet, and must let through what asking rejects with`,
    );
    internalError(cause, where, report);
  };
  // A handler that rejects has not gone on.
  void call.overrun?.then(tell, () => {});
}

/** The questions of a host's call and of all calls within it: their answers from earlier rounds, and those that end this round. */
export class Questions {
  /** Whether a question ends the call, and its answer comes with another request. */
  readonly endCall: boolean;
  /** Keys the digests of the call, the same in each of its rounds. Clients see some digests and must not guess what they digest. */
  readonly salt: string;
  readonly #root: CallContext;
  readonly #answered: ReadonlyMap<string, Answered>;
  /** The stamps of the operations that asked, by their places. */
  readonly stamps: Map<string, string>;
  readonly #open = new Map<string, Open>();
  readonly #waiting: (() => void)[] = [];
  /** How many confirmations are about to be asked. */
  #held = 0;
  #isLooking = false;
  outcome: Asking | Refused | undefined;

  constructor(root: CallContext, { push, resumed }: AskPort) {
    this.#root = root;
    this.endCall = push === undefined;
    this.salt = resumed?.record.salt ?? randomUUID();
    this.#answered = resumed === undefined ? new Map() : answeredOf(resumed);
    this.stamps = new Map(Object.entries(resumed?.record.stamps ?? {}));
  }

  /**
   * Names the place of a call within the call above it: the same in each round, as long as the handler calls the same. Places keep
   * the questions of the calls apart.
   */
  place(part: CallContext, above: CallContext, made: JsonObject): void {
    if (!this.endCall) return;
    above.trail ??= new CallTrail();
    part.trail = new CallTrail(above.trail.placeOf(digestOf(made, this.salt)));
  }

  /** Returns the answer of an earlier round to the same question. */
  answerTo(key: string, digest: string): JsonObject | undefined {
    const answered = this.#answered.get(key);
    return answered?.digest === digest ? answered.answer : undefined;
  }

  /** Returns whether a question of the call in this place, or of a call within it, was answered. */
  hasAnswerIn(place: string): boolean {
    return [...this.#answered.keys()].some((key) => key.startsWith(place));
  }

  /** Returns how often in a row the question under this key has changed, if it is asked. */
  changesOf(key: string, digest: string): number {
    const answered = this.#answered.get(key);
    return answered === undefined || answered.digest === digest ? 0 : (answered.changed ?? 0) + 1;
  }

  /** Ends the call with a question, together with all others that are asked in the same turn of the event loop or held for. */
  open(key: string, open: Open): void {
    this.#open.set(key, open);
    this.#look();
  }

  /** Keeps the round from ending, and changes from starting, until a confirmation is asked. Returns a function that releases it. */
  hold(): () => void {
    this.#held += 1;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#held -= 1;
      if (this.#held === 0) this.#look();
    };
  }

  /** Resolves when the round has ended or goes on without a question. `undefined`: no question is open or about to be asked. */
  get ending(): Promise<void> | undefined {
    const isEnding = this.#held > 0 || [...this.#open.values()].some(({ call }) => !call.isOver);
    return isEnding ? new Promise((resolve) => void this.#waiting.push(resolve)) : undefined;
  }

  #look(): void {
    if (this.#isLooking) return;
    this.#isLooking = true;
    setImmediate(() => {
      this.#isLooking = false;
      if (this.#held > 0) return;
      this.#end();
      for (const go of this.#waiting.splice(0)) go();
    });
  }

  #end(): void {
    for (const [key, { call }] of this.#open) if (call.isOver) this.#open.delete(key);
    if (this.#open.size === 0 || this.#root.isOver) return;
    for (const { call } of this.#open.values()) block(call);
    this.outcome = this.#toOutcome();
    this.#root.abort(new SurfaceError("INPUT_REQUIRED", "Asking the client: the answer comes with another request"));
  }

  #toOutcome(): Asking | Refused {
    const opened = [...this.#open].map(([key, { digest, changed }]) => {
      return [key, changed === 0 ? { digest } : { digest, changed }] as const;
    });
    const record: AskRecord = {
      salt: this.salt,
      asked: Object.fromEntries<AskAnswer>([...this.#answered, ...opened]),
      ...(this.stamps.size === 0 ? {} : { stamps: Object.fromEntries(this.stamps) }),
    };
    if (Buffer.byteLength(JSON.stringify(record)) > maxRecordBytes) return tooLarge;
    return { kind: "asking", open: Object.fromEntries([...this.#open].map(([key, { ask }]) => [key, ask])), record };
  }
}
