import { randomUUID } from "node:crypto";
import type { AskKind, ClientAsk, TimedAsk } from "../catalog/asking/asking.ts";
import { cannotBeAsked } from "../catalog/own-refusals.ts";
import type { ToolEntry } from "../catalog/entry.ts";
import { Refusal, SurfaceError } from "../errors.ts";
import type { JsonObject, JsonValue } from "../schema/json.ts";
import { internalError, type FaultReporter } from "../surface/fault.ts";
import { systemClock } from "../surface/system-clock.ts";
import type { AskPort } from "./ask-port.ts";
import type { CallContext } from "./call-context.ts";
import { notThere } from "./check-again.ts";
import type { Deadlines } from "./deadlines.ts";
import { digestOf } from "./digest-of.ts";
import { CallTrail, questionsOf } from "./questions.ts";

/** Dependencies of a {@link ClientAsker}. */
export interface AskerDeps {
  readonly deadlines: Deadlines;
  /** Milliseconds in which a client must answer. */
  readonly timeouts: Readonly<Record<AskKind, number>>;
  readonly report: FaultReporter;
}

interface Question {
  readonly call: CallContext;
  readonly trail: CallTrail;
  readonly key: string;
  readonly ask: TimedAsk;
  readonly port: AskPort;
}

function nameOf({ key, ask }: Question): string {
  if (ask.kind === "roots") return "the request for roots";
  if (isConfirmation(key)) return "the confirmation";
  return `the ${ask.kind === "elicit" ? "form" : "model request"} "${key}"`;
}

/** Returns a digest of a value that is the same in each round of a host's call, and in no other call. */
export function nameWithin(call: CallContext, json: JsonValue): string {
  return digestOf(json, questionsOf(call)?.salt);
}

function over({ endedWith, root }: CallContext): SurfaceError {
  return endedWith ?? root.endedWith ?? new SurfaceError("ABORTED", "Asking the client: the call is over");
}

function otherQuestion(key: string): SurfaceError {
  return new SurfaceError("INVALID_OPTION", `Asking "${key}": it was asked something else under this key before`);
}

/** Returns whether a question is the confirmation of a tool: its text may depend on the state of the application. */
function isConfirmation(key: string): boolean {
  return key.startsWith(".");
}

/** Refuses a third question under one key: a question that changes each time would be asked without an end. */
export function changedAgain(key: string): Refusal {
  const name = isConfirmation(key) ? "the confirmation" : `the question "${key}"`;
  return new Refusal("ASK_FAILED", `${name} was another one when it was asked again`);
}

/**
 * Returns whether a call within the host's call has started that may change something. The calls that the given call is within do
 * not count: they wait for its answer.
 */
function hasChanged(call: CallContext): boolean {
  let waiting = 0;
  for (let one = call; one.partOf !== undefined; one = one.partOf.call) if (one.mayHaveChanged) waiting += 1;
  return call.root.changes > waiting;
}

function placeOf({ trail }: CallContext): string {
  return trail?.place ?? "";
}

/** Names all that a caller or a user can know of an entry, and all that decides how it is called. */
function definitionOf(entry: ToolEntry): string {
  const { id, title, description, version, hints, scopes, requires, input, output, errors } = entry;
  const { timeoutMs, confirm, confirmWord, confirmText, reach, authority, isInternal } = entry;
  const shown = { id, title, description, version, hints, input: input.json, output: output.json, errors };
  // Of the author's text, each question is compared.
  const writes = confirmText !== undefined;
  const rules = { scopes, requires, timeoutMs, confirm, confirmWord, writes, reach, authority, isInternal };
  return digestOf(JSON.stringify({ ...shown, ...rules }));
}

/**
 * Stamps entries, so that a retry with an answer runs only the operation for which its client was asked. Within one app that is the
 * same entry; other processes, which share a secret, list entries of their own, and there the definition must be equal.
 */
class EntryStamps {
  readonly #app = randomUUID();
  readonly #stamps = new WeakMap<ToolEntry, string>();

  of(entry: ToolEntry): string {
    const stamp = this.#stamps.get(entry) ?? `${this.#app} ${definitionOf(entry)} ${randomUUID()}`;
    this.#stamps.set(entry, stamp);
    return stamp;
  }

