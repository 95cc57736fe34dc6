import type { Asking } from "../catalog/asking/asking.ts";
import { isContent, kContent } from "../catalog/content/content.ts";
import type { ToolEntry, ToolOutput } from "../catalog/entry.ts";
import type { Denied, Refused, ToolOutcome } from "../catalog/outcome.ts";
import type { ChangeCount } from "../catalog/resources/watched-resource.ts";
import { richContent, type RichContent } from "../catalog/content/rich-content.ts";
import type { JsonObject } from "../schema/json.ts";
import { checkInput, checkOutput } from "../surface/check-value.ts";
import type { FaultReporter } from "../surface/fault.ts";
import { andThen, isThenable } from "../surface/is-thenable.ts";
import type { ConfirmRule } from "../tags/tool-options.ts";
import type { ClientAsker } from "./asker.ts";
import type { CallContext } from "./call-context.ts";
import type { Nesting } from "./nesting.ts";
import type { CallTree } from "./call-tree.ts";
import { assertStillThere, settle, type Checked } from "./check-again.ts";
import { confirmCall, type AskedRule } from "./confirm-call.ts";
import type { Deadlines } from "./deadlines.ts";
import { limitCall } from "./limit-call.ts";
import { endingBefore, suspendedOutcome, watchGoingOn } from "./questions.ts";
import { toRefused } from "./to-refused.ts";

/** How far a call came: what was thrown means something else at each. */
type Stage = "decoding" | "checking" | "running";

/** The answer to a call of an entry that is hidden from its caller: not found. */
export const unknownToAll: Denied = Object.freeze({ kind: "denied", scopes: undefined });

/** Returns the answer to a call that was hidden from its caller before its handler started, for example during a confirmation. */
function goneOutcome(stage: Stage, { stillShown }: CallContext): Denied | undefined {
  return stage !== "running" && stillShown?.() === false ? unknownToAll : undefined;
}

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
type Admitted = Checked | Refused;

/** The content blocks of an answer, and its value for programs. */
interface Made {
  readonly blocks: readonly object[];
  readonly structured: unknown;
  readonly isError?: boolean | undefined;
}

function toRich(output: ToolOutput, { blocks, isError }: Omit<Made, "structured">, structured: unknown): ToolOutcome {
  const hasValue = structured !== undefined || (output.json !== undefined && isError !== true);
  return {
    kind: "rich",
    // A copy, because a `toJSON` of the list could write anything.
    blocks: JSON.stringify([...blocks]),
    structured: hasValue ? output.stringify(structured) : undefined,
    ...(isError === true ? { isError } : {}),
  };
}

/** The call of a tool. A class: V8 may keep literals among old objects, which then keep the whole call from collection. */
class ToolRun {
  readonly entry: ToolEntry;
  readonly args: JsonObject;
  readonly call: CallContext;
  stage: Stage = "decoding";
  /** Number of steps that have begun. */
  step = 0;
  /** Whether a step waited: the caller may be shown other tools since. */
  hasWaited = false;
  /** The entry whose handler runs: `entry`, or what has replaced it. */
  ran: ToolEntry;

  constructor(entry: ToolEntry, args: JsonObject, call: CallContext) {
    this.entry = entry;
    this.ran = entry;
    this.args = args;
    this.call = call;
  }
}

/** A step of a call: gets what the step before returned, or resolved with. */
type Step = (run: ToolRun, value: unknown) => unknown;

/** Dependencies of {@link ToolCalls}. */
export interface ToolCallsDeps {
  readonly report: FaultReporter;
  readonly changes: ChangeCount | undefined;
  readonly tree: CallTree;
  readonly deadlines: Deadlines;
  readonly asker: ClientAsker;
  /** The rule for tools that may change something and do not set `confirm`. */
  readonly confirm: ConfirmRule | undefined;
  readonly nesting: Nesting;
}

