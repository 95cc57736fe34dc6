import type { Caller } from "./caller.ts";
import type { EntryCall, LogLevel, ProgressReport } from "./entry.ts";
import type { MountContext } from "./mount.ts";
import { createNestedCall, type NestedCaller } from "./nested-call.ts";

/** What a mounted operation is run with, over an entry's call: the signal stays unmade until it is asked for. */
export class MountedContext implements MountContext {
  readonly call: NestedCaller;
  readonly #call: EntryCall;

  constructor(call: EntryCall) {
    this.#call = call;
    this.call = createNestedCall(call);
  }

  get signal(): AbortSignal {
    return this.#call.signal;
  }

  get caller(): Caller {
    return this.#call.caller;
  }

  // Fields and not methods, since handlers take them out of the context.
  readonly progress = (report: ProgressReport): void => this.#call.progress(report);

  readonly log = (level: LogLevel, data: unknown, logger?: string): void => {
    this.#call.log?.({ level, data, ...(logger === undefined ? {} : { logger }) });
  };
}