  fits(entry: ToolEntry, stamp: string): boolean {
    const own = this.of(entry);
    if (own === stamp) return true;
    const [app, definition] = stamp.split(" ");
    const [, ownDefinition] = own.split(" ");
    return app !== this.#app && definition === ownDefinition;
  }
}

/** Asks the clients of calls. */
export class ClientAsker {
  readonly #deps: AskerDeps;
  readonly #stamps = new EntryStamps();

  constructor(deps: AskerDeps) {
    this.#deps = deps;
  }

  /** As {@link EntryCall.ask}. */
  ask(call: CallContext, key: string, ask: ClientAsk): Promise<JsonObject> {
    const timed = { ...ask, timeoutMs: ask.timeoutMs ?? this.#deps.timeouts[ask.kind] };
    // A copy: the handler may change its own.
    const answer = this.#ask(call, key, timed).then((given) => structuredClone(given));
    call.posed?.();
    // An unhandled rejection would end the process.
    answer.catch(() => {});
    return answer;
  }

  #ask(call: CallContext, key: string, ask: TimedAsk): Promise<JsonObject> {
    if (call.isOver || call.root.isOver) return Promise.reject(over(call));
    const port = call.root.asking;
    if (port?.kinds.has(ask.kind) !== true) return Promise.reject(cannotBeAsked(ask.kind));
    const trail = (call.trail ??= new CallTrail());
    const question: Question = { call, trail, key, ask, port };
    // The session knows the roots, and they may change.
    if (ask.kind === "roots" && port.push !== undefined) return this.#pose(question);
    const digest = nameWithin(call, { kind: ask.kind, params: ask.params });
    const before = trail.asked.get(key);
    if (before !== undefined) return before.digest === digest ? before.answer : Promise.reject(otherQuestion(key));
    const answer = this.#pose(question, digest);
    trail.asked.set(key, { digest, answer });
    return answer;
  }

  /** Returns the id of a run, the same in each round of a call. */
  runIdOf(call: CallContext): string {
    if (questionsOf(call)?.endCall !== true) return randomUUID();
    const hex = Buffer.from(nameWithin(call, ["run", placeOf(call)]), "base64url").toString("hex");
    // The bits of a keyed digest are as good as random: a UUID of version 4.
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
  }

  /**
   * Refuses a retry of a call whose operation was replaced while its client was asked: the answer was for another operation.
   *
   * @throws Refusal `OPERATION_NOT_FOUND`.
   */
  assertSameEntry(entry: ToolEntry, call: CallContext): void {
    if (call.root.asking?.resumed === undefined) return;
    const stamp = questionsOf(call)?.stamps.get(placeOf(call));
    if (stamp === undefined || this.#stamps.fits(entry, stamp)) return;
    throw notThere();
  }

  /** Tells the author that `_meta` of a call is left out. */
  leftOut({ tracked }: CallContext): void {
    const cause = new SurfaceError(
      "INVALID_OPTION",
      "Adding to an answer: what is said beside it must be JSON, at most 4 KiB",
    );
    internalError(cause, `call ${tracked?.requestId ?? "of what is no tool"}`, this.#deps.report);
  }

  #pose(question: Question, digest = ""): Promise<JsonObject> {
    const { call, trail, port } = question;
    const key = `${trail.place}${question.key}`;
    const known = questionsOf(call)?.answerTo(key, digest);
    if (known !== undefined) return Promise.resolve(known);
    if (hasChanged(call)) {
      const why = "a call within this one has already run and may have changed something";
      const what = `the client was not asked ${nameOf(question)}: ${why}; ask first, or call them one by one`;
      return Promise.reject(new Refusal("ASK_AFTER_CHANGE", what));
    }
    if (port.push !== undefined) return this.#push(question, port.push);
    return this.#open(question, key, digest);
  }

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
    if (entry?.now !== undefined) questionsOf(call)?.stamps.set(placeOf(call), this.#stamps.of(entry));
    if (partOf !== undefined) this.#stamp(partOf.call);
  }

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
      const { timeoutMs } = ask;
      const late = `the client did not answer ${name} within ${timeoutMs} ms`;
      const stopTimer = systemClock.after(timeoutMs, () => fail(new Refusal("ASK_TIMEOUT", late, { timeoutMs })));
      const settle = (): void => {
        stopTimer();
        answered();
        release();
      };
      new Promise<JsonObject>((pushed) => pushed(push(ask, controller.signal))).finally(settle).then(resolve, reject);
    });
  }
}
