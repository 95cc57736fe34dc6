import type { Asking } from "../catalog/asking/asking.ts";
import { isContent, kContent } from "../catalog/content/content.ts";
import type { ToolEntry, ToolOutput } from "../catalog/entry.ts";
import type { Denied, ErrorResult, ToolOutcome } from "../catalog/outcome.ts";
import type { ChangeCount } from "../catalog/resources/watched-resource.ts";
import { richContent, type RichContent } from "../catalog/content/rich-content.ts";
import type { JsonObject } from "../schema/json.ts";
import type { ObservedWork } from "../observe/observed-work.ts";
import { checkInput, checkOutput } from "../surface/check-value.ts";
import type { FaultReporter } from "../surface/fault.ts";
import { andThen, isThenable } from "../surface/is-thenable.ts";
import type { ConfirmRule } from "../tags/tool-options.ts";
import type { Approvals } from "./approvals.ts";
import type { InputRequester } from "./asker.ts";
import type { CallContext } from "./call-context.ts";
import type { NestedInvoker } from "./nesting.ts";
import type { CallTree } from "./call-tree.ts";
import { assertStillThere, settle, type Checked } from "./check-again.ts";
import { confirmCall, type AskedRule } from "./confirm-call.ts";
import type { Deadlines } from "./deadlines.ts";
import { chargeCall } from "./limit-call.ts";
import { endOfRound, suspendedOutcome, reportContinued } from "./questions.ts";
import { endNested, observeNested, unrecordedCall } from "./observed-call.ts";
import { toErrorResult } from "./to-error-result.ts";

/** The stage of a call, which decides what an error means. */
type Stage = "decoding" | "checking" | "running";

/** The answer to a call of an entry that is hidden from its caller: it is not found. */
export const notFoundOutcome: Denied = Object.freeze({ kind: "denied", scopes: undefined });

/** Returns the answer to a call whose entry was hidden before the handler started, for example during a confirmation. */
function revokedOutcome(stage: Stage, { stillShown }: CallContext): Denied | undefined {
  return stage !== "running" && stillShown?.() === false ? notFoundOutcome : undefined;
}

/**
 * Returns the confirmation rule of a tool; `undefined` for a tool without confirmation.
 *
 * @param others - the rule for tools that may change something and do not set `confirm`.
 */
export function confirmRuleOf(entry: ToolEntry, others: ConfirmRule | undefined): AskedRule | undefined {
  // A gateway's tool changes nothing itself: each call of its batch is confirmed.
  const { confirm = entry.hints.readOnlyHint || entry.isUncounted === true ? undefined : others } = entry;
  return confirm === "never" ? undefined : confirm;
}

/** Returns whether the client of a call can show its user a form. */
function showsForms({ root }: CallContext): boolean {
  return root.asking?.kinds.has("elicit") === true;
}

/** A call that may run, or its refusal. */
type Admitted = Checked | ErrorResult;

/** The content blocks of an answer, and its value for programs. */
interface Content {
  readonly blocks: readonly object[];
  readonly structured: unknown;
  readonly isError?: boolean | undefined;
}

function toRich(
  output: ToolOutput,
  { blocks, isError }: Omit<Content, "structured">,
  structured: unknown,
): ToolOutcome {
  const hasValue = structured !== undefined || (output.json !== undefined && isError !== true);
  return {
    kind: "rich",
    // A copy without the list's own `toJSON`, which could write anything.
    blocks: JSON.stringify([...blocks]),
    structured: hasValue ? output.stringify(structured) : undefined,
    ...(isError === true ? { isError } : {}),
  };
}

/** One call of a tool. A class, since V8 may allocate literals as old objects, which delay the collection of the whole call. */
class ToolRun {
  readonly entry: ToolEntry;
  readonly args: JsonObject;
  readonly call: CallContext;
  stage: Stage = "decoding";
  /** The number of steps that have begun. */
  step = 0;
  /** Whether a step waited, so that the entry may be hidden by now. */
  hasWaited = false;
  /** The entry whose handler runs: `entry` or its successor. */
  ran: ToolEntry;

