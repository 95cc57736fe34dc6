import { OwnContext } from "../../catalog/own-context.ts";
import type { ContextCall, ContextFactory } from "../../catalog/own-context.ts";
import type { MountContext } from "../../catalog/mount.ts";
import { SurfaceError } from "../../errors.ts";
import { internalError, type FaultReporter } from "../../surface/fault.ts";
import type { AgentCall, AgentContext } from "./agent-context.ts";
import { modelAnswered, readStep, type AgentStep } from "./agent-step.ts";
import { StepReport, tokensOf } from "./step-report.ts";

const runIdKey = "surface-mcp/runId";
const tokensKey = "surface-mcp/tokens";

/** What a run is made of. */
export interface RunSetting {
  readonly runId: string;
  /** Named in the author's log. */
  readonly where: string;
  readonly report: FaultReporter;
  /** Left out: in memory. */
  readonly make: ((call: AgentCall) => unknown) | undefined;
}

/** One run of an agent: what it is given, and what it has told so far. */
export class AgentRun implements AgentContext<unknown> {
  readonly runId: string;
  readonly #call: MountContext;
  readonly #setting: RunSetting;
  readonly #own: OwnContext;
  #told = 0;
  #wasToldAmiss = false;
  /** The tokens of all calls of models; `undefined` as soon as one does not say how many. */
  #tokens: number | undefined = 0;
  #modelCalls = 0;

  constructor(call: MountContext, setting: RunSetting) {
    this.#call = call;
    this.#setting = setting;
    this.runId = setting.runId;
    this.#own = new OwnContext(call, { make: this.#factory(), report: setting.report });
    // At once: whatever comes of the run, it is said which one it was.
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

  // A field, so that agents may take it out of the context.
  readonly step = (told: AgentStep): void => this.tell(told);

  /** Tells a step. What is none is left out, and reported once. */
  tell(told: unknown): void {
    const step = readStep(told);
    if (step === undefined) return this.#complain();
    this.#count(step);
    this.#told += 1;
    this.#call.progress(new StepReport(this.#told, step));
  }

  /** Runs it, and puts away its context. */
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
    // A sum that leaves some out would be read as all of them.
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