/** Runs the calls of tools: validates, admits, starts, writes the answer, maps errors. */
export class ToolCalls {
  readonly #deps: ToolCallsDeps;
  readonly #steps: readonly Step[] = [
    (run) => this.#check(run),
    (run, input) => this.#prepare(run, input),
    // A step returns what the next one takes.
    (run, admitted) => this.#start(run, admitted as Admitted),
    (run, answer) => this.#write(run, answer),
  ];

  constructor(deps: ToolCallsDeps) {
    this.#deps = deps;
  }

  /** Calls a tool that its caller may call. Returns a promise only if something waits. Neither throws nor rejects. */
  begin(entry: ToolEntry, args: JsonObject, call: CallContext): ToolOutcome | Promise<ToolOutcome> {
    const { caller, partOf } = call;
    call.tracked = this.#deps.tree.open({ entry, caller, args, above: partOf?.call.tracked });
    this.#deps.deadlines.watch(call, entry);
    return this.#advance(new ToolRun(entry, args, call));
  }

  /** Runs the steps of a call from the next one on. Waits only for a step that returns a promise: most calls have none, or one. */
  #advance(run: ToolRun, before?: unknown): ToolOutcome | Promise<ToolOutcome> {
    let value = before;
    try {
      for (let step = this.#steps[run.step]; step !== undefined; step = this.#steps[run.step]) {
        run.step += 1;
        value = step(run, value);
        if (value instanceof Promise) {
          run.hasWaited = true;
          return value.then(
            (late: unknown) => this.#advance(run, late),
            (cause: unknown) => this.#fail(run, cause),
          );
        }
      }
      // What was recorded as aborted is not answered as done.
      run.call.assertRunning();
      // The last step returns the outcome.
      return this.#end(run, value as ToolOutcome);
    } catch (cause) {
      return this.#fail(run, cause);
    }
  }

  /** Begins a call whose turn has come. Throws what it was ended with before. */
  #enter({ entry, call }: ToolRun): void {
    call.assertRunning();
    call.tracked?.begin(call.deadline);
    call.reached("arguments");
    // Only the entry of a mounted operation can be replaced.
    if (entry.now !== undefined) this.#deps.asker.assertSameEntry(entry, call);
  }

  #check(run: ToolRun): unknown {
    const { entry, args, call } = run;
    const { owner } = entry;
    this.#enter(run);
    const decoded = entry.input.decode(args);
    run.stage = "checking";
    const checked = owner === "surface" ? decoded : checkInput(owner.input, decoded, entry.origin);
    return checked instanceof Promise ? call.outcome(checked) : checked;
  }

  /** Refuses a call whose arguments fit for its rights, its rate limit, or because its user does not confirm it. */
  #prepare({ entry, args, call }: ToolRun, input: unknown): Admitted | Promise<Admitted> {
    const checked = { entry, input };
    // Most tools cannot be replaced, and need no right to a thing.
    if (entry.now === undefined && entry.requires === undefined) return this.#admit(checked, args, call);
    return andThen(settle(checked, args, call), (runs) => this.#admit(runs, args, call));
  }

  #admit(runs: Checked, args: JsonObject, call: CallContext): Admitted | Promise<Admitted> {
    const { entry } = runs;
    const { asker, confirm, report } = this.#deps;
    call.assertRunning();
    call.entry = entry;
    call.allowAsking(asker);
    const rule = confirmRuleOf(entry, confirm);
    // A call whose client cannot be asked does not run, so it is not counted.
    const willRefuse = rule === "refuse" && call.root.asking?.kinds.has("elicit") !== true;
    const limiting = call.limiter === undefined || willRefuse ? undefined : limitCall(entry, call, report);
    if (rule === undefined && !(limiting instanceof Promise)) return limiting ?? runs;
    const admit = async (): Promise<Admitted> => {
      const limited = limiting instanceof Promise ? await call.outcome(limiting) : limiting;
      if (limited !== undefined || rule === undefined) return limited ?? runs;
      await call.outcome(confirmCall({ ...runs, rule }, args, call));
      if (call.turn !== undefined) await this.#takeTurn(call.turn, entry, call);
      return runs;
    };
    return admit();
  }

  async #takeTurn(turn: () => Promise<number>, entry: ToolEntry, call: CallContext): Promise<void> {
    call.unwatch?.();
    call.unwatch = undefined;
    const deadlineAt = await call.outcome(turn());
    if (call.partOf !== undefined) call.partOf.deadlineAt = deadlineAt;
    this.#deps.deadlines.watch(call, entry);
    call.tracked?.begin(call.deadline);
  }

  #start(run: ToolRun, admitted: Admitted): unknown {
    const { call } = run;
    // What was cancelled or too late while it was checked must not take effect.
    call.assertRunning();
    if ("kind" in admitted) {
      run.step = this.#steps.length;
      return admitted;
    }
    if (run.hasWaited) assertStillThere(admitted.entry, call);
    const ending = call.partOf === undefined ? undefined : endingBefore(call);
    if (ending !== undefined) return call.outcome(ending).then(() => this.#start(run, admitted));
    run.stage = "running";
    run.ran = admitted.entry;
    return this.#run(admitted, call);
  }

  #run({ entry, input }: Checked, call: CallContext): unknown {
    call.start();
    if (entry.isUncounted !== true) call.root.hasRun = true;
    call.allowNesting(this.#deps.nesting, entry);
    call.reached("backend");
    const work = entry.run(input, call);
    return isThenable(work) ? call.outcome(work) : work;
  }

  /**
   * Writes the answer of a handler, validated if the face owns its schema. Returns a promise only if the schema is asynchronous.
   *
   * @throws SurfaceError `INVALID_OUTPUT`, `UNSERIALISABLE` or `INTERNAL`.
   */
  #write({ ran: entry, call }: ToolRun, answer: unknown): ToolOutcome | Promise<ToolOutcome> {
    const { owner, output, origin } = entry;
    const made = output.rich === "may" && isContent(answer) ? answer[kContent] : undefined;
    // The value beside blocks is validated like a plain answer, also if it is left out.
    const given: unknown = made === undefined ? answer : made.structured;
    // A failure without a value has none that would fit.
    if (owner === "surface" || (made?.isError === true && given === undefined))
      return this.#toOutcome(entry, made, given);
    const value = checkOutput(owner.output, given, { where: origin, report: this.#deps.report });
    if (!(value instanceof Promise)) return this.#toOutcome(entry, made, value);
    return call.outcome(value).then((late) => this.#toOutcome(entry, made, late));
  }

  /** @param made - the content blocks of the answer, whose value `value` is; `undefined` for an answer without blocks. */
  #toOutcome({ output, origin }: ToolEntry, made: Made | undefined, value: unknown): ToolOutcome {
    if (made !== undefined) return toRich(output, made, value);
    if (output.rich === "always") {
      // It may come from another process, so it is validated again. That schema is synchronous.
      const content = checkOutput(richContent, value, { where: origin, report: this.#deps.report }) as RichContent &
        Made;
      return toRich(output, content, content.structured);
    }
    const text = output.stringify(value);
    if (output.isError?.(value) === true) return { kind: "answer", text, isError: true };
    return typeof value === "string" ? { kind: "answer", text, plain: value } : { kind: "answer", text };
  }

  #fail(run: ToolRun, cause: unknown): ToolOutcome {
    return this.#end(run, this.#refuse(run, cause));
  }

  #end({ entry, call }: ToolRun, outcome: ToolOutcome): ToolOutcome {
    call.unwatch?.();
    const { hints, origin, isUncounted } = entry;
    const { changes } = this.#deps;
    if (changes !== undefined && !hints.readOnlyHint) changes.count += 1;
    // What stands for others waits for them, and says what became of them.
    if (isUncounted !== true && call.isSuspended) watchGoingOn(call, { where: origin, report: this.#deps.report });
    call.finish(outcome.kind === "refused" ? outcome.code : undefined);
    return outcome;
  }

  #refuse({ entry, call, stage }: ToolRun, cause: unknown): Asking | Refused | Denied {
    const instead = suspendedOutcome(call) ?? goneOutcome(stage, call);
    if (instead !== undefined) return instead;
    // A live surface that refuses the input refuses what the caller said; from within a bespoke handler it refuses
    // what the handler said, which is the handler's fault and may name what the caller cannot see.
    const aboutArguments = stage !== "running" || entry.owner === "surface";
    const mayHaveActed = stage === "running" && !entry.hints.readOnlyHint;
    return toRefused(call.endedWith ?? cause, {
      where: entry.origin,
      report: this.#deps.report,
      deadline: call.passedDeadline,
      // Decoding names what it refuses by its path on the wire; a schema knows nothing of the wrapping.
      ...(aboutArguments ? { argumentsRoot: stage === "decoding" ? "" : entry.input.root } : {}),
      isUnsent: call.isUnsent,
      ...(mayHaveActed ? { changes: entry.owner === "surface" ? "call" : "steps" } : {}),
    });
  }
}
