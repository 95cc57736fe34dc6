import { OwnContext, type ContextCall, type ContextFactory } from "../../catalog/context/own-context.ts";
import type { MountContext } from "../../catalog/mounts/mount.ts";
import { SurfaceError } from "../../errors.ts";
import { internalError, type FaultReporter } from "../../surface/fault.ts";
import { endsModelCall, readStep, StepReport, tokensOf, type AgentStep } from "./run-steps.ts";

const runIdKey = "surface-mcp/runId";
const tokensKey = "surface-mcp/tokens";

/** The identity of a run, which the factory of its context receives. */
export interface AgentCall extends Pick<MountContext, "signal" | "caller"> {
  /** Id of the run, here and in `_meta` of its result. A run that starts again with answers of the client keeps it. */
  readonly runId: string;
}

/** The second argument of `run`. */
export interface AgentContext<TContext> extends AgentCall, Pick<MountContext, "ask" | "call" | "log" | "addMeta"> {
  /** The result of the agent's `context` for this run, created at first use. */
  readonly context: TContext;
  /** The result of the app's `context()` for this call. */
  readonly app: unknown;
  /** Reports a step, as `yield` does. Can be destructured. */
  readonly step: (step: AgentStep) => void;
}

/** Dependencies of {@link AgentRun}. */
export interface RunDeps {
  readonly runId: string;
  /** Name of the agent in log messages. */
  readonly where: string;
  readonly report: FaultReporter;
  /** Creates the context of a run. @default a context in memory */
  readonly make: ((call: AgentCall) => unknown) | undefined;
}

/** One run of an agent: its context, steps and tokens. */
export class AgentRun implements AgentContext<unknown> {
  readonly runId: string;
  readonly #call: MountContext;
  readonly #deps: RunDeps;
  readonly #own: OwnContext;
  #reported = 0;
  #hasReportedInvalid = false;
  /** The tokens of all model calls; `undefined` if one of them is unknown. */
  #tokens: number | undefined = 0;
  #modelCalls = 0;

  constructor(call: MountContext, deps: RunDeps) {
    this.#call = call;
    this.#deps = deps;
    this.runId = deps.runId;
    this.#own = new OwnContext(call, { make: this.#factory(), report: deps.report });
    // Before the run, so that errors have it too.
    call.addMeta({ [runIdKey]: this.runId });
  }

  get signal(): AgentContext<unknown>["signal"] {
    return this.#call.signal;
  }

  get caller(): AgentContext<unknown>["caller"] {
    return this.#call.caller;
  }

  get ask(): AgentContext<unknown>["ask"] {
    return this.#call.ask;
  }

  get call(): AgentContext<unknown>["call"] {
    return this.#call.call;
  }

  get log(): AgentContext<unknown>["log"] {
    return this.#call.log;
  }

  get addMeta(): AgentContext<unknown>["addMeta"] {
    return this.#call.addMeta;
  }

  get context(): unknown {
    return this.#own.value;
  }

  get app(): unknown {
    return this.#call.context;
  }

  // A field, so that agents can destructure it.
  readonly step = (step: AgentStep): void => this.report(step);

  /** Reports a step. Drops values that are not steps, and reports the first of them to the author. */
  report(value: unknown): void {
    const step = readStep(value);
    if (step === undefined) return this.#reportInvalid();
    this.#count(step);
    this.#reported += 1;
    this.#call.progress(new StepReport(this.#reported, step));
  }

  /** Runs the agent, then disposes its context. */
  async during<TValue>(run: () => Promise<TValue>): Promise<TValue> {
    try {
      return await this.#own.during(run);
    } finally {
      if (this.#modelCalls > 0 && this.#tokens !== undefined) this.#call.addMeta({ [tokensKey]: this.#tokens });
    }
  }

  #factory(): ContextFactory | undefined {
    const { make, runId } = this.#deps;
    if (make === undefined) return undefined;
    return (call: ContextCall) =>
      make(
        Object.freeze({
          runId,
          caller: call.caller,
          get signal() {
            return call.signal;
          },
        }),
      );
  }

  #count(step: AgentStep): void {
    if (!endsModelCall(step)) return;
    this.#modelCalls += 1;
    const tokens = tokensOf(step);
    // A partial sum would look like the total.
    this.#tokens = tokens === undefined || this.#tokens === undefined ? undefined : this.#tokens + tokens;
  }

  #reportInvalid(): void {
    if (this.#hasReportedInvalid) return;
    this.#hasReportedInvalid = true;
    const { where, report } = this.#deps;
    const problem = new SurfaceError(
      "INVALID_OUTPUT",
      `Cannot report a step of ${where}: it must be an object with a "kind"`,
    );
    internalError(problem, where, report);
  }
}
