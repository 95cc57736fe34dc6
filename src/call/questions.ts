import { randomUUID } from "node:crypto";
import type { AskAnswer, Asking, AskRecord, TimedAsk } from "../catalog/asking.ts";
import type { Refused } from "../catalog/outcome.ts";
import { SurfaceError } from "../errors.ts";
import type { JsonObject } from "../schema/json.ts";
import type { AskPort, Resumed } from "./ask-port.ts";
import type { CallContext } from "./call-context.ts";
import { CallTrail } from "./call-trail.ts";
import type { Rehearsed } from "./rehearsed.ts";
import { readRemembered, toRememberedJson, type Remembered } from "./remembered.ts";

/** How much of a record may be handed out, in bytes of JSON. */
const maxRecordBytes = 32_768;

const tooLarge: Refused = Object.freeze({
  kind: "refused",
  code: "ASK_STATE_TOO_LARGE",
  message: `what this has come to before its question is more than ${maxRecordBytes} bytes, which cannot be kept until the answer comes`,
  issues: Object.freeze([]),
  details: undefined,
  correlationId: undefined,
});

interface Done {
  readonly digest: string;
  readonly outcome: JsonObject;
  /** How large it is. */
  readonly size: number;
}

type Answered = AskAnswer & Required<Pick<AskAnswer, "answer">>;

interface Open {
  readonly ask: TimedAsk;
  readonly digest: string;
  readonly changed: number;
  readonly call: CallContext;
}

function own<TValue>(record: Readonly<Record<string, TValue>>, key: string): TValue | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

/** What a handler does, as it is held against what it did before. */
interface Compared {
  readonly rehearsed: Rehearsed;
  /** Ends the call: it does something else. */
  readonly fail: (difference: SurfaceError) => void;
}

/** Notes that a call ends with a question, and with it what it is within. */
function block(call: CallContext): void {
  call.trail ??= new CallTrail();
  call.trail.isBlocked = true;
  if (call.partOf !== undefined) block(call.partOf.call);
}

/** The questions that have an answer by now, by key. */
function answeredOf({ record, answers }: Resumed): Map<string, Answered> {
  const answered = Object.entries(record.asked).flatMap(([key, asked]) => {
    const answer = asked.answer ?? own(answers, key);
    return answer === undefined ? [] : [[key, { ...asked, answer }] as const];
  });
  return new Map(answered);
}

/** Returns whether a retry answers at least one of the questions that were open. */
export function answersAny({ answers }: Resumed): boolean {
  return Object.keys(answers).length > 0;
}

/**
 * Returns the places of the calls that do not count again. A retry without an answer is another call, whose parts all count; the
 * second run of a rehearsal is the same call.
 */
function countedOf(resumed: Resumed | undefined, isRehearsed: boolean): Set<string> {
  const isSameCall = resumed !== undefined && (isRehearsed || answersAny(resumed));
  return new Set(isSameCall ? resumed.record.counted : []);
}

/** Those that stand within none of the others: what has ended says all of what it was made of. */
function outermost<TValue>(done: ReadonlyMap<string, TValue>): ReadonlyMap<string, TValue> {
  let last: string | undefined;
  const sorted = [...done].toSorted(([left], [right]) => (left < right ? -1 : 1));
  const kept = sorted.filter(([place]) => {
    if (last !== undefined && place.startsWith(last)) return false;
    last = place;
    return true;
  });
  return new Map(kept);
}

/** The place of what a place is within; the call that a host made has the empty one. */
function aboveOf(place: string): string {
  return place.slice(0, place.lastIndexOf("/", place.length - 2) + 1);
}

function isWithin(key: string, done: ReadonlyMap<string, unknown>): boolean {
  for (let end = key.indexOf("/"); end !== -1; end = key.indexOf("/", end + 1)) {
    if (done.has(key.slice(0, end + 1))) return true;
  }
  return false;
}

/**
 * What the call that a host made has asked its client and called so far, with all that is within it: what is answered when it
 * is made again, and what is to be handed out for that.
 */
export class Questions {
  /** Whether what ends within it is kept for when it is made again. */
  readonly remembers: boolean;
  /** What digests are made with, the same when the call is made again: clients see of some of them. */
  readonly salt: string;
  readonly #root: CallContext;
  readonly #asked: ReadonlyMap<string, Answered>;
  /** The keys of answers that its handler has not come to yet. */
  readonly #ahead: Set<string>;
  readonly #recalled: Readonly<AskRecord["done"]>;
  readonly #done = new Map<string, Done>();
  readonly #open = new Map<string, Open>();
  /** Of all that is in `#done`. */
  #size = 0;
  /** Where something ended that there was no room for: until that has ended as well, nothing can be asked. */
  readonly #lost = new Set<string>();
  #isLooking = false;
  /** The places of calls that the rate limiter counted. */
  readonly #counted: Set<string>;
  /** Calls whose verdict the rate limiter has not given yet. */
  #unjudged = 0;
  readonly #calls = new Map<string, string>();
  readonly #compared: Compared | undefined;
  #ended: Asking | Refused | undefined;

  constructor(root: CallContext, { push, resumed }: AskPort, compared?: Compared) {
    this.#root = root;
    this.#compared = compared;
    this.remembers = push === undefined || resumed !== undefined;
    this.salt = resumed?.record.salt ?? (this.remembers ? randomUUID() : "");
    this.#recalled = resumed?.record.done ?? {};
    this.#asked = resumed === undefined ? new Map() : answeredOf(resumed);
    this.#ahead = new Set(this.#asked.keys());
    this.#counted = countedOf(resumed, compared !== undefined);
  }

