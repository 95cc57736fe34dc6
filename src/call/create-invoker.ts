import type { Completer, EntryGuard, Filled, PromptEntry, ToolEntry } from "../catalog/entry.ts";
import { isAbsent } from "../catalog/is-absent.ts";
import type { Resolved } from "../catalog/resolve-uri.ts";
import { SurfaceError } from "../errors.ts";
import type { JsonObject } from "../schema/json.ts";
import { checkInput } from "../surface/check-value.ts";
import { internalError, type FaultReporter } from "../surface/fault.ts";
import { assertMayAct } from "./assert-may-act.ts";
import { authorise } from "./authorise.ts";
import type { CallContext } from "./call-context.ts";
import { checkAgain, isStillThere } from "./check-again.ts";
import { createCallTree, type CallTree } from "./call-tree.ts";
import { Deadlines } from "./deadlines.ts";
import { isThenable } from "./is-thenable.ts";
import { limitCall } from "./limit-call.ts";
import type { Denied, Refused, ToolOutcome } from "../catalog/outcome.ts";
import type { CompletionOutcome, PromptOutcome, ReadOutcome } from "./outcome.ts";
import { Nesting } from "./nesting.ts";
import { toRefused, type RefusedAt } from "./to-refused.ts";
import { writeAnswer } from "./write-answer.ts";

/** How long a read may take, in milliseconds. */
const readTimeoutMs = 10_000;

/** How long a prompt may take to be written, in milliseconds. */
const promptTimeoutMs = 60_000;

/** How long values may take to be proposed, in milliseconds: somebody is writing, and goes on. */
const completionTimeoutMs = 5000;

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

/** What is to be completed. */
export interface Completion extends EntryGuard {
  /** Named in the owner's log, for example `argument "city" of prompt "weather"`. */
  readonly where: string;
  /** Left out where nobody proposes anything. */
  readonly complete: Completer | undefined;
  readonly begun: string;
  readonly filled: Filled;
}

/** What an invoker is made of. */
export interface InvokerOptions {
  readonly report: FaultReporter;
  /** Told whenever a call that may have changed something has ended, before its caller is. */
  readonly onChange?: () => void;
  /** Where calls are recorded. Default: one of its own, that nobody looks at. */
  readonly tree?: CallTree | undefined;
  /** Finds what tools may call by its id: in all of the app, also what only tools may call. Default: nothing. */
  readonly find?: ((id: string) => ToolEntry | undefined) | undefined;
}

/** A completer that was asked. */
interface Asked {
  readonly where: string;
  readonly complete: Completer;
}

/** A piece of work that may take so long, and is answered for like this. */
interface Bounded<TOutcome> {
  readonly timeoutMs: number;
  readonly run: () => Promise<TOutcome>;
  readonly at: RefusedAt;
}

/** How far a call came: what was thrown means something else at each. */
type Stage = "decoding" | "checking" | "running";

/** What a caller who may not use an entry is told; `undefined` for who may. */
function deny(entry: EntryGuard, call: CallContext): Denied | undefined {
  const lack = authorise(call.caller, entry);
  if (lack === undefined) return undefined;
  call.finish();
  return { kind: "denied", scopes: lack.scopes };
}

/** What was thrown in a call, and when. */
interface Failure {
  readonly cause: unknown;
  readonly stage: Stage;
  readonly call: CallContext;
}

/** What nobody but another tool may call is not there for anybody else. */
const unknownToAll: Denied = Object.freeze({ kind: "denied", scopes: undefined });

/** A call that is asked for, and what its limiter says of it, maybe later. */
interface Limited {
  readonly call: CallContext;
  readonly limiting: Refused | Promise<Refused | undefined>;
}

class EntryInvoker implements Invoker {
  readonly #report: FaultReporter;
  readonly #onChange: (() => void) | undefined;
  readonly #deadlines = new Deadlines();
  readonly #tree: CallTree;
  readonly #nesting: Nesting;
  /** Completers that did not answer in time when they were asked last. */
  readonly #hanging = new WeakSet<Completer>();

