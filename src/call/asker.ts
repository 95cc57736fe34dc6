import { randomUUID } from "node:crypto";
import type { AskKind, RequestState, InputRequest, TimedInputRequest } from "../catalog/asking/asking.ts";
import { cannotBeAsked } from "../catalog/own-refusals.ts";
import type { ToolEntry } from "../catalog/entry.ts";
import { Refusal, SurfaceError } from "../errors.ts";
import type { JsonObject, JsonValue } from "../schema/json.ts";
import { internalError, type FaultReporter } from "../surface/fault.ts";
import { systemClock } from "../surface/system-clock.ts";
import type { CallContext } from "./call-context.ts";
import type { Deadlines } from "./deadlines.ts";
import { noteAnswered, noteAsked, type ObservedQuestion } from "./observed-call.ts";
import { CallRounds, digestJson, questionsOf } from "./questions.ts";
import { createNotFound } from "../catalog/outcome.ts";

/** The earlier rounds of a call that ended with questions. */
export interface Resumed {
  readonly record: RequestState;
  /** The answers to the questions of the last round, by key. */
  readonly answers: Readonly<Record<string, JsonObject>>;
}

/** Sends questions to the client of one call. */
export interface ClientPort {
  /** The kinds of questions that the client declared. */
  readonly kinds: ReadonlySet<AskKind>;
  /**
   * Sends a question and resolves with the answer. Rejects with a `Refusal` `ASK_FAILED`, or when the signal fires, and then cancels
   * the question at the client. Left out from 2026-07-28 on: a question ends the call.
   */
  readonly push?: ((ask: TimedInputRequest, signal: AbortSignal) => Promise<JsonObject>) | undefined;
  /** Calls `changed` after a notification about changed roots. Returns a function that stops it. Left out: there are none. */
  readonly onRoots?: ((changed: () => void) => () => void) | undefined;
  readonly resumed?: Resumed | undefined;
  /** Set if a person on the live page answers, and not the client. */
  readonly decidedOn?: "page" | undefined;
}

/** A question, and the port that sends it. */
export interface PortedRequest {
  /** Names the question within the call. */
  readonly key: string;
  readonly ask: InputRequest;
  /** `undefined`: there is no one to ask. */
  readonly port: ClientPort | undefined;
}

/** Dependencies of a {@link InputRequester}. */
export interface AskerDeps {
  readonly deadlines: Deadlines;
  /** Milliseconds in which a client must answer. */
  readonly timeouts: Readonly<Record<AskKind, number>>;
  readonly report: FaultReporter;
}

interface Question {
  readonly call: CallContext;
  readonly trail: CallRounds;
  readonly key: string;
  readonly ask: TimedInputRequest;
  readonly port: ClientPort;
}

/** Returns the one who answers, for messages. */
function answererOf({ port }: Question): string {
  return port.decidedOn === undefined ? "the client" : "the approver";
}

function nameOf({ key, ask }: Question): string {
  if (ask.kind === "roots") return "the request for roots";
  if (isConfirmation(key)) return "the confirmation";
  return `the ${ask.kind === "elicit" ? "form" : "model request"} "${key}"`;
}

/** Returns a digest of a value, which is the same in each round of a host's call and different in other calls. */
export function digestWithin(call: CallContext, json: JsonValue): string {
  return digestJson(json, questionsOf(call)?.salt);
}

/** Returns a question as records name it. Its id is the same in each round of a client that answers. */
function toObservedQuestion({ call, trail, key, ask: { kind }, port: { decidedOn } }: Question): ObservedQuestion {
  if (decidedOn !== undefined) return { id: randomUUID(), kind, isConfirmation: true, decidedOn };
  const id = digestWithin(call, ["question", `${trail.place}${key}`]).slice(0, 16);
  return { id, kind, isConfirmation: isConfirmation(key) };
}

function callOver({ endedWith, root }: CallContext): SurfaceError {
  return endedWith ?? root.endedWith ?? new SurfaceError("ABORTED", "Cannot ask the client: the call is over");
}

function otherQuestion(key: string): SurfaceError {
  return new SurfaceError(
    "INVALID_OPTION",
    `Cannot ask "${key}": this call asked another question under the key; use two keys`,
  );
}

/** Returns whether a question is the confirmation of a tool, whose text may depend on the state of the application. */
function isConfirmation(key: string): boolean {
  return key.startsWith(".");
}

