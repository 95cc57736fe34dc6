import { SurfaceError } from "../../errors.ts";
import { LinkedAbort, toAborted } from "../../spine/signals.ts";
import { Places } from "../../spine/collections.ts";
import type { Scope } from "../../spine/scope.ts";
import { tagOf } from "../../tags/tag-of.ts";
import { anonymous, type Caller } from "../caller.ts";
import { checkOutput, checkOwnedInput, type OutputCheck } from "../check-value.ts";
import type { CallOptions } from "../client.ts";
import { internalError, maskFault, onRejection } from "../fault.ts";
import { isThenable } from "../is-thenable.ts";
import { isDerived } from "../implementation.ts";
import type { MaybeSchema, MemberOfKind } from "../member.ts";
import { RelayedError, relaySteps } from "../relayed.ts";
import { checkRefusal } from "./check-refusal.ts";
import { burst, nextTurn } from "./next-turn.ts";
import type { HandlerContext, ProcedureContext } from "./handler-context.ts";
import type { OwnerSetting } from "./owner.ts";

/** What all uses of one handler have in common. */
interface UseTerms {
  readonly scope: Scope;
  readonly check: OutputCheck;
  /** The schema of progress. */
  readonly progress: MaybeSchema;
  /** Whether the member only reads. */
  readonly isReadOnly: boolean;
}

function isAbortError(cause: unknown): boolean {
  return cause instanceof Error && cause.name === "AbortError";
}

/** One call of a procedure. Its signal is made only if the handler asks for one. */
class OwnedUse implements ProcedureContext {
  readonly #use: CallOptions;
  readonly #terms: UseTerms;
  #linked: LinkedAbort | undefined;
  #telling: Promise<void> | undefined;
  #ended = false;

  constructor(use: CallOptions, terms: UseTerms) {
    this.#use = use;
    this.#terms = terms;
  }

  get signal(): AbortSignal {
    // A use that has ended links to nothing: nobody would ever let go of it.
    this.#linked ??= this.#ended ? new LinkedAbort() : new LinkedAbort(this.#use.signal, this.#terms.scope.signal);
    return this.#linked.signal;
  }

  get caller(): Caller {
    return this.#use.caller ?? anonymous;
  }

  /** Whether its caller's call may be made twice. */
  get mayRepeat(): boolean {
    return this.#use.idempotent ?? this.#terms.isReadOnly;
  }

