import { randomUUID } from "node:crypto";
import { SurfaceError } from "../errors.ts";
import type { JsonSchema, JsonValue } from "../schema/json.ts";
import { internalError, reportToConsole, runUnawaited, type FaultReporter } from "../surface/fault.ts";
import { withTimeout } from "../surface/system-clock.ts";
import { readTraceContext, type TraceContext } from "../surface/trace-context.ts";
import type { Observation, WorkStart } from "./observation.ts";
import type { Redactor } from "./redact-secrets.ts";
import type { ReadWork, WorkOutcome, WorkReader } from "./work-records.ts";

/**
 * Receives records of what an app does. Its errors are reported once as a fault and change nothing, except those of `before`. Do not
 * block in it: it runs within the request.
 */
export interface Observer {
  /** Receives each record. A promise that it returns is not awaited. */
  record(observation: Observation): void;
  /**
   * Called before the handler of a request or nested call runs. If it throws, rejects or takes longer than 10 seconds, the request
   * is refused and nothing runs. Requests wait only for a promise.
   */
  before?(start: WorkStart): void | Promise<void>;
  /** Runs a handler within a context, such as `context.with` of OpenTelemetry. Must call `run` at once; its result is ignored. */
  around?(start: WorkStart, run: () => unknown): void;
  /** Returns the trace context for handlers and links while the work runs, such as that of a span. @default that of the request */
  trace?(start: WorkStart): TraceContext | undefined;
  /** Redacts arguments and results. Left out: the records have neither. */
  readonly values?: Redactor;
}

/** An observer, or its `record` alone. */
export type ObserverOption = Observer | ((observation: Observation) => void);

const beforeTimeoutMs = 10_000;

/** A value and its schema. */
type SchemaValue = readonly [value: JsonValue | undefined, schema: JsonSchema | undefined];

/** An observer while it is subscribed. */
export class SubscribedObserver {
  readonly observer: Observer;
  /** Reads requests and calls in place of their records. It then gets the other records only. */
  readonly reader: WorkReader | undefined;
  readonly #report: FaultReporter;
  isOpen = true;
  #hasFailed = false;

  constructor(observer: Observer, reader: WorkReader | undefined, report: FaultReporter) {
    this.observer = observer;
    this.reader = reader;
    this.#report = report;
  }

  /** Calls its reader. */
  read(work: ReadWork, outcome?: WorkOutcome, endedAt = 0): void {
    if (!this.isOpen) return;
    try {
      this.reader?.(work, outcome, endedAt);
    } catch (cause) {
      this.#fail(cause);
    }
  }

  tell(observation: Observation): void {
    if (!this.isOpen) return;
    runUnawaited(
      () => this.observer.record(observation),
      (cause) => this.#fail(cause),
    );
  }

  /** Returns whether the handler may run. Never throws or rejects. */
  admit(start: WorkStart): boolean | Promise<boolean> {
    if (!this.isOpen || this.observer.before === undefined) return true;
    const refuse = (cause: unknown): boolean => {
      this.#fail(cause);
      return false;
    };
    try {
      const waiting: unknown = this.observer.before(start);
      if (waiting === undefined) return true;
      return withTimeout(waiting, beforeTimeoutMs, "Cannot run a handler before an observer").then(() => true, refuse);
    } catch (cause) {
      return refuse(cause);
    }
  }

  /** Runs `run` within the observer's context, once, even if the observer does not. Returns its result or throws its error. */
  run<TResult>(start: WorkStart, run: () => TResult): TResult {
    if (!this.isOpen || this.observer.around === undefined) return run();
    let settled: { readonly value: TResult } | { readonly cause: unknown } | undefined;
    const once = (): TResult => {
      if (settled === undefined) {
        try {
          settled = { value: run() };
        } catch (cause) {
          settled = { cause };
        }
      }
      if ("cause" in settled) throw settled.cause;
      return settled.value;
    };
    // An asynchronous around() rejects with the error of the handler, too, which is not its own.
    const fail = (cause: unknown): void => {
      if (settled === undefined || !("cause" in settled) || settled.cause !== cause) this.#fail(cause);
    };
    runUnawaited(() => this.observer.around?.(start, once), fail);
    return once();
  }

  /** Returns the trace context of this observer; `undefined` for none, or a malformed one. Never throws. */
  trace(work: { readonly start: WorkStart }): TraceContext | undefined {
    if (!this.isOpen || this.observer.trace === undefined) return undefined;
    try {
      return readTraceContext(this.observer.trace(work.start));
    } catch (cause) {
      this.#fail(cause);
      return undefined;
    }
  }

  /** Returns a value as this observer may see it; `undefined` if it may not, or for no value. */
  redact(read: () => SchemaValue): JsonValue | undefined {
    const { values } = this.observer;
    if (!this.isOpen || values === undefined) return undefined;
    try {
      const [value, schema] = read();
      return value === undefined ? undefined : values(value, schema);
    } catch (cause) {
      this.#fail(cause);
      return undefined;
    }
  }

  /** Reports the first error: an observer that fails does so with every request. */
  #fail(cause: unknown): void {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    internalError(cause, "an observer, whose further errors are not reported", this.#report);
  }
}

/** Options of {@link Observers}. */
export interface ObserversOptions {
  /** Receives the errors of observers. @default the console */
  readonly report?: FaultReporter | undefined;
}

function toObserver(given: ObserverOption): Observer {
  if (typeof given === "function") return { record: given };
  if (typeof given?.record === "function") return given;
  throw new SurfaceError(
    "INVALID_OPTION",
    "Cannot observe an app: the observer must be a function, or an object with the method record()",
  );
}

/** The observers of an app. */
export class Observers {
  /** The present observers; `undefined` without any, which is all that a request then reads of this class. */
  all: readonly SubscribedObserver[] | undefined;
  readonly prefix: string = randomUUID().slice(0, 8);
  readonly #report: FaultReporter;
  #count = 0;

  constructor({ report = reportToConsole }: ObserversOptions = {}) {
    this.#report = report;
  }

  /**
   * Adds an observer. Returns a function that removes it, after which it is not called again.
   *
   * @param reader - reads requests and calls in place of their records.
   * @throws SurfaceError `INVALID_OPTION`.
   */
  add(observer: ObserverOption, reader?: WorkReader): () => void {
    const subscription = new SubscribedObserver(toObserver(observer), reader, this.#report);
    this.all = [...(this.all ?? []), subscription];
    return () => {
      subscription.isOpen = false;
      const rest = this.all?.filter((one) => one !== subscription) ?? [];
      this.all = rest.length === 0 ? undefined : rest;
    };
  }

  /** Returns an id that no other record of the process has. */
  nextId(): string {
    return this.toId(this.nextNumber());
  }

  /** Returns the number of an id, for those that may never need it. */
  nextNumber(): number {
    this.#count += 1;
    return this.#count;
  }

  toId(number: number): string {
    return `${this.prefix}-${number}`;
  }

  /** Reports an error of this package in making a record: no request must fail because it is observed. */
  fail(cause: unknown): void {
    internalError(cause, "recording what an app does", this.#report);
  }

  /** Sends a record that belongs to no request. */
  tell(observation: Observation): void {
    Object.freeze(observation);
    for (const subscription of this.all ?? []) subscription.tell(observation);
  }
}
