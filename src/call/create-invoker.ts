import { toAskTimeouts, type AskTimeouts } from "../catalog/asking/asking.ts";
import type { Completer, EntryGuard, Filled, PromptEntry, ResourceContent, ToolEntry } from "../catalog/entry.ts";
import { isAbsent } from "../catalog/is-absent.ts";
import { inputRequired, type Refused, type ToolOutcome } from "../catalog/outcome.ts";
import type { Resolved } from "../catalog/resolve-uri.ts";
import type { ChangeCount } from "../catalog/resources/watched-resource.ts";
import { SurfaceError } from "../errors.ts";
import type { JsonObject } from "../schema/json.ts";
import { internalError, type FaultReporter } from "../surface/fault.ts";
import type { ConfirmRule } from "../tags/tool-options.ts";
import { ClientAsker } from "./asker.ts";
import { deny } from "./authorise.ts";
import type { CallContext } from "./call-context.ts";
import { CallTree } from "./call-tree.ts";
import { Deadlines } from "./deadlines.ts";
import { Nesting } from "./nesting.ts";
import type { CompletionOutcome, PromptOutcome, ReadOutcome } from "./outcome.ts";
import { suspendedOutcome, watchGoingOn } from "./questions.ts";
import { toRefused, type RefusedAt } from "./to-refused.ts";
import { confirmRuleOf, ToolCalls, unknownToAll } from "./tool-calls.ts";

/** Milliseconds that a read may take. */
const readTime = Object.freeze({ timeoutMs: 10_000 });

/** Milliseconds that the handler of a prompt may take. */
const promptTimeoutMs = 60_000;

/** Milliseconds that a completer has: the user goes on writing meanwhile. */
const completionTimeoutMs = 5000;

/** A request for proposals. */
export interface Completion extends EntryGuard {
  /** Named in the owner's log, for example `argument "city" of prompt "weather"`. */
  readonly where: string;
  readonly complete: Completer | undefined;
  readonly begun: string;
  readonly filled: Filled;
}

/** Work with a deadline. */
interface Bounded<TOutcome> {
  readonly timeoutMs: number;
  readonly run: () => Promise<TOutcome>;
  readonly at: RefusedAt;
}

/** A resource, as far as a read needs it. */
type Readable = Pick<Resolved, "id" | "scopes" | "requires" | "read">;

/**
 * The only way to run a handler: authorise, validate, bound, run, map the outcome. Nothing it returns leaks what was
 * thrown.
 */
export interface Invoker {
  /** Calls a tool with the arguments as they came off the wire. Returns a promise only if something waits. Neither throws nor rejects. */
  call(entry: ToolEntry, args: JsonObject, call: CallContext): ToolOutcome | Promise<ToolOutcome>;
  /** Reads a resource. Returns a promise only if the read waits. Neither throws nor rejects. */
  read(resolved: Readable, call: CallContext): ReadOutcome | Promise<ReadOutcome>;
  /** Runs the handler of a prompt with the arguments as they came off the wire. Never rejects. */
  prompt(entry: PromptEntry, args: JsonObject, call: CallContext): Promise<PromptOutcome>;
  /** Runs a completer. Never rejects. */
  complete(completion: Completion, call: CallContext): Promise<CompletionOutcome>;
  /** Clears all timers, and ends the calls that outlived the call above them. Other calls go on without a deadline: abort them first. */
  close(): void;
}

/** Options of {@link createInvoker}. */
export interface InvokerOptions {
  readonly report: FaultReporter;
  /** Incremented when a call that may have changed something has ended, before its caller gets the answer. */
  readonly changes?: ChangeCount;
  /** Records the calls. @default a tree that nothing reads */
  readonly tree?: CallTree | undefined;
  /** Finds the tool that a handler calls by id, among all tools of the app, internal ones included. @default finds nothing */
  readonly find?: ((id: string) => ToolEntry | undefined) | undefined;
  /** The rule for tools that may change something and do not set `confirm`. @default no confirmation */
  readonly confirm?: ConfirmRule | undefined;
  /** The times that clients have to answer. */
  readonly askTimeouts?: AskTimeouts | undefined;
}

function toReadOutcome(content: ResourceContent | undefined): ReadOutcome {
  return content === undefined ? { kind: "absent" } : { kind: "content", content };
}

class EntryInvoker implements Invoker {
  readonly #report: FaultReporter;
  readonly #deadlines = new Deadlines();
  readonly #nesting: Nesting;
  readonly #asker: ClientAsker;
  readonly #tools: ToolCalls;
  /** Completers that did not answer in time when they ran last. */
  readonly #hanging = new WeakSet<Completer>();