  constructor(entry: ToolEntry, args: JsonObject, call: CallContext) {
    this.entry = entry;
    this.ran = entry;
    this.args = args;
    this.call = call;
  }
}

/** A step of a call. Gets the result of the step before. */
type Step = (run: ToolRun, value: unknown) => unknown;

/** Dependencies of {@link ToolCalls}. */
export interface ToolCallsDeps {
  readonly report: FaultReporter;
  readonly changes: ChangeCount | undefined;
  readonly tree: CallTree;
  readonly deadlines: Deadlines;
  readonly asker: InputRequester;
  /** The rule for tools that may change something and do not set `confirm`. */
  readonly confirm: ConfirmRule | undefined;
  /** Takes the confirmations that no client can show. */
  readonly approvals: Approvals | undefined;
  readonly nesting: NestedInvoker;
}

/** Runs the calls of tools: validates, checks rights, rate and confirmation, starts the handler, writes the answer, maps errors. */
export class ToolCalls {
  readonly #deps: ToolCallsDeps;
  readonly #steps: readonly Step[] = [
    (run) => this.#check(run),
    (run, input) => this.#prepare(run, input),
    // The result of #prepare().
    (run, admitted) => this.#start(run, admitted as Admitted),
    (run, answer) => this.#write(run, answer),
  ];

  constructor(deps: ToolCallsDeps) {
    this.#deps = deps;
  }

  /** Runs an authorised call. Returns a promise only if a step waits. Neither throws nor rejects. */
  begin(entry: ToolEntry, args: JsonObject, call: CallContext): ToolOutcome | Promise<ToolOutcome> {
    const { caller, partOf } = call;
    call.tracked = this.#deps.tree.open({ entry, caller, args, call, parent: partOf?.call.tracked });
    this.#deps.deadlines.watch(call, entry);
    const run = new ToolRun(entry, args, call);
    if (partOf?.call.observed === undefined) return this.#advance(run);
    const observed = observeNested(entry, args, call);
    call.observed = observed;
    return observed?.isGuarded !== true ? this.#advance(run) : this.#advanceObserved(run, observed);
  }

  /** Runs a nested call that the observers admit, within their contexts. */
  #advanceObserved(run: ToolRun, observed: ObservedWork): ToolOutcome | Promise<ToolOutcome> {
    return andThen(observed.admit(), (isAdmitted) =>
      isAdmitted ? observed.run(() => this.#advance(run)) : this.#end(run, unrecordedCall),
    );
  }

  /** Runs the remaining steps of a call. Waits only for a step that returns a promise. */
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
      // An aborted call must not answer with success.
      run.call.assertRunning();
      // The last step returns the outcome.
      return this.#end(run, value as ToolOutcome);
    } catch (cause) {
      return this.#fail(run, cause);
    }
  }

  /** Begins a call. Throws the error that ended it meanwhile, if any. */
  #enter({ entry, call }: ToolRun): void {
    call.assertRunning();
    call.tracked?.begin(call.deadline);
    call.reached("arguments");
    // Only entries of mounts can be replaced.
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

  /** Checks rights to resources, rate limit and confirmation of a call with valid arguments. */
  #prepare({ entry, args, call }: ToolRun, input: unknown): Admitted | Promise<Admitted> {
    const checked = { entry, input };
    // Most tools cannot be replaced, and require no right to a resource.
    if (entry.now === undefined && entry.requires === undefined) return this.#admit(checked, args, call);
    return andThen(settle(checked, args, call), (runs) => this.#admit(runs, args, call));
  }

  #admit(runs: Checked, args: JsonObject, call: CallContext): Admitted | Promise<Admitted> {
    const { entry } = runs;
    const { asker, confirm, approvals, report } = this.#deps;
    call.assertRunning();
    call.entry = entry;
    call.allowAsking(asker);
    const rule = confirmRuleOf(entry, confirm);
    const isUnasked = rule === "refuse" && !showsForms(call);
    const approver = isUnasked ? approvals?.portFor(call) : undefined;
    // A call that no one can confirm does not run, so it is not counted.
    const willRefuse = isUnasked && approver === undefined;
    const limiting = call.limiter === undefined || willRefuse ? undefined : chargeCall(entry, call, report);
    if (rule === undefined && !(limiting instanceof Promise)) return limiting ?? runs;
    const admit = async (): Promise<Admitted> => {
      const limited = limiting instanceof Promise ? await call.outcome(limiting) : limiting;
      if (limited !== undefined || rule === undefined) return limited ?? runs;
      await call.outcome(confirmCall({ ...runs, rule, approver }, args, call));
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
    // A call that ended during the checks must not take effect.
    call.assertRunning();
    if ("kind" in admitted) {
      run.step = this.#steps.length;
      return admitted;
    }
    if (run.hasWaited) assertStillThere(admitted.entry, call);
    const ending = call.partOf === undefined ? undefined : endOfRound(call);
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
   * Writes the answer of a handler. Validates it unless a live surface has done so. Returns a promise only if the schema is asynchronous.
   *
   * @throws SurfaceError `INVALID_OUTPUT`, `UNSERIALISABLE` or `INTERNAL`.
   */
  #write({ ran: entry, call }: ToolRun, answer: unknown): ToolOutcome | Promise<ToolOutcome> {
    const { owner, output, origin } = entry;
    const content = output.rich === "may" && isContent(answer) ? answer[kContent] : undefined;
    // The value beside blocks is validated like a plain answer, even if it is left out.
    const given: unknown = content === undefined ? answer : content.structured;
    // A failure without a value needs none that fits.
    if (owner === "surface" || (content?.isError === true && given === undefined)) {
      return this.#toOutcome(entry, content, given);
    }
    const value = checkOutput(owner.output, given, { where: origin, report: this.#deps.report });
    if (!(value instanceof Promise)) return this.#toOutcome(entry, content, value);
    return call.outcome(value).then((late) => this.#toOutcome(entry, content, late));
  }

  /** @param content - the content blocks of the answer; `undefined` for an answer without blocks. */
  #toOutcome({ output, origin }: ToolEntry, content: Content | undefined, value: unknown): ToolOutcome {
    if (content !== undefined) return toRich(output, content, value);
    if (output.rich === "always") {
      const at = { where: origin, report: this.#deps.report };
      // Validated again, since it may come from another process. The schema is synchronous.
      const rich = checkOutput(richContent, value, at) as RichContent & Content;
      return toRich(output, rich, rich.structured);
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
    // A gateway's tool waits for its calls, and answers for them.
    if (isUncounted !== true && call.isSuspended) reportContinued(call, { where: origin, report: this.#deps.report });
    call.finish(outcome.kind === "refused" ? outcome.code : undefined);
    if (call.partOf !== undefined && call.observed !== undefined) endNested(call.observed, outcome, call);
    return outcome;
  }

  #refuse({ entry, call, stage }: ToolRun, cause: unknown): Asking | ErrorResult | Denied {
    const instead = suspendedOutcome(call) ?? revokedOutcome(stage, call);
    if (instead !== undefined) return instead;
    // A live surface refuses the caller's arguments. Within a bespoke handler it refuses those of the handler, and its issues may name
    // members that the caller cannot see.
    const aboutArguments = stage !== "running" || entry.owner === "surface";
    const mayHaveActed = stage === "running" && !entry.hints.readOnlyHint;
    return toErrorResult(call.endedWith ?? cause, {
      where: entry.origin,
      report: this.#deps.report,
      deadline: call.passedDeadline,
      // Decoding reports paths of the wire form; a schema does not know its wrapper.
      ...(aboutArguments ? { argumentsRoot: stage === "decoding" ? "" : entry.input.root } : {}),
      isUnsent: call.isUnsent,
      ...(mayHaveActed ? { changes: entry.owner === "surface" ? "call" : "steps" } : {}),
    });
  }
}