/** Refuses a third version of one question: a question that changes each time would never be answered. */
export function changedAgain(key: string): Refusal {
  const name = isConfirmation(key) ? "the confirmation" : `the question "${key}"`;
  return new Refusal("ASK_FAILED", `${name} changed each time after it was answered`);
}

/** Returns whether a nested call has started that may change something. The calls above the given one do not count. */
function hasChanged(call: CallContext): boolean {
  let waiting = 0;
  for (let one = call; one.partOf !== undefined; one = one.partOf.call) if (one.mayHaveChanged) waiting += 1;
  return call.root.changes > waiting;
}

function placeOf({ trail }: CallContext): string {
  return trail?.place ?? "";
}

/** Returns a digest of the properties of an entry that callers and users see, or that decide how it is called. */
function definitionOf(entry: ToolEntry): string {
  const { id, title, description, version, hints, scopes, requires, input, output, errors } = entry;
  const { timeoutMs, confirm, confirmWord, confirmText, canCall, callScopes, isInternal } = entry;
  const shown = { id, title, description, version, hints, input: input.json, output: output.json, errors };
  // Not the author's text, which is part of each question.
  const writes = confirmText !== undefined;
  const rules = { scopes, requires, timeoutMs, confirm, confirmWord, writes, canCall, callScopes, isInternal };
  return digestJson(JSON.stringify({ ...shown, ...rules }));
}

