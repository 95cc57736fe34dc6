import { OwnedIterator } from "../../spine/owned-iterator.ts";
import { checkOutput, checkInputMasked, type OutputCheck } from "../check-value.ts";
import type { UseOptions } from "../client.ts";
import { maskFault } from "../fault.ts";
import { isThenable } from "../is-thenable.ts";
import type { MemberOfKind } from "../member.ts";
import { type HandlerContext, type HandlerMemory, kMemory, type OwnerDeps } from "./handler-context.ts";
import { whenThere } from "./waiting.ts";

/** Handler of a stream or event. An asynchronous function works too, but compiles only with a cast. */
export type StreamHandler = (
  input: unknown,
  context: HandlerContext,
) => AsyncIterable<unknown> | Promise<AsyncIterable<unknown>>;

/** Runs the handler of a stream or event for one listener: validates the input before, and every value on its way out. */
export class HandlerRunner {
  /** Names the member in errors, for example `event "settled"`. */
  readonly where: string;
  readonly #member: MemberOfKind<"stream" | "event">;
  readonly #handler: StreamHandler;
  readonly #deps: OwnerDeps;
  readonly #check: OutputCheck;

  constructor(member: MemberOfKind<"stream" | "event">, handler: StreamHandler, deps: OwnerDeps) {
    this.where = `${member.kind} "${deps.key}"`;
    this.#member = member;
    this.#handler = handler;
    this.#deps = deps;
    this.#check = { where: this.where, report: deps.report };
  }

  input(value: unknown): unknown {
    return checkInputMasked(this.#member.input, value, this.#check);
  }

  /** Opens the handler with a validated input, and with the memory of its earlier runs. */
  open(valid: unknown, memory?: HandlerMemory): AsyncIterableIterator<unknown> {
    return this.#iterate(() => valid, memory, undefined);
  }

  /** Opens the handler with an input that is validated at the first `next()`. */
  openUnchecked(value: unknown, { signal }: UseOptions): AsyncIterableIterator<unknown> {
    return this.#iterate(() => this.input(value), undefined, signal);
  }

  #iterate(
    input: () => unknown,
    memory: HandlerMemory | undefined,
    outer: AbortSignal | undefined,
  ): AsyncIterableIterator<unknown> {
    return new OwnedIterator<unknown>({
      open: (signal) =>
        whenThere(input(), (valid) => {
          // The listener may have left meanwhile: the handler must not start.
          signal.throwIfAborted();
          return this.#start(valid, signal, memory);
        }),
      check: (value) => checkOutput(this.#member.output, value, this.#check),
      mask: (cause) => this.#mask(cause),
      scope: this.#deps.scope,
      signal: outer,
    });
  }

  #start(
    valid: unknown,
    signal: AbortSignal,
    memory: HandlerMemory | undefined,
  ): AsyncIterable<unknown> | Promise<AsyncIterable<unknown>> {
    const context = { signal, progress: () => {} };
    const fail = (cause: unknown): never => {
      throw this.#mask(cause);
    };
    try {
      const values = this.#handler(valid, memory === undefined ? context : { ...context, [kMemory]: memory });
      return isThenable(values) ? Promise.resolve(values).catch(fail) : values;
    } catch (cause) {
      return fail(cause);
    }
  }

  #mask(cause: unknown): Error {
    return maskFault(cause, this.#check.where, this.#check.report);
  }
}
