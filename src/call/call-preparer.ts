import type { ToolEntry } from "../catalog/entry.ts";
import type { Refused } from "../catalog/outcome.ts";
import type { JsonObject } from "../schema/json.ts";
import type { FaultReporter } from "../surface/fault.ts";
import { andThen } from "../surface/is-thenable.ts";
import type { ConfirmRule } from "../tags/tool-options.ts";
import type { ClientAsker } from "./asker.ts";
import type { CallContext } from "./call-context.ts";
import { assertStillThere, settle, type Checked } from "./check-again.ts";
import { confirmCall, type AskedRule } from "./confirm-call.ts";
import type { Deadlines } from "./deadlines.ts";
import { limitCall } from "./limit-call.ts";
import { answersAny, questionsOf } from "./questions.ts";

/**
 * Returns the rule for a tool that its user confirms; `undefined` for any other tool.
 *
 * @param others - the rule for tools that may change something and do not set `confirm`.
 */
export function confirmRuleOf(entry: ToolEntry, others: ConfirmRule | undefined): AskedRule | undefined {
  // A tool of a gateway changes nothing itself: each call of its batch is asked about.
  const { confirm = entry.hints.readOnlyHint || entry.isUncounted === true ? undefined : others } = entry;
  return confirm === "never" ? undefined : confirm;
}

/** A call that may run, or its refusal. */
export type Prepared = Checked | Refused;

/** Dependencies of a {@link CallPreparer}. */
export interface PreparerDeps {
  readonly asker: ClientAsker;
  /** The rule for tools that may change something and do not set `confirm`. */
  readonly confirm: ConfirmRule | undefined;
  readonly report: FaultReporter;
  readonly deadlines: Deadlines;
}

/**
 * Returns whether a call was counted in an earlier round: a host's call that is retried with an answer, and a call within it that
 * had to ask. Other calls within it run again, and count again.
 */
function wasCounted(call: CallContext): boolean {
  const { resumed } = call.root.asking ?? {};
  if (resumed === undefined || !answersAny(resumed)) return false;
  return call.partOf === undefined || questionsOf(call)?.hasAnswerIn(call.trail?.place ?? "") === true;
}

/** Holds a call whose arguments fit against everything that can still refuse it: rights, rate limit, and its user. */
export class CallPreparer {
  readonly #deps: PreparerDeps;

  constructor(deps: PreparerDeps) {
    this.#deps = deps;
  }

  /** Returns what is to run, synchronously where nothing has to be waited for. Throws, or rejects, as validating and asking do. */
  prepare(checked: Checked, args: JsonObject, call: CallContext): Prepared | Promise<Prepared> {
    const { now, requires } = checked.entry;
    // Most tools stay what they are, and need no right to a thing.
    if (now === undefined && requires === undefined) return this.#admit(checked, args, call);
    return andThen(settle(checked, args, call), (runs) => this.#admit(runs, args, call));
  }

  #admit(runs: Checked, args: JsonObject, call: CallContext): Prepared | Promise<Prepared> {
    call.assertRunning();
    call.entry = runs.entry;
    const { asker, confirm } = this.#deps;
    call.allowAsking(asker);
    const rule = confirmRuleOf(runs.entry, confirm);
    const limiting = call.limiter === undefined ? undefined : this.#limit(runs, call, rule);
    if (rule === undefined && !(limiting instanceof Promise)) return limiting ?? runs;
    const admit = async (): Promise<Prepared> => {
      const limited = limiting instanceof Promise ? await call.outcome(limiting) : limiting;
      if (limited !== undefined || rule === undefined) return limited ?? runs;
      await call.outcome(confirmCall({ ...runs, rule }, args, call));
      if (call.turn !== undefined) await this.#takeTurn(call.turn, runs, call);
      return runs;
    };
    return admit();
  }

  async #takeTurn(turn: () => Promise<number>, { entry }: Checked, call: CallContext): Promise<void> {
    call.unwatch?.();
    call.unwatch = undefined;
    const deadlineAt = await call.outcome(turn());
    if (call.partOf !== undefined) call.partOf.deadlineAt = deadlineAt;
    this.#deps.deadlines.watch(call, entry);
    call.tracked?.begin(call.deadline);
    assertStillThere(entry, call);
  }

  /** Counts a call that is about to run or to ask its user. A call whose client cannot be asked does not run. */
  #limit({ entry }: Checked, call: CallContext, rule: AskedRule | undefined): ReturnType<typeof limitCall> {
    const willRefuse = rule === "refuse" && call.root.asking?.kinds.has("elicit") !== true;
    return willRefuse || wasCounted(call) ? undefined : limitCall(entry, call, this.#deps.report);
  }
}
