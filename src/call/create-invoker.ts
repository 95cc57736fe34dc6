import { toAskTimeouts, type Asking, type AskTimeouts } from "../catalog/asking/asking.ts";
import type { Completer, EntryGuard, Filled, PromptEntry, ResourceContent, ToolEntry } from "../catalog/entry.ts";
import { isAbsent, inputRequired, type Denied, type ErrorResult, type ToolOutcome } from "../catalog/outcome.ts";
import type { Resolved } from "../catalog/resolve-uri.ts";
import type { ChangeCount } from "../catalog/resources/watched-resource.ts";
import { SurfaceError } from "../errors.ts";
import type { JsonObject } from "../schema/json.ts";
import { internalError, type FaultReporter } from "../surface/fault.ts";
import type { ConfirmRule } from "../tags/tool-options.ts";
import type { Approvals } from "./approvals.ts";
import { InputRequester } from "./asker.ts";
import { deny } from "./authorise.ts";
import type { CallContext } from "./call-context.ts";
import { CallTree } from "./call-tree.ts";
import { Deadlines } from "./deadlines.ts";
import { NestedInvoker } from "./nesting.ts";
import { suspendedOutcome, reportContinued } from "./questions.ts";
import { toErrorResult, type ThrownAt } from "./to-error-result.ts";
import { confirmRuleOf, ToolCalls, notFoundOutcome } from "./tool-calls.ts";

/** The deadline of a read. */
const readTime = Object.freeze({ timeoutMs: 10_000 });

const promptTimeoutMs = 60_000;

/** Short, since the user goes on typing. */
const completionTimeoutMs = 5000;

/** The outcome of a prompt. `text` is that of a JSON array of messages. */
export type PromptOutcome = { readonly kind: "messages"; readonly text: string } | Asking | Denied | ErrorResult;

/** The outcome of a completion. `values` are those of the author, of any number and length. */
export type CompletionOutcome = { readonly kind: "values"; readonly values: readonly string[] } | Denied | ErrorResult;

/** The outcome of a read. `absent`: the URI has no resource. */
export type ReadOutcome =
  | { readonly kind: "content"; readonly content: ResourceContent }
  | { readonly kind: "absent" }
  | Asking
  | Denied
  | ErrorResult;

/** A request for completions. */
export interface Completion extends EntryGuard {
  /** Named in the author's log, for example `argument "city" of prompt "weather"`. */
  readonly where: string;
  readonly complete: Completer | undefined;
  readonly begun: string;
  readonly filled: Filled;
}

/** Work with a deadline. */
interface Bounded<TOutcome> {
  readonly timeoutMs: number;
  readonly run: () => Promise<TOutcome>;
  readonly at: ThrownAt;
}

/** The parts of a resource that a read needs. */
type Readable = Pick<Resolved, "id" | "scopes" | "requires" | "read">;

/** Options of {@link createInvoker}. */
export interface InvokerOptions {
  readonly report: FaultReporter;
  /** Incremented after each call that may have changed something, before its caller gets the answer. */
  readonly changes?: ChangeCount;
  /** Records the calls. @default a tree that nothing reads */
  readonly tree?: CallTree | undefined;
  /** Finds the tool that a handler calls by id, internal tools included. @default finds nothing */
  readonly find?: ((id: string) => ToolEntry | undefined) | undefined;
  /** The rule for tools that may change something and do not set `confirm`. @default no confirmation */
  readonly confirm?: ConfirmRule | undefined;
  /** Takes the confirmations that no client can show. @default they are refused */
  readonly approvals?: Approvals | undefined;
  /** The times that clients have to answer. */
  readonly askTimeouts?: AskTimeouts | undefined;
}

function toReadOutcome(content: ResourceContent | undefined): ReadOutcome {
  return content === undefined ? { kind: "absent" } : { kind: "content", content };
}

/** Runs handlers. Nothing else does. Authorises, validates, bounds and runs a call, and masks what it throws. Close it when done. */
export class Invoker {
  readonly #report: FaultReporter;
  readonly #deadlines = new Deadlines();
  readonly #nesting: NestedInvoker;
  readonly #asker: InputRequester;
  readonly #tools: ToolCalls;
  /** Completers whose last run exceeded the deadline. */
  readonly #hanging = new WeakSet<Completer>();

  constructor(options: InvokerOptions) {
    this.#report = options.report;
    const { report, confirm, approvals, changes, find = () => undefined, tree = new CallTree(options) } = options;
    const deadlines = this.#deadlines;
    const asker = new InputRequester({ deadlines, timeouts: toAskTimeouts(options.askTimeouts), report });
    const nesting = new NestedInvoker({
      find,
      report,
      run: (entry, args, call) => this.#tools.begin(entry, args, call),
      isConfirmed: (entry) => confirmRuleOf(entry, confirm) !== undefined,
    });
    this.#asker = asker;
    this.#nesting = nesting;
    this.#tools = new ToolCalls({ report, changes, tree, deadlines, asker, confirm, approvals, nesting });
  }

