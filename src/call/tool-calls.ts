import type { Asking } from "../catalog/asking.ts";
import type { ToolEntry } from "../catalog/entry.ts";
import type { Denied, Refused, ToolOutcome } from "../catalog/outcome.ts";
import type { ChangeCount } from "../catalog/watched-resource.ts";
import type { JsonObject } from "../schema/json.ts";
import { checkInput } from "../surface/check-value.ts";
import type { FaultReporter } from "../surface/fault.ts";
import { isThenable } from "../surface/is-thenable.ts";
import type { ClientAsker } from "./asker.ts";
import type { CallContext } from "./call-context.ts";
import type { Nesting } from "./nesting.ts";
import type { CallPreparer, Prepared } from "./call-preparer.ts";
import type { CallTree } from "./call-tree.ts";
import type { Checked } from "./check-again.ts";
import type { Deadlines } from "./deadlines.ts";
import { endingBefore, suspendedOutcome, watchGoingOn } from "./questions.ts";
import { toRefused } from "./to-refused.ts";
import { writeAnswer } from "./write-answer.ts";

/** How far a call came: what was thrown means something else at each. */
type Stage = "decoding" | "checking" | "running";

/** The answer to a call of an entry that is hidden from its caller: not found. */
export const unknownToAll: Denied = Object.freeze({ kind: "denied", scopes: undefined });

/** Returns the answer to a call that was hidden from its caller before its handler started, for example during a confirmation. */
function goneOutcome(stage: Stage, { stillShown }: CallContext): Denied | undefined {
  return stage !== "running" && stillShown?.() === false ? unknownToAll : undefined;
}

/** The call of a tool. A class: V8 may keep literals among old objects, which then keep the whole call from collection. */
class ToolRun {
  readonly entry: ToolEntry;
  readonly args: JsonObject;
  readonly call: CallContext;
  stage: Stage = "decoding";
  /** Number of steps that have begun. */
  step = 0;
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
  readonly preparer: CallPreparer;
  readonly nesting: Nesting;
}

/** Runs the handlers of tools: validates, asks, starts, writes the answer, maps errors. */
export class ToolCalls {
  readonly #deps: ToolCallsDeps;
  readonly #steps: readonly Step[] = [
    (run) => this.#check(run),
    ({ entry, args, call }, input) => this.#deps.preparer.prepare({ entry, input }, args, call),
    // A step returns what the next one takes.
    (run, prepared) => this.#start(run, prepared as Prepared),
    ({ ran, call }, value) => writeAnswer(ran, value, { call, report: this.#deps.report }),
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

  #start(run: ToolRun, prepared: Prepared): unknown {
    const { call } = run;
    // What was cancelled or too late while it was checked must not take effect.
    call.assertRunning();
    if ("kind" in prepared) {
      run.step = this.#steps.length;
      return prepared;
    }
    run.stage = "running";
    run.ran = prepared.entry;
    const ending = call.partOf === undefined ? undefined : endingBefore(call);
    return ending === undefined
      ? this.#run(prepared, call)
      : call.outcome(ending).then(() => this.#start(run, prepared));
  }

  #run({ entry, input }: Checked, call: CallContext): unknown {
    call.start();
    if (entry.isUncounted !== true) call.root.hasRun = true;
    call.allowNesting(this.#deps.nesting, entry);
    call.reached("backend");
    const work = entry.run(input, call);
    return isThenable(work) ? call.outcome(work) : work;
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