  constructor(options: InvokerOptions) {
    this.#report = options.report;
    this.#onChange = options.onChange;
    this.#tree = options.tree ?? createCallTree(options);
    this.#nesting = new Nesting({
      find: options.find ?? (() => undefined),
      report: options.report,
      run: (entry, args, call) => this.#begin(entry, args, call),
    });
  }

  call(entry: ToolEntry, args: JsonObject, call: CallContext): Promise<ToolOutcome> {
    const denied = entry.isInternal === true ? unknownToAll : deny(entry, call);
    return denied === undefined ? this.#begin(entry, args, call) : Promise.resolve(denied);
  }

  /** Records a call that its caller may make, and counts it. */
  #begin(entry: ToolEntry, args: JsonObject, call: CallContext): Promise<ToolOutcome> {
    const { limiter, caller, partOf } = call;
    call.tracked = this.#tree.open({ entry, caller, args, above: partOf?.call.tracked });
    if (limiter === undefined) return this.#call(entry, args, call);
    const limiting = limitCall({ limiter, caller, tool: entry, report: this.#report });
    return limiting === undefined ? this.#call(entry, args, call) : this.#callIfLeft(entry, args, { call, limiting });
  }

  async #callIfLeft(entry: ToolEntry, args: JsonObject, { call, limiting }: Limited): Promise<ToolOutcome> {
    call.hasWaited = true;
    const refused = await limiting;
    if (refused === undefined) return this.#call(entry, args, call);
    call.finish(refused.code);
    return refused;
  }

  // One function and not a chain of small ones: every asynchronous hop costs each call, and what is synchronous (most
  // schemas, many handlers) is not awaited at all.
  async #call(entry: ToolEntry, args: JsonObject, call: CallContext): Promise<ToolOutcome> {
    const { owner } = entry;
    const forget = this.#deadlines.watch(call, entry.timeoutMs);
    let outcome: ToolOutcome;
    let stage: Stage = "decoding";
    try {
      call.assertRunning();
      call.tracked?.begin(call.deadline);
      call.reached("arguments");
      const decoded = entry.input.decode(args);
      stage = "checking";
      const checked = owner === "surface" ? decoded : checkInput(owner.input, decoded, entry.origin);
      const input: unknown = checked instanceof Promise ? await call.outcome(checked) : checked;
      const acting = assertMayAct(entry, call.caller, { args, input });
      if (acting !== undefined) await call.outcome(acting);
      const runs = isStillThere(entry) ? { entry, input } : await checkAgain(entry, args, call);
      // What was cancelled or too late while it was checked must not take effect.
      call.assertRunning();
      stage = "running";
      call.start();
      call.allowNesting(this.#nesting, runs.entry);
      call.reached("backend");
      const work = runs.entry.run(runs.input, call);
      const value = isThenable(work) ? await call.outcome(work) : work;
      const written = writeAnswer(runs.entry, value, { call, report: this.#report });
      outcome = written instanceof Promise ? await written : written;
      // What was recorded as aborted is not answered as done.
      call.assertRunning();
    } catch (cause) {
      outcome = this.#refuse({ cause, stage, call }, entry);
    }
    forget();
    return this.#end(entry, outcome, call);
  }

  #end({ hints }: ToolEntry, outcome: ToolOutcome, call: CallContext): ToolOutcome {
    if (!hints.readOnlyHint) this.#onChange?.();
    call.finish(outcome.kind === "refused" ? outcome.code : undefined);
    return outcome;
  }

  async read(resolved: Readable, call: CallContext): Promise<ReadOutcome> {
    const denied = deny(resolved, call);
    if (denied !== undefined) return denied;
    // The variables of a URI were decoded when it was resolved.
    call.reached("arguments");
    const forget = this.#deadlines.watch(call, readTimeoutMs);
    try {
      call.assertRunning();
      call.reached("backend");
      const content = await call.outcome(resolved.read(call));
      return content === undefined ? { kind: "absent" } : { kind: "content", content };
    } catch (cause) {
      if (isAbsent(cause)) return { kind: "absent" };
      const at = { where: `resource "${resolved.id}"`, report: this.#report, deadline: call.passedDeadline };
      return toRefused(cause, at);
    } finally {
      forget();
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
      return { kind: "messages", text: await entry.render(input, call) };
    };
    // A prompt says what is wrong with its arguments by itself, and masks what its handler was refused.
    const at = { where: entry.origin, report: this.#report, argumentsRoot: "" };
    return this.#bounded(call, { timeoutMs: promptTimeoutMs, run, at });
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
      // A copy, since reading its author's may throw, and does so here. What is no text is left out by who answers.
      return { kind: "values", values: [...values] as readonly string[] };
    };
    const outcome = await this.#bounded(call, {
      timeoutMs: completionTimeoutMs,
      run,
      at: { where, report: this.#report },
    });
    this.#noteHanging(outcome, { where, complete });
    return outcome;
  }

  close(): void {
    this.#nesting.close();
    this.#deadlines.close();
  }

  async #bounded<TOutcome>(call: CallContext, { timeoutMs, run, at }: Bounded<TOutcome>): Promise<TOutcome | Refused> {
    const forget = this.#deadlines.watch(call, timeoutMs);
    try {
      call.assertRunning();
      return await call.outcome(run());
    } catch (cause) {
      return toRefused(cause, { ...at, deadline: call.passedDeadline });
    } finally {
      forget();
      call.finish();
    }
  }

  /** Nobody else hears of proposals that come too late. Somebody who writes asks again and again: it is told once. */
  #noteHanging(outcome: CompletionOutcome, { where, complete }: Asked): void {
    if (outcome.kind !== "refused") return void this.#hanging.delete(complete);
    if (outcome.code !== "TIMEOUT" || this.#hanging.has(complete)) return;
    this.#hanging.add(complete);
    const cause = new SurfaceError("TIMEOUT", `Waiting for proposals: none came within ${completionTimeoutMs} ms`);
    internalError(cause, where, this.#report);
  }

  #refuse({ cause, stage, call }: Failure, entry: ToolEntry): Refused {
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
      ...(mayHaveActed ? { changes: entry.owner === "surface" ? "call" : "steps" } : {}),
    });
  }
}

/** Makes the invoker of an app. Its maker closes it. */
export function createInvoker(options: InvokerOptions): Invoker {
  return new EntryInvoker(options);
}
