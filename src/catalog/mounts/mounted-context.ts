import { randomUUID } from "node:crypto";
import type { JsonObject } from "../../schema/json.ts";
import type { Asks } from "../asking/asking.ts";
import type { Caller } from "../../surface/caller.ts";
import { createAsks } from "../asking/create-asks.ts";
import type { EntryCall, LogLevel, ProgressReport } from "../entry.ts";
import type { MountContext } from "./mount.ts";
import { createNestedCall, type NestedCaller } from "../context/nested-call.ts";
import { OwnContext, type ContextSource } from "../context/own-context.ts";

/** The context of a mounted operation. Lazy: the signal is created on first use. */
class MountedContext implements MountContext {
  readonly call: NestedCaller;
  readonly #call: EntryCall;
  readonly #own: OwnContext;
  #runId: string | undefined;

  constructor(call: EntryCall, own: OwnContext) {
    this.#call = call;
    this.#own = own;
    this.call = createNestedCall(call);
  }

  get context(): unknown {
    return this.#own.value;
  }

  get signal(): AbortSignal {
    return this.#call.signal;
  }

  get caller(): Caller {
    return this.#call.caller;
  }

  get runId(): string {
    this.#runId ??= this.#call.runId ?? randomUUID();
    return this.#runId;
  }

  get ask(): Asks {
    return createAsks(this.#call);
  }

  // Fields, since handlers destructure the context.
  readonly addMeta = (members: JsonObject): void => this.#call.addMeta(members);

  readonly progress = (report: ProgressReport): void => this.#call.progress(report);

  readonly log = (level: LogLevel, data: unknown, logger?: string): void => {
    this.#call.log?.({ level, data, ...(logger === undefined ? {} : { logger }) });
  };
}

/** Runs a handler of a mount in the context of one call, which is disposed with it. */
export function runMounted<TValue>(
  call: EntryCall,
  contexts: ContextSource | undefined,
  run: (context: MountContext) => TValue,
): TValue | Promise<Awaited<TValue>> {
  const own = new OwnContext(call, contexts);
  return own.during(() => run(new MountedContext(call, own)));
}
