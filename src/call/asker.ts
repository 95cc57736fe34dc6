import type { AskKind, ClientAsk, TimedAsk } from "../catalog/asking.ts";
import { cannotBeAsked } from "../catalog/client-cannot.ts";
import { operationNotFound } from "../catalog/cannot-nest.ts";
import type { ToolEntry } from "../catalog/entry.ts";
import { Refusal, SurfaceError } from "../errors.ts";
import type { JsonObject, JsonValue } from "../schema/json.ts";
import { internalError, type FaultReporter } from "../surface/fault.ts";
import { systemClock } from "../surface/system-clock.ts";
import type { AskPort } from "./ask-port.ts";
import type { CallContext } from "./call-context.ts";
import type { Asker } from "./call-parties.ts";
import { CallTrail } from "./call-trail.ts";
import type { Deadlines } from "./deadlines.ts";
import { digestOf } from "./digest-of.ts";
import { EntryStamps } from "./entry-stamps.ts";
import { Questions } from "./questions.ts";

/** What a {@link ClientAsker} is given. */
export interface AskerDeps {
  readonly deadlines: Deadlines;
  /** Milliseconds in which a client must answer, by the kind of the question. */
  readonly timeouts: Readonly<Record<AskKind, number>>;
  readonly report: FaultReporter;
}

/** One question of a call, and how its client is asked. */
interface Question {
  readonly call: CallContext;
  readonly trail: CallTrail;
  readonly key: string;
  readonly ask: TimedAsk;
  readonly port: AskPort;
}

/** Names a question in messages. Keys of our own begin with a dot. */
function nameOf({ key, ask }: Question): string {
  if (ask.kind === "roots") return "the request for roots";
  if (isConfirmation(key)) return "the confirmation";
  return `the ${ask.kind === "elicit" ? "form" : "model request"} "${key}"`;
}

function tooLate(name: string, timeoutMs: number): Refusal {
  return new Refusal("ASK_TIMEOUT", `the client did not answer ${name} within ${timeoutMs} ms`, { timeoutMs });
}

/** What has been asked for a host's call, with all that is called within it; `undefined` where nobody can be asked. */
export function questionsOf({ root }: CallContext): Questions | undefined {
  if (root.asking === undefined) return undefined;
  root.questions ??= new Questions(root, root.asking);
  return root.questions;
}

/** Names a value within a host's call: the same when that is made again, and to nobody else. */
export function nameWithin(call: CallContext, json: JsonValue): string {
  return digestOf(json, questionsOf(call)?.salt);
}

function over({ endedWith, root }: CallContext): SurfaceError {
  return endedWith ?? root.endedWith ?? new SurfaceError("ABORTED", "Asking the client: the call is over");
}

function otherQuestion(key: string): SurfaceError {
  return new SurfaceError("INVALID_OPTION", `Asking "${key}": it was asked something else under this key before`);
}

/** Whether a question is the confirmation of a tool. Its text may depend on the state of the application. */
function isConfirmation(key: string): boolean {
  return key.startsWith(".");
}

/** Refuses a third question under one key: a question that changes each time would be asked without an end. */
export function changedAgain(key: string): Refusal {
  const name = isConfirmation(key) ? "the confirmation" : `the question "${key}"`;
  return new Refusal("ASK_FAILED", `${name} was another one when it was asked again`);
}

/** The name under which a record keeps the stamp of a call's entry; no author's key has a dot. */
const stampName = ".entry";

function placeOf({ trail }: CallContext, name: string): string {
  // No call has such a place: theirs begin with a digest.
  return `${trail?.place ?? ""}=${name}/`;
}

/** Asks clients, each by the way of the call that it made. */
export class ClientAsker implements Asker {
  readonly #deps: AskerDeps;
  readonly #stamps = new EntryStamps();

  constructor(deps: AskerDeps) {
    this.#deps = deps;
  }

  ask(call: CallContext, key: string, ask: ClientAsk): Promise<JsonObject> {
    // What is kept of an answer is what came: what a handler does to its own is no matter of it.
    const answer = this.#ask(call, key, ask).then((given) => structuredClone(given));
    // One that nobody waits for and that is refused would end the process.
    answer.catch(() => {});
    return answer;
  }

  #ask(call: CallContext, key: string, ask: ClientAsk): Promise<JsonObject> {
    if (call.isOver || call.root.isOver) return Promise.reject(over(call));
    const port = call.root.asking;
    if (port?.kinds.has(ask.kind) !== true) return Promise.reject(cannotBeAsked(ask.kind));
    const trail = (call.trail ??= new CallTrail());
    const question: Question = { call, trail, key, ask: this.#withTime(ask), port };
    // Where somebody works is known to who pushes, and may be another place the next time.
    if (ask.kind === "roots" && port.push !== undefined) return this.#pose(question);
    const digest = nameWithin(call, { kind: ask.kind, params: ask.params });
    const before = trail.asked.get(key);
    if (before !== undefined) return before.digest === digest ? before.answer : Promise.reject(otherQuestion(key));
    const answer = this.#pose(question, digest);
    trail.asked.set(key, { digest, answer });
    return answer;
  }

