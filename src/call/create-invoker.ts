import { CallPreparer } from "./call-preparer.ts";
import { toAskTimeouts } from "../catalog/ask-timeouts.ts";
import type { Asking, AskTimeouts } from "../catalog/asking.ts";
import type { PromptEntry, ToolEntry } from "../catalog/entry.ts";
import { isAbsent } from "../catalog/is-absent.ts";
import type { Resolved } from "../catalog/resolve-uri.ts";
import type { JsonObject } from "../schema/json.ts";
import { checkInput } from "../surface/check-value.ts";
import type { FaultReporter } from "../surface/fault.ts";
import type { ConfirmRule } from "../tags/tool-options.ts";
import type { CallContext } from "./call-context.ts";
import { ClientAsker } from "./asker.ts";
import { runBounded } from "./bounded.ts";
import type { Checked } from "./check-again.ts";
import { Completions, type Completion } from "./completions.ts";
import { createCallTree, type CallTree } from "./call-tree.ts";
import { confirmRuleOf } from "./confirm-call.ts";
import { Deadlines } from "./deadlines.ts";
import { deny } from "./authorise.ts";
import { isThenable } from "../surface/is-thenable.ts";
import type { Denied, Refused, ToolOutcome } from "../catalog/outcome.ts";
import type { CompletionOutcome, PromptOutcome, ReadOutcome } from "./outcome.ts";
import { Nesting } from "./nesting.ts";
import { endingBefore, isSuspended, suspendedOutcome, watchGoingOn } from "./questions.ts";
import { toRefused } from "./to-refused.ts";
import { writeAnswer } from "./write-answer.ts";

/** How long a read may take, in milliseconds. */
const readTime = Object.freeze({ timeoutMs: 10_000 });

/** How long a prompt may take to be written, in milliseconds. */
const promptTimeoutMs = 60_000;

/** What is read of what a URI resolved to. */
type Readable = Pick<Resolved, "id" | "scopes" | "requires" | "read">;

/**
 * The only way to run a handler: authorise, validate, bound, run, map the outcome. Nothing it returns leaks what was
 * thrown.
 */
export interface Invoker {
  /** Calls a tool with the arguments as they came off the wire. Never rejects. */
  call(entry: ToolEntry, args: JsonObject, call: CallContext): Promise<ToolOutcome>;
  /** Reads what a URI resolved to. Never rejects. */
  read(resolved: Readable, call: CallContext): Promise<ReadOutcome>;
  /** Has a prompt written, with the arguments as they came off the wire. Never rejects. */
  prompt(entry: PromptEntry, args: JsonObject, call: CallContext): Promise<PromptOutcome>;
  /** Has values proposed for what somebody has begun to write. Never rejects. */
  complete(completion: Completion, call: CallContext): Promise<CompletionOutcome>;
  /** Clears all timers, and ends what goes on for no call any more. Calls under way go on without a deadline: abort them first. */
  close(): void;
}

/** Options of {@link createInvoker}. */
export interface InvokerOptions {
  readonly report: FaultReporter;
  /** Told whenever a call that may have changed something has ended, before its caller is. */
  readonly onChange?: () => void;
  /** Where calls are recorded. Default: one of its own, that nobody looks at. */
  readonly tree?: CallTree | undefined;
  /** Finds what tools may call by its id: in all of the app, also what only tools may call. Default: nothing. */
  readonly find?: ((id: string) => ToolEntry | undefined) | undefined;
  /** Whether users are asked before tools run that may change something and say nothing of it themselves. Default: they are not. */
  readonly confirm?: ConfirmRule | undefined;
  /** The times that clients have to answer, as the app sets them. */
  readonly askTimeouts?: AskTimeouts | undefined;
}

/** The answer to a call of an entry that is hidden from its caller: not found. */
const unknownToAll: Denied = Object.freeze({ kind: "denied", scopes: undefined });

/** Returns the answer to a call that was hidden from its caller before its handler started, for example during a confirmation. */
function goneOutcome(stage: Stage, { stillShown }: CallContext): Denied | undefined {
  return stage !== "running" && stillShown?.() === false ? unknownToAll : undefined;
}

