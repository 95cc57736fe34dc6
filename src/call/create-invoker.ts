import { SurfaceError } from "../errors.ts";
import type { FaceOwned, ToolEntry } from "../catalog/entry.ts";
import type { Resolved } from "../catalog/resolve-uri.ts";
import type { JsonObject } from "../schema/json.ts";
import { checkInput, checkOutput } from "../surface/check-value.ts";
import { internalError, maskFault, type FaultReporter } from "../surface/fault.ts";
import type { CallContext } from "./call-context.ts";
import { Deadlines } from "./deadlines.ts";
import { toRefused, type ReadOutcome, type Refused, type ToolOutcome } from "./outcome.ts";

/** How long a read may take, in milliseconds. */
const readTimeoutMs = 10_000;

/** The only way to run a handler: validate, bound, run, map the outcome. Nothing it returns leaks what was thrown. */
export interface Invoker {
  /** Calls a tool with the arguments as they came off the wire. Never rejects. */
  call(entry: ToolEntry, args: JsonObject, call: CallContext): Promise<ToolOutcome>;
  /** Reads what a URI resolved to. Never rejects. */
  read(resolved: Resolved, call: CallContext): Promise<ReadOutcome>;
  /** Clears all timers. Calls under way go on without a deadline: abort them first. */
  close(): void;
}

/** What an invoker is made of. */
export interface InvokerOptions {
  readonly report: FaultReporter;
}

const unknownOutcome =
  "the deadline passed, and whether the call took effect is unknown: read the state before you try again";

function isTimeout(cause: unknown): boolean {
  return cause instanceof SurfaceError && cause.code === "TIMEOUT";
}

class EntryInvoker implements Invoker {
  readonly #report: FaultReporter;
  readonly #deadlines = new Deadlines();

  constructor(options: InvokerOptions) {
    this.#report = options.report;
  }

  async call(entry: ToolEntry, args: JsonObject, call: CallContext): Promise<ToolOutcome> {
    let input: unknown;
    try {
      input = entry.input.decode(args);
      if (entry.owner !== "surface") input = await checkInput(entry.owner.input, input, entry.origin);
    } catch (cause) {
      call.finish();
      return this.#refuseArguments(cause, entry);
    }
    const forget = this.#deadlines.watch(call, entry.timeoutMs);
    try {
      const value = await this.#run(entry, input, call);
      return { kind: "answer", text: this.#write(entry, value) };
    } catch (cause) {
      return this.#refuse(cause, entry);
    } finally {
      forget();
      call.finish();
    }
  }

  async read(resolved: Resolved, call: CallContext): Promise<ReadOutcome> {
    const forget = this.#deadlines.watch(call, readTimeoutMs);
    try {
      const text = await call.outcome(resolved.read(call));
      return text === undefined ? { kind: "absent" } : { kind: "content", text };
    } catch (cause) {
      return this.#refuseRead(cause, resolved);
    } finally {
      forget();
      call.finish();
    }
  }

  close(): void {
    this.#deadlines.close();
  }

  async #run(entry: ToolEntry, input: unknown, call: CallContext): Promise<unknown> {
    const work = entry.run(input, call);
    const value = work instanceof Promise ? await call.outcome(work) : await work;
    return entry.owner === "surface" ? value : this.#checkAnswer(entry, entry.owner, value);
  }

  #checkAnswer(entry: ToolEntry, owner: FaceOwned, value: unknown): unknown {
    return checkOutput(owner.output, value, { where: entry.origin, report: this.#report });
  }

  #write(entry: ToolEntry, value: unknown): string {
    try {
      return entry.output.stringify(value);
    } catch (cause) {
      if (!(cause instanceof SurfaceError) || cause.code !== "UNSERIALISABLE") throw cause;
      const { correlationId } = internalError(cause, entry.origin, this.#report);
      throw new SurfaceError("UNSERIALISABLE", "the answer could not be written as JSON and was withheld", {
        ...(correlationId === undefined ? {} : { correlationId }),
        cause,
      });
    }
  }

  #refuseArguments(cause: unknown, entry: ToolEntry): Refused {
    if (cause instanceof SurfaceError && cause.code === "VALIDATION_ERROR") {
      return toRefused(new SurfaceError("VALIDATION_ERROR", "the arguments do not fit", { issues: cause.issues }));
    }
    return toRefused(maskFault(cause, entry.origin, this.#report));
  }

  #refuse(cause: unknown, entry: ToolEntry): Refused {
    // A live surface that refuses the input refuses what the caller said; from within a bespoke handler it refuses
    // what the handler said, which is the handler's fault and may name what the caller cannot see.
    if (isTimeout(cause) && !entry.hints.readOnlyHint) return toRefused(new SurfaceError("TIMEOUT", unknownOutcome));
    if (entry.owner === "surface") return this.#refuseArguments(cause, entry);
    return toRefused(maskFault(cause, entry.origin, this.#report));
  }

  #refuseRead(cause: unknown, resolved: Resolved): ReadOutcome {
    if (cause instanceof SurfaceError && (cause.code === "VALIDATION_ERROR" || cause.code === "ABSENT")) {
      return { kind: "absent" };
    }
    return toRefused(maskFault(cause, `resource "${resolved.id}"`, this.#report));
  }
}

/** Makes the invoker of an app. Its maker closes it. */
export function createInvoker(options: InvokerOptions): Invoker {
  return new EntryInvoker(options);
}