  keep(call: CallContext, name: string, make: () => string): string {
    const questions = questionsOf(call);
    if (questions?.remembers !== true) return make();
    const own = placeOf(call, name);
    const known = questions.recall(own, "")?.outcome;
    if (known?.kind === "answer") return known.text;
    const text = make();
    questions.remember(own, "", { outcome: { kind: "answer", text }, meta: undefined });
    return text;
  }

  /**
   * Refuses a retry of a call whose operation was replaced while its client was asked: the answer was for another operation.
   *
   * @throws Refusal `OPERATION_NOT_FOUND`.
   */
  assertSameEntry(entry: ToolEntry, call: CallContext): void {
    // Most calls go on from nothing, and cost nothing here.
    if (call.root.asking?.resumed === undefined) return;
    const known = questionsOf(call)?.recall(placeOf(call, stampName), "")?.outcome;
    if (known?.kind !== "answer" || this.#stamps.fits(entry, known.text)) return;
    throw new Refusal(operationNotFound.code, operationNotFound.message);
  }

  leftOut({ tracked }: CallContext): void {
    const cause = new SurfaceError(
      "INVALID_OPTION",
      "Adding to an answer: what is said beside it must be JSON, at most 4 KiB",
    );
    internalError(cause, `call ${tracked?.requestId ?? "of what is no tool"}`, this.#deps.report);
  }

  #withTime(ask: ClientAsk): TimedAsk {
    return { ...ask, timeoutMs: ask.timeoutMs ?? this.#deps.timeouts[ask.kind] };
  }

  #pose(question: Question, digest = ""): Promise<JsonObject> {
    const { call, trail, port } = question;
    const key = `${trail.place}${question.key}`;
    const questions = questionsOf(call);
    const known = questions?.answerTo(key, digest);
    if (known !== undefined) return Promise.resolve(known);
    questions?.asked(key, digest);
    if (call.isOver) return Promise.reject(over(call));
    if (port.push !== undefined) return this.#push(question, port.push);
    return this.#open(question, key, digest);
  }

  /** Ends the call with a question. */
  #open(question: Question, key: string, digest: string): Promise<JsonObject> {
    const { call, trail, ask } = question;
    const questions = questionsOf(call);
    const changed = questions?.changesOf(key, digest) ?? 0;
    if (changed > 1) return Promise.reject(changedAgain(question.key));
    if (changed === 1 && !isConfirmation(question.key)) this.#reportChanged(question);
    this.#stamp(call);
    questions?.open(key, { ask, digest, changed, call });
    return new Promise((_, reject) => void trail.wait(reject));
  }

  /** Records what a call, and the calls that it is within, run: a retry must find the same. Entries without `now` never change. */
  #stamp(call: CallContext): void {
    const { entry, partOf } = call;
    if (entry?.now !== undefined) this.keep(call, stampName, () => this.#stamps.of(entry));
    if (partOf !== undefined) this.#stamp(partOf.call);
  }

  /** Once a call: the next time it is refused. */
  #reportChanged({ call, key }: Question): void {
    const cause = new SurfaceError(
      "CONTRADICTION",
      `Asking "${key}": run again with the answer, it asked something else under this key, and must ask the same each time`,
    );
    internalError(cause, call.tracked === undefined ? "a handler" : `tool "${call.tracked.tool}"`, this.#deps.report);
  }

  /**
   * Sends a question and waits for the answer, until the question's time is over or its call ends. Meanwhile the default deadlines
   * of the call, and of the calls that it is within, stand still.
   */
  #push(question: Question, push: NonNullable<AskPort["push"]>): Promise<JsonObject> {
    const { call, trail, ask } = question;
    const name = nameOf(question);
    const controller = new AbortController();
    const release = this.#deps.deadlines.hold(call);
    return new Promise((resolve, reject) => {
      const fail = (error: Error): void => {
        settle();
        reject(error);
        controller.abort(error);
      };
      const answered = trail.wait(fail, { name, since: performance.now() });
      const stopTimer = systemClock.after(ask.timeoutMs, () => fail(tooLate(name, ask.timeoutMs)));
      const settle = (): void => {
        stopTimer();
        answered();
        release();
      };
      new Promise<JsonObject>((pushed) => pushed(push(ask, controller.signal))).finally(settle).then(resolve, reject);
    });
  }
}
