import { OwnedIterator } from "../../spine/owned-iterator.ts";
import { checkOutput, checkOwnedInput, type OutputCheck } from "../check-value.ts";
import type { UseOptions } from "../client.ts";
import { maskFault } from "../fault.ts";
import { isThenable } from "../is-thenable.ts";
import type { MaybeSchema } from "../member.ts";
import { kMemory, type HandlerContext, type Memory } from "./handler-context.ts";
import type { OwnerSetting } from "./owner.ts";

/** What a stream or event is implemented by. One that is asynchronous itself compiles only with a cast, and works. */
export type ListenHandler = (
  input: unknown,
  context: HandlerContext,
) => AsyncIterable<unknown> | Promise<AsyncIterable<unknown>>;

/** The parts of a stream or event that listening needs. */
export interface Listened {
  readonly input: MaybeSchema;
  readonly output: MaybeSchema;
}

interface ListenUse extends UseOptions {
  readonly memory?: Memory | undefined;
}

/** Runs the handler of a stream or event for one listener: input checked first, every value checked on its way out. */
export class Listening {
  readonly #member: Listened;
  readonly #handler: ListenHandler;
  readonly #setting: OwnerSetting;
  readonly #check: OutputCheck;

  constructor(member: Listened, handler: ListenHandler, setting: OwnerSetting & { readonly where: string }) {
    this.#member = member;
    this.#handler = handler;
    this.#setting = setting;
    this.#check = { where: setting.where, report: setting.report };
  }

  /** Validates an input. @throws SurfaceError `VALIDATION_ERROR`. */
  input(value: unknown): unknown {
    return checkOwnedInput(this.#member.input, value, this.#check);
  }

  /** Opens the handler with an input that was validated before, and with what it goes on from where it was open before. */
  open(valid: unknown, memory?: Memory): AsyncIterableIterator<unknown> {
    return this.#iterate(() => valid, { memory });
  }

  /** Opens the handler with an input that is validated when the first value is asked for. */
  openUnchecked(value: unknown, use: UseOptions): AsyncIterableIterator<unknown> {
    return this.#iterate(() => this.input(value), use);
  }

  #iterate(input: () => unknown, use: ListenUse): AsyncIterableIterator<unknown> {
    return new OwnedIterator<unknown>({
      open: (signal) => {
        const valid = input();
        return isThenable(valid) ? this.#startLater(valid, signal, use.memory) : this.#start(valid, signal, use.memory);
      },
      check: (value) => checkOutput(this.#member.output, value, this.#check),
      mask: (cause) => this.#mask(cause),
      scope: this.#setting.scope,
      signal: use.signal,
    });
  }

  async #startLater(
    validating: PromiseLike<unknown>,
    signal: AbortSignal,
    memory: Memory | undefined,
  ): Promise<AsyncIterable<unknown>> {
    const valid = await validating;
    // Its listener has gone meanwhile: the handler is not to start.
    signal.throwIfAborted();
    return this.#start(valid, signal, memory);
  }

  #start(
    valid: unknown,
    signal: AbortSignal,
    memory: Memory | undefined,
  ): AsyncIterable<unknown> | Promise<AsyncIterable<unknown>> {
    const context = { signal, progress: () => {} };
    try {
      const values = this.#handler(valid, memory === undefined ? context : { ...context, [kMemory]: memory });
      return isThenable(values) ? this.#settle(values) : values;
    } catch (cause) {
      throw this.#mask(cause);
    }
  }

  async #settle(opening: PromiseLike<AsyncIterable<unknown>>): Promise<AsyncIterable<unknown>> {
    try {
      return await opening;
    } catch (cause) {
      throw this.#mask(cause);
    }
  }

  #mask(cause: unknown): Error {
    return maskFault(cause, this.#check.where, this.#check.report);
  }
}
