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
  Transport,
  WorkEnd,
  WorkStart,
} from "./observation.ts";
import type { SubscribedObserver } from "./observers.ts";
import { addDetails, toEnd, type Draft, type ReadWork, type WorkOutcome } from "./work-records.ts";

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

/** A request or nested call that observers see start, by {@link begin}. They see exactly one end of it. */
export abstract class ObservedWork implements ReadWork {
  readonly transport: Transport;
  readonly session: string | undefined;
  readonly caller: ObservedCaller;
  readonly client: Origin["client"];
  readonly view: string;
  readonly startedAt: number = performance.now();
  abstract readonly method: string | undefined;
  abstract readonly operation: ObservedOperation | undefined;
  abstract readonly id: string;
  abstract readonly protocol: string | undefined;
  abstract readonly bytesIn: number | undefined;
  abstract readonly callNumber: number | undefined;
  abstract readonly callId: string | undefined;
  /** The trace context that came with the request. */
  protected abstract readonly sentTrace: TraceContext | undefined;
  /** The observers that see the start. Later ones would see an end without one. */
  protected readonly observers: readonly SubscribedObserver[];
  #start: WorkStart | undefined;
  #values: WorkValues | undefined;
  #isOver = false;

  constructor(
    observers: readonly SubscribedObserver[],
    { transport, session }: { readonly transport: Transport; readonly session: string | undefined },
    by: Caller,
  ) {
    this.observers = observers;
    this.transport = transport;
    this.session = session;
    ({ caller: this.caller, client: this.client, view: this.view } = toOrigin(by));
  }

  protected abstract toStart(): WorkStart;
  protected abstract toValues(): WorkValues;

  /** The record of the start. Made on demand: readers do without. */
  get start(): WorkStart {
    return (this.#start ??= Object.freeze(this.toStart()));
  }

  /** Records the start. Call it once, first. */
  begin(): void {
    for (const subscription of this.observers) {
      if (subscription.reader === undefined) subscription.tell(this.#withArguments(subscription));
      else subscription.read(this);
    }
  }

  /** Whether an observer has `before` or `around`. Without one its handler may run without {@link admit} and {@link run}. */
  get isGuarded(): boolean {
    return this.observers.some(({ observer }) => observer.before !== undefined || observer.around !== undefined);
  }

  /** Returns whether its handler may run. Returns a promise only if an observer's `before` does. Never throws or rejects. */
  admit(): boolean | Promise<boolean> {
    const waiting: Promise<boolean>[] = [];
    for (const subscription of this.observers) {
      if (subscription.observer.before === undefined) continue;
      const isAdmitted = subscription.admit(this.#withArguments(subscription));
      if (isAdmitted === false) return false;
      if (isAdmitted !== true) waiting.push(isAdmitted);
    }
    return waiting.length === 0 || Promise.all(waiting).then((all) => all.every(Boolean));
  }

  /** Runs its handler within the contexts of the observers. */
  run<TResult>(run: () => TResult): TResult {
    let inner = run;
    for (const subscription of this.observers) {
      if (subscription.observer.around === undefined) continue;
      const within = inner;
      inner = () => subscription.run(this.start, within);
    }
    return inner();
  }

  /** The trace context for handlers and links: that of the first observer that has one, else that of the request. */
  get trace(): TraceContext | undefined {
    for (const subscription of this.observers) {
      const trace = subscription.trace(this);
      if (trace !== undefined) return trace;
    }
    return this.sentTrace;
  }

  /** Records the start of a nested call. */
  nest(nested: NestedWork, caller: Caller): ObservedWork {
    const call = new ObservedCall(this.observers, { nested, parent: this, trace: this.sentTrace }, caller);
    call.begin();
    return call;
  }

  /** Records a question of the request or call, or its answer. */
  note(question: NotedQuestion): void {
    const { transport, protocol, session, caller, client, view, operation, sentTrace: trace } = this;
    const shared = { transport, protocol, session, caller, client, view, operation, trace };
    const record = toDefined({ ...shared, at: Date.now(), parent: this.id, ...question });
    Object.freeze(record);
    for (const subscription of this.observers) subscription.tell(record);
  }

  /**
   * Records the end. Does nothing the second time.
   *
   * @param readResult - returns the structured result. Called only for observers with `values`.
   */
  end(outcome: WorkOutcome, readResult: () => JsonValue | undefined): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const endedAt = performance.now();
    let end: WorkEnd | undefined;
    for (const subscription of this.observers) {
      if (subscription.reader !== undefined) {
        subscription.read(this, outcome, endedAt);
        continue;
      }
      end ??= Object.freeze(toEnd(this.start, { ms: endedAt - this.startedAt, callId: this.callId }, outcome));
      subscription.tell(this.#withResult(subscription, end, readResult));
    }
  }

  get #known(): WorkValues {
    return (this.#values ??= this.toValues());
  }

  #withArguments(subscription: SubscribedObserver): WorkStart {
    const redacted = subscription.redact(() => [this.#known.arguments, this.#known.input]);
    return redacted === undefined ? this.start : Object.freeze({ ...this.start, arguments: redacted });
  }

  #withResult(subscription: SubscribedObserver, end: WorkEnd, readResult: () => JsonValue | undefined): WorkEnd {
    const read = (): JsonValue | undefined => (this.#known.hidesResult === true ? undefined : readResult());
    const redacted = subscription.redact(() => [read(), this.#known.output]);
    return redacted === undefined ? end : Object.freeze({ ...end, result: redacted });
  }
}

/** The request or call that made a nested call, and what it made. */
interface Nesting {
  readonly nested: NestedWork;
  readonly parent: ObservedWork;
  readonly trace: TraceContext | undefined;
}

class ObservedCall extends ObservedWork {
  declare readonly method: undefined;
  declare readonly bytesIn: undefined;
  declare readonly callNumber: undefined;
  declare readonly callId: undefined;
  readonly protocol: string | undefined;
  readonly sentTrace: TraceContext | undefined;
  readonly #nested: NestedWork;
  readonly #parent: string;

  constructor(observers: readonly SubscribedObserver[], { nested, parent, trace }: Nesting, caller: Caller) {
    super(observers, parent, caller);
    this.protocol = parent.protocol;
    this.sentTrace = trace;
    this.#nested = nested;
    this.#parent = parent.id;
  }

  get id(): string {
    return this.#nested.id;
  }

  get operation(): ObservedOperation {
    return this.#nested.operation;
  }

  protected toStart(): CallStart {
    const { id, transport, caller, view, sentTrace } = this;
    const at = Date.now();
    const start: Draft<CallStart> = { type: "call-start", at, id, parent: this.#parent, transport, caller, view };
    addDetails(start, this, sentTrace);
    return start;
  }

  protected toValues(): WorkValues {
    return this.#nested.values;
  }
}
