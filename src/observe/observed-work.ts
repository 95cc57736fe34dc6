import type { JsonSchema, JsonValue } from "../schema/json.ts";
import { defaultView, type Caller } from "../surface/caller.ts";
import type { TraceContext } from "../surface/trace-context.ts";
import { toDefined } from "./to-defined.ts";
import type {
  CallStart,
  ObservedCaller,
  ObservedOperation,
  Origin,
  QuestionAnswered,
  QuestionAsked,
  WorkEnd,
  WorkStart,
} from "./observation.ts";
import type { SubscribedObserver } from "./observers.ts";
import { addDetails, toEnd, type Draft, type WorkOutcome } from "./work-records.ts";

/** Arguments and schemas, for observers with `values`. */
export interface WorkValues {
  readonly input?: JsonSchema | undefined;
  readonly output?: JsonSchema | undefined;
  readonly arguments?: JsonValue | undefined;
  /** Whether no record has the result. @default false */
  readonly hidesResult?: boolean | undefined;
}

/** A nested call that has begun. */
export interface NestedWork {
  /** Its id in the call tree. */
  readonly id: string;
  readonly operation: ObservedOperation;
  readonly values: WorkValues;
}

/** The fields of a question that its request does not determine. */
export type NotedQuestion =
  | Pick<QuestionAsked, "type" | "id" | "kind" | "isConfirmation" | "decidedOn">
  | Pick<QuestionAnswered, "type" | "id" | "kind" | "isConfirmation" | "decidedOn" | "answer">;

/** Returns the fields of a caller that records have. */
function toObservedCaller({ id, issuer, clientId, isAnonymous }: Caller): ObservedCaller {
  return Object.freeze(
    toDefined({
      id,
      issuer,
      clientId,
      isAnonymous,
    }),
  );
}

/** The fields of an origin that its caller determines. */
type CallerOrigin = Pick<Origin, "caller" | "client" | "view">;

/** The origins of frozen callers: most requests of a connection have one caller. */
const origins = new WeakMap<Caller, CallerOrigin>();

/** Returns the fields of an origin that its caller determines. */
export function toOrigin(caller: Caller): CallerOrigin {
  const known = origins.get(caller);
  if (known !== undefined) return known;
  const { surface = defaultView, client } = caller.view ?? {};
  const program = client && Object.freeze({ name: client.name, version: client.version });
  const origin = toDefined({ caller: toObservedCaller(caller), client: program, view: surface });
  if (Object.isFrozen(caller) && Object.isFrozen(caller.view)) origins.set(caller, origin);
  return origin;
}

/** A request or nested call that observers have seen start. They see exactly one end of it. */
export class ObservedWork {
  readonly start: WorkStart;
  /** The observers that have seen the start. Later ones would see an end without one. */
  readonly #observers: readonly SubscribedObserver[];
  readonly #values: WorkValues;
  readonly #startedAt: number = performance.now();
  #isOver = false;

  constructor(observers: readonly SubscribedObserver[], start: WorkStart, values: WorkValues) {
    this.#observers = observers;
    this.#values = values;
    this.start = Object.freeze(start);
    for (const subscription of observers) subscription.tell(this.#withArguments(subscription));
  }

  /** Returns whether its handler may run. Returns a promise only if an observer's `before` does. Never throws or rejects. */
  admit(): boolean | Promise<boolean> {
    const waiting: Promise<boolean>[] = [];
    for (const subscription of this.#observers) {
      if (!subscription.canRefuse) continue;
      const isAdmitted = subscription.admit(this.#withArguments(subscription));
      if (isAdmitted === false) return false;
      if (isAdmitted !== true) waiting.push(isAdmitted);
    }
    return waiting.length === 0 || Promise.all(waiting).then((all) => all.every(Boolean));
  }

  /** Runs its handler within the contexts of the observers. */
  run<TResult>(run: () => TResult): TResult {
    let inner = run;
    for (const subscription of this.#observers) {
      if (!subscription.hasContext) continue;
      const within = inner;
      inner = () => subscription.run(this.start, within);
    }
    return inner();
  }

  /** The trace context for handlers and links: that of the first observer that has one, else that of the request. */
  get trace(): TraceContext | undefined {
    for (const subscription of this.#observers) {
      const trace = subscription.trace(this.start);
      if (trace !== undefined) return trace;
    }
    return this.start.trace;
  }

  /** Records the start of a nested call. */
  nest({ id, operation, values }: NestedWork, caller: Caller): ObservedWork {
    const { transport, protocol, session, trace } = this.start;
    const origin = toOrigin(caller);
    const at = Date.now();
    const parent = this.start.id;
    const start: Draft<CallStart> = {
      type: "call-start",
      at,
      id,
      parent,
      transport,
      caller: origin.caller,
      view: origin.view,
    };
    addDetails(start, { protocol, session, client: origin.client, operation, trace });
    return new ObservedWork(this.#observers, start, values);
  }

  /** Records a question of the request or call, or its answer. */
  note(question: NotedQuestion): void {
    const { transport, protocol, session, caller, client, view, operation, trace } = this.start;
    const shared = { transport, protocol, session, caller, client, view, operation, trace };
    const record = toDefined({ ...shared, at: Date.now(), parent: this.start.id, ...question });
    Object.freeze(record);
    for (const subscription of this.#observers) subscription.tell(record);
  }

  /**
   * Records the end. Does nothing the second time.
   *
   * @param readResult - returns the structured result. Called only for observers with `values`.
   * @param callId - the id of its call in `app.calls`.
   */
  end(outcome: WorkOutcome, readResult: () => JsonValue | undefined, callId?: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const end = toEnd(this.start, performance.now() - this.#startedAt, outcome);
    if (callId !== undefined && end.type === "request-end") end.callId = callId;
    Object.freeze(end);
    for (const subscription of this.#observers) subscription.tell(this.#withResult(subscription, end, readResult));
  }

  #withArguments(subscription: SubscribedObserver): WorkStart {
    const { input, arguments: given } = this.#values;
    const redacted = subscription.redact(() => given, input);
    return redacted === undefined ? this.start : Object.freeze({ ...this.start, arguments: redacted });
  }

  #withResult(subscription: SubscribedObserver, end: WorkEnd, readResult: () => JsonValue | undefined): WorkEnd {
    const { output, hidesResult } = this.#values;
    const redacted = hidesResult === true ? undefined : subscription.redact(readResult, output);
    return redacted === undefined ? end : Object.freeze({ ...end, result: redacted });
  }
}