/** How far a call came: what was thrown means something else at each. */
type Stage = "decoding" | "checking" | "running";

/** What was thrown in a call, and when. */
interface Failure {
  readonly cause: unknown;
  readonly stage: Stage;
  readonly call: CallContext;
}

class EntryInvoker implements Invoker {
  readonly #report: FaultReporter;
  readonly #onChange: (() => void) | undefined;
  readonly #deadlines = new Deadlines();
  readonly #tree: CallTree;
  readonly #nesting: Nesting;
  readonly #asker: ClientAsker;
  readonly #preparer: CallPreparer;
  readonly #completions: Completions;

  constructor(options: InvokerOptions) {
    this.#report = options.report;
    this.#onChange = options.onChange;
    this.#tree = options.tree ?? createCallTree(options);
    this.#completions = new Completions(this.#deadlines, options.report);
    const timeouts = toAskTimeouts(options.askTimeouts);
    this.#asker = new ClientAsker({ deadlines: this.#deadlines, timeouts, report: options.report });
    this.#preparer = new CallPreparer({
      asker: this.#asker,
      confirm: options.confirm,
      report: options.report,
      deadlines: this.#deadlines,
    });
    this.#nesting = new Nesting({
      find: options.find ?? (() => undefined),
      report: options.report,
      run: (entry, args, call) => this.#begin(entry, args, call),
      isConfirmed: (entry) => confirmRuleOf(entry, options.confirm) !== undefined,
    });
  }

  call(entry: ToolEntry, args: JsonObject, call: CallContext): Promise<ToolOutcome> {
    const denied = entry.isInternal === true ? unknownToAll : deny(entry, call);
    return denied === undefined ? this.#begin(entry, args, call) : Promise.resolve(denied);
  }

  /** Records a call that its caller may make. */
  #begin(entry: ToolEntry, args: JsonObject, call: CallContext): Promise<ToolOutcome> {
    const { caller, partOf } = call;
    call.tracked = this.#tree.open({ entry, caller, args, above: partOf?.call.tracked });
    return this.#call(entry, args, call);
  }

  // One function and not a chain of small ones: every asynchronous hop costs each call, and what is synchronous (most
  // schemas, many handlers) is not awaited at all.
  async #call(entry: ToolEntry, args: JsonObject, call: CallContext): Promise<ToolOutcome> {
    const { owner } = entry;
    this.#deadlines.watch(call, entry);
    let outcome: ToolOutcome;
    let stage: Stage = "decoding";
    try {
      this.#enter(entry, call);
      const decoded = entry.input.decode(args);
      stage = "checking";
      const checked = owner === "surface" ? decoded : checkInput(owner.input, decoded, entry.origin);
      const input: unknown = checked instanceof Promise ? await call.outcome(checked) : checked;
      const preparing = this.#preparer.prepare({ entry, input }, args, call);
      const runs = preparing instanceof Promise ? await preparing : preparing;
      // What was cancelled or too late while it was checked must not take effect.
      call.assertRunning();
      if ("kind" in runs) outcome = runs;
      else {
        stage = "running";
        const work = this.#start(runs, call);
        const value = isThenable(work) ? await call.outcome(work) : work;
        const written = writeAnswer(runs.entry, value, { call, report: this.#report });
        outcome = written instanceof Promise ? await written : written;
      }
      // What was recorded as aborted is not answered as done.
      call.assertRunning();
    } catch (cause) {
      outcome = this.#refuse({ cause, stage, call }, entry);
    }
    call.unwatch?.();
    return this.#end(entry, outcome, call);
  }

  /** Begins a call whose turn has come. Throws what it was ended with before. */
  #enter(entry: ToolEntry, call: CallContext): void {
    call.assertRunning();
    call.tracked?.begin(call.deadline);
    call.reached("arguments");
    // Only the entry of a mounted operation can be replaced.
    if (entry.now !== undefined) this.#asker.assertSameEntry(entry, call);
  }

  #start(runs: Checked, call: CallContext): unknown {
    const ending = endingBefore(call);
    if (ending !== undefined) {
      return ending.then((): unknown => {
        call.assertRunning();
        return this.#start(runs, call);
      });
    }
    const { entry, input } = runs;
    call.start();
    if (entry.isUncounted !== true) call.root.hasRun = true;
    call.allowNesting(this.#nesting, entry);
    call.reached("backend");
    return entry.run(input, call);
  }

  #end({ hints, origin, isUncounted }: ToolEntry, outcome: ToolOutcome, call: CallContext): ToolOutcome {
    if (!hints.readOnlyHint) this.#onChange?.();
    // What stands for others waits for them, and says what became of them.
    if (isUncounted !== true && isSuspended(call)) watchGoingOn(call, { where: origin, report: this.#report });
    call.finish(outcome.kind === "refused" ? outcome.code : undefined);
    return outcome;
  }

  async read(resolved: Readable, call: CallContext): Promise<ReadOutcome> {
    const denied = deny(resolved, call);
    if (denied !== undefined) return denied;
    const where = `resource "${resolved.id}"`;
    // The variables of a URI were decoded when it was resolved.
    call.reached("arguments");
    this.#deadlines.watch(call, readTime);
    call.allowAsking(this.#asker);
    try {
      call.assertRunning();
      call.reached("backend");
      const content = await call.outcome(resolved.read(call));
      return content === undefined ? { kind: "absent" } : { kind: "content", content };
    } catch (cause) {
      const suspended = suspendedOutcome(call);
      if (suspended !== undefined) return suspended;
      if (isAbsent(cause)) return { kind: "absent" };
      return toRefused(cause, { where, report: this.#report, deadline: call.passedDeadline });
    } finally {
      watchGoingOn(call, { where, report: this.#report });
      call.unwatch?.();
      call.finish();
    }
  }

  async prompt(entry: PromptEntry, args: JsonObject, call: CallContext): Promise<PromptOutcome> {
    const denied = deny(entry, call);
    if (denied !== undefined) return denied;
    const run = async (): Promise<PromptOutcome> => {
      call.reached("arguments");
      const checked = entry.check(args);
      const input: unknown = checked instanceof Promise ? await checked : checked;
      // What was cancelled or too late while it was checked must not take effect.
      call.assertRunning();
      call.reached("backend");
      call.allowAsking(this.#asker);
      const text = await entry.render(input, call);
      return { kind: "messages", text };
    };
    // A prompt says what is wrong with its arguments by itself, and masks what its handler was refused.
    const at = { where: entry.origin, report: this.#report, argumentsRoot: "" };
    const outcome = await runBounded(this.#deadlines, call, { timeoutMs: promptTimeoutMs, run, at });
    watchGoingOn(call, at);
    return suspendedOutcome(call) ?? outcome;
  }

  complete(completion: Completion, call: CallContext): Promise<CompletionOutcome> {
    return this.#completions.complete(completion, call);
  }

  close(): void {
    this.#nesting.close();
    this.#deadlines.close();
  }

  #refuse({ cause, stage, call }: Failure, entry: ToolEntry): Asking | Refused | Denied {
    const instead = suspendedOutcome(call) ?? goneOutcome(stage, call);
    if (instead !== undefined) return instead;
    // A live surface that refuses the input refuses what the caller said; from within a bespoke handler it refuses
    // what the handler said, which is the handler's fault and may name what the caller cannot see.
    const aboutArguments = stage !== "running" || entry.owner === "surface";
    const mayHaveActed = stage === "running" && !entry.hints.readOnlyHint;
    return toRefused(call.endedWith ?? cause, {
      where: entry.origin,
      report: this.#report,
      deadline: call.passedDeadline,
      // Decoding names what it refuses by its path on the wire; a schema knows nothing of the wrapping.
      ...(aboutArguments ? { argumentsRoot: stage === "decoding" ? "" : entry.input.root } : {}),
      isUnsent: call.isUnsent,
      ...(mayHaveActed ? { changes: entry.owner === "surface" ? "call" : "steps" } : {}),
    });
  }
}

/** Makes the invoker of an app. Its maker closes it. */
export function createInvoker(options: InvokerOptions): Invoker {
  return new EntryInvoker(options);
}
