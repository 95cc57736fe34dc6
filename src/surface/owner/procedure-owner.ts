import { Refusal, SurfaceError } from "../../errors.ts";
import { Places } from "../../spine/collections.ts";
import type { Scope } from "../../spine/scope.ts";
import { LinkedAbort, createAbortedError } from "../../spine/signals.ts";
import { tagOf } from "../../tags/tag-of.ts";
import { anonymous, type Caller } from "../caller.ts";
import { checkOutput, checkInputMasked, type OutputCheck } from "../check-value.ts";
import type { CallOptions } from "../client.ts";
import { isDerived } from "../implementation.ts";
import { internalError, maskFault, runUnawaited } from "../fault.ts";
import { isThenable } from "../is-thenable.ts";
import type { MaybeSchema, MemberOfKind } from "../member.ts";
import { RelayedError, relaySteps } from "../relayed.ts";
import { readTraceContext, type TraceContext } from "../trace-context.ts";
import type { HandlerContext, OwnerDeps, ProcedureContext } from "./handler-context.ts";
import { stepsPerTurn, nextTurn } from "./waiting.ts";

/** Error codes that a procedure declares, each with the schema of its details if it has one. */
type DeclaredErrors = Readonly<Record<string, MaybeSchema>>;

/** Validates the details of a refusal with a declared schema, and withholds others. Returns any other error as it is. Never rejects. */
export async function checkRefusal(failure: Error, declared: DeclaredErrors, check: OutputCheck): Promise<Error> {
  try {
    if (!(failure instanceof Refusal)) return failure;
    const { code, message, details } = failure;
    const schema = Object.hasOwn(declared, code) ? declared[code] : undefined;
    if (schema === undefined) return failure;
    const where = `${check.where}, refusing with "${code}"`;
    try {
      return new Refusal(code, message, await checkOutput(schema, details, { ...check, where }));
    } catch {
      // The check has reported the fault. The refusal itself still reaches the caller.
      return new Refusal(code, message);
    }
  } catch (cause) {
    // A subclass of Refusal may have getters that throw.
    return maskFault(cause, check.where, check.report);
  }
}

interface CallDeps {
  readonly scope: Scope;
  readonly check: OutputCheck;
  readonly progress: MaybeSchema;
  readonly isReadOnly: boolean;
}

function isAbortError(cause: unknown): boolean {
  return cause instanceof Error && cause.name === "AbortError";
}

/** One call of a procedure. Its signal is created only if the handler uses it. */
class OwnedCall implements ProcedureContext {
  readonly #use: CallOptions;
  readonly #deps: CallDeps;
  #linked: LinkedAbort | undefined;
  #telling: Promise<void> | undefined;
  #ended = false;

  constructor(use: CallOptions, deps: CallDeps) {
    this.#use = use;
    this.#deps = deps;
  }

  get signal(): AbortSignal {
    // After the end of the call, nothing would unlink it from the other signals.
    this.#linked ??= this.#ended ? new LinkedAbort() : new LinkedAbort(this.#use.signal, this.#deps.scope.signal);
    return this.#linked.signal;
  }

  get caller(): Caller {
    return this.#use.caller ?? anonymous;
  }

