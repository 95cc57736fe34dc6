import { OwnContext, type ContextCall, type ContextFactory } from "../../catalog/context/own-context.ts";
import type { MountContext } from "../../catalog/mounts/mount.ts";
import { SurfaceError } from "../../errors.ts";
import { internalError, type FaultReporter } from "../../surface/fault.ts";
import { modelAnswered, readStep, type AgentCall, type AgentContext, type AgentStep } from "./agent-context.ts";
import { StepReport, tokensOf } from "./run-steps.ts";

const runIdKey = "surface-mcp/runId";
const tokensKey = "surface-mcp/tokens";

/** What a run needs. */
export interface RunDeps {
  readonly runId: string;
  /** The name of the agent in the author's log. */
  readonly where: string;
  readonly report: FaultReporter;
  /** @default a context in memory */
  readonly make: ((call: AgentCall) => unknown) | undefined;
}

/** One run of an agent: its context, steps and tokens. */
export class AgentRun implements AgentContext<unknown> {
  readonly runId: string;
  readonly #call: MountContext;
  readonly #setting: RunDeps;
  readonly #own: OwnContext;
  #told = 0;
  #wasToldAmiss = false;
  /** The tokens of all model calls; `undefined` if one of them is unknown. */
  #tokens: number | undefined = 0;
  #modelCalls = 0;

  constructor(call: MountContext, setting: RunDeps) {
    this.#call = call;
    this.#setting = setting;
    this.runId = setting.runId;
    this.#own = new OwnContext(call, { make: this.#factory(), report: setting.report });
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
  readonly step = (told: AgentStep): void => this.tell(told);

  /** Reports a step. Values that are none are dropped, and the first one is reported to the author. */
  tell(told: unknown): void {
    const step = readStep(told);
    if (step === undefined) return this.#complain();
    this.#count(step);
    this.#told += 1;
    this.#call.progress(new StepReport(this.#told, step));
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
    const { make, runId } = this.#setting;
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
    if (step.kind !== modelAnswered) return;
    this.#modelCalls += 1;
    const tokens = tokensOf(step);
    // A partial sum would look like the total.
    this.#tokens = tokens === undefined || this.#tokens === undefined ? undefined : this.#tokens + tokens;
  }

  #complain(): void {
    if (this.#wasToldAmiss) return;
    this.#wasToldAmiss = true;
    const { where, report } = this.#setting;
    const problem = new SurfaceError(
      "INVALID_OUTPUT",
      `Telling a step of ${where}: it must be an object with a "kind"`,
    );
    internalError(problem, where, report);
  }
}
