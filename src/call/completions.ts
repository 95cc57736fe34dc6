import type { Completer, EntryGuard, Filled } from "../catalog/entry.ts";
import { SurfaceError } from "../errors.ts";
import { internalError, type FaultReporter } from "../surface/fault.ts";
import { deny } from "./authorise.ts";
import { runBounded } from "./bounded.ts";
import type { CallContext } from "./call-context.ts";
import type { Deadlines } from "./deadlines.ts";
import type { CompletionOutcome } from "./outcome.ts";

/** A request for proposals. */
export interface Completion extends EntryGuard {
  /** Named in the owner's log, for example `argument "city" of prompt "weather"`. */
  readonly where: string;
  readonly complete: Completer | undefined;
  readonly begun: string;
  readonly filled: Filled;
}

/** Milliseconds that a completer has: the user goes on writing meanwhile. */
const timeoutMs = 5000;

/** Runs completers. */
export class Completions {
  readonly #deadlines: Deadlines;
  readonly #report: FaultReporter;
  /** Completers that did not answer in time when they ran last. */
  readonly #hanging = new WeakSet<Completer>();

  constructor(deadlines: Deadlines, report: FaultReporter) {
    this.#deadlines = deadlines;
    this.#report = report;
  }

  async complete(completion: Completion, call: CallContext): Promise<CompletionOutcome> {
    const denied = deny(completion, call);
    if (denied !== undefined) return denied;
    const { where, complete, begun, filled } = completion;
    call.reached("arguments");
    if (complete === undefined) return { kind: "values", values: [] };
    const run = async (): Promise<CompletionOutcome> => {
      call.reached("backend");
      const given: unknown = await complete(begun, call, filled);
      const values: readonly unknown[] = Array.isArray(given) ? given : [];
      // A copy, since reading the author's may throw. The handler of the request leaves out values that are no text.
      return { kind: "values", values: [...values] as readonly string[] };
    };
    const outcome = await runBounded(this.#deadlines, call, { timeoutMs, run, at: { where, report: this.#report } });
    if (outcome.kind !== "refused") this.#hanging.delete(complete);
    else if (outcome.code === "TIMEOUT" && !this.#hanging.has(complete)) {
      // Once: a client asks again with each letter.
      this.#hanging.add(complete);
      const cause = new SurfaceError("TIMEOUT", `Waiting for proposals: none came within ${timeoutMs} ms`);
      internalError(cause, where, this.#report);
    }
    return outcome;
  }
}
