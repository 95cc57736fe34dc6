import { toAskTimeouts } from "../catalog/ask-timeouts.ts";
import type { AskTimeouts } from "../catalog/asking.ts";
import type { PromptEntry, ResourceContent, ToolEntry } from "../catalog/entry.ts";
import { isAbsent } from "../catalog/is-absent.ts";
import type { ToolOutcome } from "../catalog/outcome.ts";
import type { Resolved } from "../catalog/resolve-uri.ts";
import type { ChangeCount } from "../catalog/watched-resource.ts";
import type { JsonObject } from "../schema/json.ts";
import type { FaultReporter } from "../surface/fault.ts";
import type { ConfirmRule } from "../tags/tool-options.ts";
import { ClientAsker } from "./asker.ts";
import { deny } from "./authorise.ts";
import { runBounded } from "./bounded.ts";
import type { CallContext } from "./call-context.ts";
import { CallTree } from "./call-tree.ts";
import { Completions, type Completion } from "./completions.ts";
import { Deadlines } from "./deadlines.ts";
import { Nesting } from "./nesting.ts";
import type { CompletionOutcome, PromptOutcome, ReadOutcome } from "./outcome.ts";
import { suspendedOutcome, watchGoingOn } from "./questions.ts";
import { toRefused } from "./to-refused.ts";
import { confirmRuleOf, ToolCalls, unknownToAll } from "./tool-calls.ts";

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
  /** Calls a tool with the arguments as they came off the wire. Returns a promise only if something waits. Neither throws nor rejects. */
  call(entry: ToolEntry, args: JsonObject, call: CallContext): ToolOutcome | Promise<ToolOutcome>;
  /** Reads what a URI resolved to. Returns a promise only if the read waits. Neither throws nor rejects. */
  read(resolved: Readable, call: CallContext): ReadOutcome | Promise<ReadOutcome>;
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
  /** Incremented when a call that may have changed something has ended, before its caller gets the answer. */
  readonly changes?: ChangeCount;
  /** Where calls are recorded. Default: one of its own, that nobody looks at. */
  readonly tree?: CallTree | undefined;
  /** Finds what tools may call by its id: in all of the app, also what only tools may call. Default: nothing. */
  readonly find?: ((id: string) => ToolEntry | undefined) | undefined;
  /** Whether users are asked before tools run that may change something and say nothing of it themselves. Default: they are not. */
  readonly confirm?: ConfirmRule | undefined;
  /** The times that clients have to answer, as the app sets them. */
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
  readonly #completions: Completions;

  constructor(options: InvokerOptions) {
    this.#report = options.report;
    this.#completions = new Completions(this.#deadlines, options.report);
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
}

/** Makes the invoker of an app. Its maker closes it. */
export function createInvoker(options: InvokerOptions): Invoker {
  return new EntryInvoker(options);
}