  /** Calls a tool with arguments as received. Returns a promise only if a step waits. Neither throws nor rejects. */
  call(entry: ToolEntry, args: JsonObject, call: CallContext): ToolOutcome | Promise<ToolOutcome> {
    const denied = entry.isInternal === true ? notFoundOutcome : deny(entry, call);
    return denied ?? this.#tools.begin(entry, args, call);
  }

  /** Reads a resource. Returns a promise only if the read waits. Neither throws nor rejects. */
  read(resolved: Readable, call: CallContext): ReadOutcome | Promise<ReadOutcome> {
    const denied = deny(resolved, call);
    if (denied !== undefined) return denied;
    const at = { where: `resource "${resolved.id}"`, report: this.#report };
    const end = (outcome: ReadOutcome): ReadOutcome => {
      if (call.isSuspended) reportContinued(call, at);
      call.unwatch?.();
      call.finish();
      return outcome;
    };
    const fail = (cause: unknown): ReadOutcome => {
      const suspended = suspendedOutcome(call);
      if (suspended !== undefined) return end(suspended);
      return end(isAbsent(cause) ? { kind: "absent" } : toErrorResult(cause, { ...at, deadline: call.passedDeadline }));
    };
    // The variables of the URI are decoded already.
    call.reached("arguments");
    this.#deadlines.watch(call, readTime);
    call.allowAsking(this.#asker);
    try {
      call.assertRunning();
      call.reached("backend");
      const reading = resolved.read(call);
      if (!(reading instanceof Promise)) return end(toReadOutcome(reading));
      return call.outcome(reading).then((content) => end(toReadOutcome(content)), fail);
    } catch (cause) {
      return fail(cause);
    }
  }

  /** Runs the handler of a prompt with arguments as received. Never rejects. */
  async prompt(entry: PromptEntry, args: JsonObject, call: CallContext): Promise<PromptOutcome> {
    const denied = deny(entry, call);
    if (denied !== undefined) return denied;
    const run = async (): Promise<PromptOutcome> => {
      call.reached("arguments");
      const checked = entry.check(args);
      const input: unknown = checked instanceof Promise ? await checked : checked;
      // A call that ended during the checks must not take effect.
      call.assertRunning();
      if (checked instanceof Promise && call.stillShown?.() === false) return notFoundOutcome;
      call.reached("backend");
      call.allowAsking(this.#asker);
      const text = await entry.render(input, call);
      return { kind: "messages", text };
    };
    // entry.check() reports invalid arguments, and render() masks refusals that the handler got.
    const at = { where: entry.origin, report: this.#report, argumentsRoot: "" };
    const outcome = await this.#runBounded(call, { timeoutMs: promptTimeoutMs, run, at });
    reportContinued(call, at);
    return suspendedOutcome(call) ?? outcome;
  }

  /** Runs a completer. Never rejects. */
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
      // A copy, since getters of the author's list may throw. The handler of the request drops values that are not texts.
      return { kind: "values", values: [...values] as readonly string[] };
    };
    const at = { where, report: this.#report };
    const outcome = await this.#runBounded(call, { timeoutMs: completionTimeoutMs, run, at });
    if (outcome.kind !== "refused") this.#hanging.delete(complete);
    else if (outcome.code === "TIMEOUT" && !this.#hanging.has(complete)) {
      // Reported once, since a client requests completions with each letter.
      this.#hanging.add(complete);
      const cause = new SurfaceError("TIMEOUT", `Cannot complete: no values within ${completionTimeoutMs} ms`);
      internalError(cause, where, this.#report);
    }
    return outcome;
  }

  /** Runs a call until it ends, is cancelled or its deadline passes. Never rejects. */
  async #runBounded<TOutcome>(
    call: CallContext,
    { timeoutMs, run, at }: Bounded<TOutcome>,
  ): Promise<TOutcome | ErrorResult> {
    this.#deadlines.watch(call, { timeoutMs });
    try {
      call.assertRunning();
      return await call.outcome(run());
    } catch (cause) {
      return call.isSuspended ? inputRequired : toErrorResult(cause, { ...at, deadline: call.passedDeadline });
    } finally {
      call.unwatch?.();
      call.finish();
    }
  }

  /** Clears all timers, and ends calls that outlived their parents. Abort other calls first: they lose their deadlines. */
  close(): void {
    this.#nesting.close();
    this.#deadlines.close();
  }
}

/** Creates the invoker of an app. Close it when done. */
export function createInvoker(options: InvokerOptions): Invoker {
  return new Invoker(options);
}