  get trace(): TraceContext | undefined {
    return readTraceContext(this.#use.trace);
  }

  /** Returns true if the call may be sent twice. */
  get mayRepeat(): boolean {
    return this.#use.idempotent ?? this.#deps.isReadOnly;
  }

  /** Validates a report and passes it on, in order. Throws `INVALID_OUTPUT`; {@link told} rejects with it if the schema is asynchronous. */
  readonly progress = (progress: unknown): void => {
    if (this.#ended) return;
    const checked = checkOutput(this.#deps.progress, progress, this.#deps.check);
    if (this.#telling === undefined && !(checked instanceof Promise)) {
      this.#tell(checked);
      return;
    }
    const before = this.#telling;
    this.#telling = Promise.all([checked, before]).then(([value]) => this.#tell(value));
    this.#telling.catch(() => {});
  };

  /** Settles when all reports so far were passed on; `undefined` if they were. */
  get told(): Promise<void> | undefined {
    return this.#telling;
  }

  /** Returns the error for the caller. The reaction of a handler to its abort is no fault. */
  mask(cause: unknown): Error {
    const { where, report } = this.#deps.check;
    const signal = this.#linked?.signal;
    if (signal?.aborted !== true) return maskFault(cause, where, report);
    return cause === signal.reason || isAbortError(cause) ? this.cancelled() : maskFault(cause, where, report);
  }

  cancelled(): Error {
    const { where, report } = this.#deps.check;
    return maskFault(createAbortedError(this.signal, `Using ${where}`), where, report);
  }

  /** Ends the call: drops further progress, and unlinks the signal. */
  end(): void {
    this.#ended = true;
    this.#linked?.dispose();
  }

  #tell(progress: unknown): void {
    if (this.#ended) return;
    const { where, report } = this.#deps.check;
    // A listener of the caller that fails must not fail the call.
    const fail = (cause: unknown): void => void internalError(cause, `the progress listener of ${where}`, report);
    runUnawaited(() => this.#use.onProgress?.(progress), fail);
  }
}

/** Returns true if the call of a context may be sent twice. Returns false for a context of the author. */
export function mayRepeat(context: HandlerContext): boolean {
  return context instanceof OwnedCall && context.mayRepeat;
}

/** Handler of a procedure: a function, or a generator function that yields progress. */
export type ProcedureHandler = (input: unknown, context: ProcedureContext) => unknown;

interface ProgressGenerator {
  next(): Promise<IteratorResult<unknown, unknown>>;
  return?(value: undefined): Promise<unknown>;
}

/** Returns true if a handler returned a generator, and not its output. */
function isGenerator(value: unknown): value is ProgressGenerator {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value && "next" in value;
}

/** Runs a generator of progress, and returns the output. An abort ends it at its next `yield`. @throws its error, or `ABORTED`. */
async function drainGenerator(generator: ProgressGenerator, owned: OwnedCall): Promise<unknown> {
  const { signal } = owned;
  let count = 0;
  try {
    while (!signal.aborted) {
      const step = await generator.next();
      if (step.done === true) return step.value;
      owned.progress(step.value);
      if (owned.told !== undefined) await owned.told;
      count += 1;
      if (count % stepsPerTurn === 0) await nextTurn();
    }
    throw owned.cancelled();
  } finally {
    await generator.return?.(undefined);
  }
}

/** Owns the handler of a procedure: the only place that runs it. */
export class ProcedureOwner {
  readonly kind = "procedure";
  readonly #member: MemberOfKind<"procedure">;
  readonly #handler: ProcedureHandler;
  /** Pending calls, which `close()` waits for. */
  readonly #running = new Places<Promise<unknown>>();
  readonly #deps: CallDeps;
  /** Whether the failure of a call to another surface is the failure of the whole call: the handler has no other effect. */
  readonly #isOneUse: boolean;

  constructor(member: MemberOfKind<"procedure">, handler: ProcedureHandler, owner: OwnerDeps) {
    const { scope, report } = owner;
    const isReadOnly = tagOf(member).effect === "read";
    this.#member = member;
    this.#handler = handler;
    const check = { where: `procedure "${owner.key}"`, report };
    this.#isOneUse = isDerived(handler) || isReadOnly;
    this.#deps = { scope, check, progress: member.progress, isReadOnly };
    // One disposer for all calls: a disposer for each would cost as much as a small call.
    scope.add(async () => void (await Promise.allSettled(this.#running.list().map(({ value }) => value))));
  }

  /**
   * Validates the input, runs the handler, validates the output. Returns a promise only if something waits. An abort fires the signal and
   * ends a generator; the call settles when the handler does. Throws, or rejects with:
   * - SurfaceError `VALIDATION_ERROR`, `INVALID_OUTPUT`, `ABORTED`, `CLOSED` or `INTERNAL`;
   * - a `Refusal` of the handler, its details validated if its code is declared with a schema;
   * - `OUTCOME_UNKNOWN` when closing, or another surface, cut off a handler that may have had an effect.
   */
  call(input: unknown, use: CallOptions): unknown {
    if (this.#deps.scope.closed) throw this.#deps.scope.createClosed();
    const checked = checkInputMasked(this.#member.input, input, this.#deps.check);
    if (!(checked instanceof Promise)) return this.#run(checked, use);
    return checked.then((valid: unknown) => {
      // The surface may have closed meanwhile.
      this.#deps.scope.assertOpen();
      return this.#run(valid, use);
    });
  }

  #run(valid: unknown, use: CallOptions): unknown {
    const owned = new OwnedCall(use, this.#deps);
    let output: unknown;
    try {
      const answer = this.#handler(valid, owned);
      if (isThenable(answer) || isGenerator(answer) || owned.told !== undefined) {
        return this.#track(this.#finish(answer, owned), owned);
      }
      output = answer;
    } catch (cause) {
      return this.#track(this.#refuse(cause, owned), owned);
    }
    try {
      output = checkOutput(this.#member.output, output, this.#deps.check);
      if (output instanceof Promise) return this.#track(output, owned);
    } catch (cause) {
      owned.end();
      throw cause;
    }
    owned.end();
    return output;
  }

  async #finish(answer: unknown, owned: OwnedCall): Promise<unknown> {
    let output: unknown;
    try {
      output = isGenerator(answer) ? await drainGenerator(answer, owned) : await answer;
      if (owned.told !== undefined) await owned.told;
    } catch (cause) {
      return this.#refuse(cause, owned);
    }
    return checkOutput(this.#member.output, output, this.#deps.check);
  }

  async #refuse(cause: unknown, owned: OwnedCall): Promise<never> {
    const told = this.#isOneUse ? cause : relaySteps(cause);
    throw await checkRefusal(this.#toCutOff(owned.mask(told), owned), this.#member.errors, this.#deps.check);
  }

  #track(running: Promise<unknown>, owned: OwnedCall): Promise<unknown> {
    const place = this.#running.add(running);
    const end = (): void => {
      this.#running.remove(place);
      owned.end();
    };
    running.then(end, end);
    return running;
  }

  /** Replaces `CLOSED`, which means that a call was not begun, by `OUTCOME_UNKNOWN` for a call that closing cut off. */
  #toCutOff(told: Error, owned: OwnedCall): Error {
    const isCut = this.#deps.scope.closed && told instanceof SurfaceError && told.code === "CLOSED" && !owned.mayRepeat;
    if (!isCut) return told;
    const message = "the application behind this closed before the answer";
    return new RelayedError("OUTCOME_UNKNOWN", message, { cause: told });
  }
}