  /** What the client has said to a question; `undefined`: nothing yet. */
  answerTo(key: string, digest: string): JsonObject | undefined {
    this.#ahead.delete(key);
    const asked = this.#asked.get(key);
    return asked?.digest === digest ? asked.answer : undefined;
  }

  /** Whether what its handler does now was done before: an answer is still to come that it has come to then. */
  get isReplaying(): boolean {
    return this.#ahead.size > 0;
  }

  /** How often in a row the user was asked something else under this key, if this is asked now. */
  changesOf(key: string, digest: string): number {
    const asked = this.#asked.get(key);
    return asked === undefined || asked.digest === digest ? 0 : (asked.changed ?? 0) + 1;
  }

  /** What came of a call that was made and has ended before; `undefined` for one that is to be run. */
  recall(place: string, digest: string): Remembered | undefined {
    const done = own(this.#recalled, place);
    return done?.digest === digest ? readRemembered(done.outcome) : undefined;
  }

  /** Returns whether the rate limiter counted a call in an earlier round, or already in this one. */
  wasCounted(place: string): boolean {
    return this.#counted.has(place);
  }

  /** Notes the rate limiter's verdict on a call. No round ends before its verdicts are known, so that no call counts twice. */
  noteVerdict(place: string, verdict: Refused | undefined | Promise<Refused | undefined>): void {
    if (verdict === undefined) this.#counted.add(place);
    if (!(verdict instanceof Promise)) return;
    this.#unjudged += 1;
    void verdict.then((judged) => {
      this.#unjudged -= 1;
      this.noteVerdict(place, judged);
      this.look();
    });
  }

  /** What is open when it ends, by key. */
  get opened(): ReadonlyMap<string, { readonly digest: string }> {
    return this.#open;
  }

  /** What was called within it, by place: with the id of it. */
  get calls(): ReadonlyMap<string, string> {
    return this.#calls;
  }

  /** Something is called within it. */
  made(place: string, id: string): void {
    this.#calls.set(place, id);
    this.#compare((rehearsed) => rehearsed.made(place, id));
  }

  /** Something is asked that has no answer. */
  asked(key: string, digest: string): void {
    this.#compare((rehearsed) => rehearsed.asked(key, digest));
  }

  /** A call within it has ended. */
  remember(place: string, digest: string, remembered: Remembered): void {
    if (this.#root.isOver) return;
    this.#forgetWithin(place);
    const outcome = toRememberedJson(remembered);
    const size = JSON.stringify(outcome).length;
    if (this.#size + size > maxRecordBytes) {
      this.#lost.add(aboveOf(place));
      return;
    }
    this.#size += size;
    this.#done.set(place, { digest, outcome, size });
  }

  /** What has ended says all of what it was made of. */
  #forgetWithin(place: string): void {
    for (const [within, { size }] of this.#done) {
      if (within.startsWith(place) && this.#done.delete(within)) this.#size -= size;
    }
    for (const within of this.#lost) if (within.startsWith(place)) this.#lost.delete(within);
  }

  /** Something is asked that ends the call: with whatever else is asked until all else that it does has come to a rest. */
  open(key: string, open: Open): void {
    this.#open.set(key, open);
    this.look();
  }

  /** Looks, when this turn is over, whether there is nothing left to do but to ask. */
  look(): void {
    if (this.#isLooking || this.#open.size === 0) return;
    this.#isLooking = true;
    setImmediate(() => {
      this.#isLooking = false;
      this.#end();
    });
  }

  /** What the call ended with, where that is a question. */
  get outcome(): Asking | Refused | undefined {
    return this.#ended;
  }

  #compare(differ: (rehearsed: Rehearsed) => SurfaceError | undefined): void {
    const difference = this.#compared && differ(this.#compared.rehearsed);
    if (difference !== undefined) this.#compared?.fail(difference);
  }

  #end(): void {
    for (const [key, { call }] of this.#open) if (call.isOver) this.#open.delete(key);
    // What may be changing something goes on to its end: begun again it would do so twice.
    if (this.#open.size === 0 || this.#root.isOver || this.#root.isBusy || this.#unjudged > 0) return;
    for (const { call } of this.#open.values()) block(call);
    this.#ended = this.#toOutcome();
    this.#root.abort(new SurfaceError("INPUT_REQUIRED", "Asking the client: the answer comes with another request"));
  }

  #toOutcome(): Asking | Refused {
    if (this.#lost.size > 0) return tooLarge;
    const ended = [...this.#done].map(([place, { digest, outcome }]) => [place, { digest, outcome }] as const);
    const done = outermost(new Map([...Object.entries(this.#recalled), ...ended]));
    const answered = [...this.#asked].filter(([key]) => !isWithin(key, done));
    const opened = [...this.#open].map(([key, { digest, changed }]) => {
      return [key, changed === 0 ? { digest } : { digest, changed }] as const;
    });
    const counted = [...this.#counted].filter((place) => !isWithin(place, done));
    const record: AskRecord = {
      salt: this.salt,
      asked: Object.fromEntries<AskAnswer>([...answered, ...opened]),
      done: Object.fromEntries(done),
      ...(counted.length === 0 ? {} : { counted }),
    };
    if (Buffer.byteLength(JSON.stringify(record)) > maxRecordBytes) return tooLarge;
    return {
      kind: "asking",
      open: Object.fromEntries([...this.#open].map(([key, { ask }]) => [key, ask])),
      record,
    };
  }
}