  /**
   * Checks a report and passes it on, in order. A field, so that handlers may take it out of the context.
   *
   * @throws SurfaceError `INVALID_OUTPUT`; where the schema is asynchronous, {@link told} rejects with it instead.
   */
  readonly progress = (progress: unknown): void => {
    if (this.#ended) return;
    const checked = checkOutput(this.#terms.progress, progress, this.#terms.check);
    if (this.#telling === undefined && !(checked instanceof Promise)) {
      this.#tell(checked);
      return;
    }
    const before = this.#telling;
    this.#telling = Promise.all([checked, before]).then(([value]) => this.#tell(value));
    this.#telling.catch(() => {});
  };

  /** Settles when every report so far was passed on; `undefined` when that is the case. */
  get told(): Promise<void> | undefined {
    return this.#telling;
  }

  /** What a caller may see of what the handler threw: that it was aborted is no fault of it. */
  mask(cause: unknown): Error {
    const { where, report } = this.#terms.check;
    const signal = this.#linked?.signal;
    if (signal?.aborted !== true) return maskFault(cause, where, report);
    return cause === signal.reason || isAbortError(cause) ? this.cancelled() : maskFault(cause, where, report);
  }

  /** What a caller gets whose call was aborted. */
  cancelled(): Error {
    const { where, report } = this.#terms.check;
    return maskFault(toAborted(this.signal, `Using ${where}`), where, report);
  }

  /** Ends the use: progress falls silent and the signal lets go of its sources. */
  end(): void {
    this.#ended = true;
    this.#linked?.dispose();
  }

  #tell(progress: unknown): void {
    if (this.#ended) return;
    const { where, report } = this.#terms.check;
    // The listener is its caller's: that it fails is no reason to fail the work.
    const fail = (cause: unknown): void => void internalError(cause, `the progress listener of ${where}`, report);
    try {
      onRejection(this.#use.onProgress?.(progress), fail);
    } catch (cause) {
      fail(cause);
    }
  }
}

/** Whether the call that a handler was given may be made twice: for those that pass it on. Never of a context that is not ours. */
export function mayRepeat(context: HandlerContext): boolean {
  return context instanceof OwnedUse && context.mayRepeat;
}

/** What a procedure is implemented by: a function, or a generator function that yields progress. */
export type ProcedureHandler = (input: unknown, context: ProcedureContext) => unknown;

/** A generator of progress, as far as it is needed; authors may write one by hand. */
interface ProgressGenerator {
  next(): Promise<IteratorResult<unknown, unknown>>;
  return?(value: undefined): Promise<unknown>;
}

/** Tells a handler's generator from its answer. */
function isGenerator(value: unknown): value is ProgressGenerator {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value && "next" in value;
}

/**
 * Runs a generator: what it yields is progress, what it returns is the output. When the use is aborted it is returned at
 * its next `yield`, and goes no further; its `finally` is awaited in every case. One that never waits does not keep the
 * process from anything else, its own deadline included.
 *
 * @throws what the generator throws; `ABORTED` when it was ended by an abort.
 */
async function drainGenerator(generator: ProgressGenerator, owned: OwnedUse): Promise<unknown> {
  const { signal } = owned;
  let count = 0;
  try {
    while (!signal.aborted) {
      const step = await generator.next();
      if (step.done === true) return step.value;
      owned.progress(step.value);
      if (owned.told !== undefined) await owned.told;
      count += 1;
      if (count % burst === 0) await nextTurn();
    }
    throw owned.cancelled();
  } finally {
    await generator.return?.(undefined);
  }
}

/** Owns a procedure's handler: the one place where it is run. */
export class ProcedureOwner {
  readonly kind = "procedure";
  readonly #member: MemberOfKind<"procedure">;
  readonly #handler: ProcedureHandler;
  readonly #scope: Scope;
  readonly #check: OutputCheck;
  /** The calls under way, which closing waits for. */
  readonly #running = new Places<Promise<unknown>>();
  readonly #terms: UseTerms;
  /** Whether what one use of another surface fails with says all that there is to say of the call. */
  readonly #isOneUse: boolean;

  constructor(member: MemberOfKind<"procedure">, handler: ProcedureHandler, setting: OwnerSetting) {
    const { scope, report } = setting;
    this.#member = member;
    this.#handler = handler;
    this.#scope = scope;
    this.#check = { where: `procedure "${setting.key}"`, report };
    this.#isOneUse = isDerived(handler) || tagOf(member).effect === "read";
    this.#terms = { scope, check: this.#check, progress: member.progress, isReadOnly: tagOf(member).effect === "read" };
    // One disposer for all calls: one a call would cost as much as a small call itself.
    scope.add(async () => void (await Promise.allSettled(this.#running.list().map(({ value }) => value))));
  }

  /**
   * Validates the input, runs the handler, validates the output. Returns a promise only if something of that waits. An abort
   * reaches the handler through its signal, and ends a generator; the call settles when the handler does.
   *
   * @throws SurfaceError, or rejects with `VALIDATION_ERROR`, `INVALID_OUTPUT`, `ABORTED`, `CLOSED` or `INTERNAL`; `OUTCOME_UNKNOWN` where
   * closing cut off a handler that had begun and does not only read; a `Refusal` of the handler, its details checked where its code is declared with a schema; what a surface further up has failed with, of
   * a handler that may have done something before that as `OUTCOME_UNKNOWN`.
   */
  call(input: unknown, use: CallOptions): unknown {
    if (this.#scope.closed) throw this.#scope.createClosed();
    const checked = checkOwnedInput(this.#member.input, input, this.#check);
    if (!(checked instanceof Promise)) return this.#run(checked, use);
    return checked.then((valid: unknown) => {
      // It may have closed while the input was validated.
      this.#scope.assertOpen();
      return this.#run(valid, use);
    });
  }

  #run(valid: unknown, use: CallOptions): unknown {
    const owned = new OwnedUse(use, this.#terms);
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
      output = checkOutput(this.#member.output, output, this.#check);
      if (output instanceof Promise) return this.#track(output, owned);
    } catch (cause) {
      owned.end();
      throw cause;
    }
    owned.end();
    return output;
  }

  async #finish(answer: unknown, owned: OwnedUse): Promise<unknown> {
    let output: unknown;
    try {
      output = isGenerator(answer) ? await drainGenerator(answer, owned) : await answer;
      if (owned.told !== undefined) await owned.told;
    } catch (cause) {
      return this.#refuse(cause, owned);
    }
    return checkOutput(this.#member.output, output, this.#check);
  }

  async #refuse(cause: unknown, owned: OwnedUse): Promise<never> {
    const told = this.#isOneUse ? cause : relaySteps(cause);
    throw await checkRefusal(this.#toEnded(owned.mask(told), owned), this.#member.errors, this.#check);
  }

  /** Has closing wait for a call. */
  #track(running: Promise<unknown>, owned: OwnedUse): Promise<unknown> {
    const place = this.#running.add(running);
    const end = (): void => {
      this.#running.remove(place);
      owned.end();
    };
    running.then(end, end);
    return running;
  }

  /** `CLOSED` is what a call says that was not begun: one that closing cut off may have changed something by then. */
  #toEnded(told: Error, owned: OwnedUse): Error {
    const isCut = this.#scope.closed && told instanceof SurfaceError && told.code === "CLOSED" && !owned.mayRepeat;
    if (!isCut) return told;
    const message = "the application behind this closed before the answer";
    return new RelayedError("OUTCOME_UNKNOWN", message, { cause: told });
  }
}