  constructor(options: InvokerOptions) {
    this.#report = options.report;
    const { report, confirm, changes, find = () => undefined, tree = new CallTree(options) } = options;
    const deadlines = this.#deadlines;
    const asker = new ClientAsker({ deadlines, timeouts: toAskTimeouts(options.askTimeouts), report });
    const nesting = new Nesting({
      find,
      report,
      run: (entry, args, call) => this.#tools.begin(entry, args, call),
      isConfirmed: (entry) => confirmRuleOf(entry, confirm) !== undefined,
    });
    this.#asker = asker;
    this.#nesting = nesting;
    this.#tools = new ToolCalls({ report, changes, tree, deadlines, asker, confirm, nesting });
  }

  call(entry: ToolEntry, args: JsonObject, call: CallContext): ToolOutcome | Promise<ToolOutcome> {
    const denied = entry.isInternal === true ? unknownToAll : deny(entry, call);
    return denied ?? this.#tools.begin(entry, args, call);
  }

  read(resolved: Readable, call: CallContext): ReadOutcome | Promise<ReadOutcome> {
    const denied = deny(resolved, call);
    if (denied !== undefined) return denied;
    const at = { where: `resource "${resolved.id}"`, report: this.#report };
    const end = (outcome: ReadOutcome): ReadOutcome => {
      if (call.isSuspended) watchGoingOn(call, at);
      call.unwatch?.();
      call.finish();
      return outcome;
    };
    const fail = (cause: unknown): ReadOutcome => {
      const suspended = suspendedOutcome(call);
      if (suspended !== undefined) return end(suspended);
      return end(isAbsent(cause) ? { kind: "absent" } : toRefused(cause, { ...at, deadline: call.passedDeadline }));
    };
    // The variables of a URI were decoded when it was resolved.
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

  async prompt(entry: PromptEntry, args: JsonObject, call: CallContext): Promise<PromptOutcome> {
    const denied = deny(entry, call);
    if (denied !== undefined) return denied;
    const run = async (): Promise<PromptOutcome> => {
      call.reached("arguments");
      const checked = entry.check(args);
      const input: unknown = checked instanceof Promise ? await checked : checked;
      // What was cancelled or too late while it was checked must not take effect.
      call.assertRunning();
      if (checked instanceof Promise && call.stillShown?.() === false) return unknownToAll;
      call.reached("backend");
      call.allowAsking(this.#asker);
      const text = await entry.render(input, call);
      return { kind: "messages", text };
    };
    // A prompt says what is wrong with its arguments by itself, and masks what its handler was refused.
    const at = { where: entry.origin, report: this.#report, argumentsRoot: "" };
    const outcome = await this.#runBounded(call, { timeoutMs: promptTimeoutMs, run, at });
    watchGoingOn(call, at);
    return suspendedOutcome(call) ?? outcome;
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
      // A copy, since reading the author's may throw. The handler of the request leaves out values that are no text.
      return { kind: "values", values: [...values] as readonly string[] };
    };
    const at = { where, report: this.#report };
    const outcome = await this.#runBounded(call, { timeoutMs: completionTimeoutMs, run, at });
    if (outcome.kind !== "refused") this.#hanging.delete(complete);
    else if (outcome.code === "TIMEOUT" && !this.#hanging.has(complete)) {
      // Once: a client asks again with each letter.
      this.#hanging.add(complete);
      const cause = new SurfaceError("TIMEOUT", `Waiting for proposals: none came within ${completionTimeoutMs} ms`);
      internalError(cause, where, this.#report);
    }
    return outcome;
  }

  /** Runs the work of a call until its deadline passes or it is cancelled. Never rejects. */
  async #runBounded<TOutcome>(
    call: CallContext,
    { timeoutMs, run, at }: Bounded<TOutcome>,
  ): Promise<TOutcome | Refused> {
    this.#deadlines.watch(call, { timeoutMs });
    try {
      call.assertRunning();
      return await call.outcome(run());
    } catch (cause) {
      return call.isSuspended ? inputRequired : toRefused(cause, { ...at, deadline: call.passedDeadline });
    } finally {
      call.unwatch?.();
      call.finish();
    }
  }

  close(): void {
    this.#nesting.close();
    this.#deadlines.close();
  }
}

/** Creates the invoker of an app. Close it when done. */
export function createInvoker(options: InvokerOptions): Invoker {
  return new EntryInvoker(options);
}