/**
 * Stamps entries, so that a retry with an answer runs only the operation that the question was about. Within one process that is the
 * same entry object. For a state from another process, the definition must be equal.
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
export class InputRequester {
  readonly #deps: AskerDeps;
  readonly #stamps = new EntryStamps();

  constructor(deps: AskerDeps) {
    this.#deps = deps;
  }

  /** As {@link EntryCall.ask}. */
  ask(call: CallContext, ported: PortedRequest): Promise<JsonObject> {
    // A copy, since the handler may change it.
    const answer = this.#ask(call, ported).then((given) => structuredClone(given));
    call.posed?.();
    // An unhandled rejection would end the process.
    answer.catch(() => {});
    return answer;
  }

  #toTimed(ask: InputRequest): TimedInputRequest {
    return { ...ask, timeoutMs: ask.timeoutMs ?? this.#deps.timeouts[ask.kind] };
  }

  #ask(call: CallContext, { key, port, ...given }: PortedRequest): Promise<JsonObject> {
    if (call.isOver || call.root.isOver) return Promise.reject(callOver(call));
    const ask = this.#toTimed(given.ask);
    if (port?.kinds.has(ask.kind) !== true) return Promise.reject(cannotBeAsked(ask.kind));
    const trail = (call.trail ??= new CallRounds());
    const question: Question = { call, trail, key, ask, port };
    // Not cached, since roots may change.
    if (ask.kind === "roots" && port.push !== undefined) return this.#pose(question);
    const digest = digestWithin(call, { kind: ask.kind, params: ask.params });
    const before = trail.asked.get(key);
    if (before !== undefined) return before.digest === digest ? before.answer : Promise.reject(otherQuestion(key));
    const answer = this.#pose(question, digest);
    trail.asked.set(key, { digest, answer });
    return answer;
  }

  /** Returns the id of a call, the same in each of its rounds. */
  runIdOf(call: CallContext): string {
    if (questionsOf(call)?.endCall !== true) return randomUUID();
    const hex = Buffer.from(digestWithin(call, ["run", placeOf(call)]), "base64url").toString("hex");
    // A UUID of version 4: the bits of a keyed digest are as good as random.
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
  }

  /** Refuses a retry whose operation was replaced while the client was asked. @throws Refusal `OPERATION_NOT_FOUND`. */
  assertSameEntry(entry: ToolEntry, call: CallContext): void {
    if (call.root.asking?.resumed === undefined) return;
    const stamp = questionsOf(call)?.stamps.get(placeOf(call));
    if (stamp === undefined || this.#stamps.fits(entry, stamp)) return;
    throw createNotFound();
  }

  /** Reports that `_meta` of a call is left out. */
  leftOut({ tracked }: CallContext): void {
    const cause = new SurfaceError("INVALID_OPTION", "Cannot add _meta to an answer: it must be JSON of at most 4 KiB");
    internalError(cause, tracked === undefined ? "a handler" : `call ${tracked.requestId}`, this.#deps.report);
  }

  #pose(question: Question, digest = ""): Promise<JsonObject> {
    const { call, trail, port } = question;
    const key = `${trail.place}${question.key}`;
    const known = questionsOf(call)?.answerTo(key, digest);
    if (known !== undefined) {
      // Answers of earlier rounds were recorded in these.
      const isNew = Object.hasOwn(port.resumed?.answers ?? {}, key);
      if (isNew && call.observed !== undefined) noteAnswered(call, toObservedQuestion(question), known);
      return Promise.resolve(known);
    }
    if (hasChanged(call)) {
      const why = "a nested call has already run and may have changed something";
      const message = `${answererOf(question)} was not asked ${nameOf(question)}: ${why}; ask first, or make the calls one by one`;
      return Promise.reject(new Refusal("ASK_AFTER_CHANGE", message));
    }
    if (port.push !== undefined) return this.#keep(question, digest, this.#push(question, port.push));
    return this.#open(question, key, digest);
  }

  /** Keeps the decision of an approver for the further rounds of the call, in which the client answers other questions. */
  #keep({ call, trail, key, port }: Question, digest: string, decided: Promise<JsonObject>): Promise<JsonObject> {
    if (port.decidedOn === undefined) return decided;
    return decided.then((answer) => {
      this.#stamp(call);
      questionsOf(call)?.keep(`${trail.place}${key}`, { digest, answer });
      return answer;
    });
  }

  #open(question: Question, key: string, digest: string): Promise<JsonObject> {
    const { call, trail, ask } = question;
    const questions = questionsOf(call);
    const changed = questions?.changesOf(key, digest) ?? 0;
    if (changed > 1) return Promise.reject(changedAgain(question.key));
    if (changed === 1 && !isConfirmation(question.key)) this.#reportChanged(question);
    this.#stamp(call);
    if (call.observed !== undefined) noteAsked(call, toObservedQuestion(question));
    questions?.open(key, { ask, digest, changed, call });
    return new Promise((_, reject) => void trail.wait(reject));
  }

  /** Records the operations of a call and of those above it, which a retry must find again. Entries without `now` never change. */
  #stamp(call: CallContext): void {
    const { entry, partOf } = call;
    if (entry?.now !== undefined) questionsOf(call)?.stamps.set(placeOf(call), this.#stamps.of(entry));
    if (partOf !== undefined) this.#stamp(partOf.call);
  }

  #reportChanged({ call, key }: Question): void {
    const cause = new SurfaceError(
      "CONTRADICTION",
      `Cannot use the answer to "${key}": the handler asked another question when it ran again; ask the same each time`,
    );
    internalError(cause, call.tracked === undefined ? "a handler" : `tool "${call.tracked.tool}"`, this.#deps.report);
  }

  /** Sends a question and waits for the answer. Meanwhile the default deadlines of the call and those above it stand still. */
  #push(question: Question, push: NonNullable<ClientPort["push"]>): Promise<JsonObject> {
    const { call, trail, ask } = question;
    const name = nameOf(question);
    const answerer = answererOf(question);
    const controller = new AbortController();
    const release = this.#deps.deadlines.hold(call);
    const observed = call.observed && toObservedQuestion(question);
    if (observed !== undefined) noteAsked(call, observed);
    return new Promise((resolve, reject) => {
      let isOver = false;
      const end = (answer?: JsonObject): void => {
        if (observed !== undefined && !isOver) noteAnswered(call, observed, answer);
        isOver = true;
      };
      const fail = (error: Error): void => {
        end();
        settle();
        reject(error);
        controller.abort(error);
      };
      const answered = trail.wait(fail, { name, answerer, since: performance.now() });
      const { timeoutMs } = ask;
      const late = `${answerer} did not answer ${name} within ${timeoutMs} ms`;
      const stopTimer = systemClock.after(timeoutMs, () => fail(new Refusal("ASK_TIMEOUT", late, { timeoutMs })));
      const settle = (): void => {
        stopTimer();
        answered();
        release();
      };
      new Promise<JsonObject>((pushed) => pushed(push(ask, controller.signal))).finally(settle).then(
        (answer) => {
          end(answer);
          resolve(answer);
        },
        (cause: unknown) => {
          end();
          reject(cause);
        },
      );
    });
  }
}
