import { isContent, kContent, type Content } from "../catalog/content.ts";
import type { Completer, EntryGuard, FaceOwned, Filled, PromptEntry, ToolEntry, ToolOutput } from "../catalog/entry.ts";
import { isAbsent } from "../catalog/is-absent.ts";
import type { Resolved } from "../catalog/resolve-uri.ts";
import { richContent, type RichContent } from "../catalog/rich-content.ts";
import { SurfaceError } from "../errors.ts";
import type { JsonObject } from "../schema/json.ts";
import { checkInput, checkOutput } from "../surface/check-value.ts";
import { internalError, type FaultReporter } from "../surface/fault.ts";
import { assertMayAct } from "./assert-may-act.ts";
import { authorise } from "./authorise.ts";
import type { CallContext } from "./call-context.ts";
import { Deadlines } from "./deadlines.ts";
import { isThenable } from "./is-thenable.ts";
import { limitCall } from "./limit-call.ts";
import type { Denied, Refused, ToolOutcome } from "../catalog/outcome.ts";
import type { CompletionOutcome, PromptOutcome, ReadOutcome } from "./outcome.ts";
import { toRefused, type RefusedAt } from "./to-refused.ts";

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
  /** Clears all timers. Calls under way go on without a deadline: abort them first. */
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

function isRich({ output }: ToolEntry, value: unknown): value is Content {
  return output.rich === "may" && isContent(value);
}

/** What a caller who may not use an entry is told; `undefined` for who may. */
function deny(entry: EntryGuard, call: CallContext): Denied | undefined {
  const lack = authorise(call.caller, entry);
  if (lack === undefined) return undefined;
  call.finish();
  return { kind: "denied", scopes: lack.scopes };
}

/** A call that is asked for, and what its limiter says of it, maybe later. */
interface Limited {
  readonly call: CallContext;
  readonly limiting: Refused | Promise<Refused | undefined>;
}

interface Made {
  readonly blocks: readonly object[];
  readonly structured: unknown;
}

/** What blocks and what is said to programs beside them come to. */
function toRich(output: ToolOutput, { blocks, structured }: Made): ToolOutcome {
  const isSaid = structured !== undefined || output.json !== undefined;
  return {
    kind: "rich",
    // A list of our own: one that says of itself how it is written may be written as anything.
    blocks: JSON.stringify([...blocks]),
    structured: isSaid ? output.stringify(structured) : undefined,
  };
}

class EntryInvoker implements Invoker {
  readonly #report: FaultReporter;
  readonly #onChange: (() => void) | undefined;
  readonly #deadlines = new Deadlines();
  /** Completers that did not answer in time when they were asked last. */
  readonly #hanging = new WeakSet<Completer>();

  constructor(options: InvokerOptions) {
    this.#report = options.report;
    this.#onChange = options.onChange;
  }

  call(entry: ToolEntry, args: JsonObject, call: CallContext): Promise<ToolOutcome> {
    const denied = deny(entry, call);
    if (denied !== undefined) return Promise.resolve(denied);
    const { limiter, caller } = call;
    if (limiter === undefined) return this.#call(entry, args, call);
    const limiting = limitCall({ limiter, caller, tool: entry, report: this.#report });
    return limiting === undefined ? this.#call(entry, args, call) : this.#callIfLeft(entry, args, { call, limiting });
  }

  async #callIfLeft(entry: ToolEntry, args: JsonObject, { call, limiting }: Limited): Promise<ToolOutcome> {
    const refused = await limiting;
    if (refused === undefined) return this.#call(entry, args, call);
    call.finish();
    return refused;
  }

  // One function and not a chain of small ones: every asynchronous hop costs each call, and what is synchronous (most
  // schemas, many handlers) is not awaited at all.
  async #call(entry: ToolEntry, args: JsonObject, call: CallContext): Promise<ToolOutcome> {
    const { owner } = entry;
    const forget = this.#deadlines.watch(call, entry.timeoutMs);
    let stage: Stage = "decoding";
    try {
      call.reached("arguments");
      const decoded = entry.input.decode(args);
      stage = "checking";
      const checked = owner === "surface" ? decoded : checkInput(owner.input, decoded, entry.origin);
      const input: unknown = checked instanceof Promise ? await call.outcome(checked) : checked;
      // What was cancelled or too late while it was checked must not take effect.
      call.assertRunning();
      if (entry.requires?.resource !== undefined) assertMayAct(entry, call.caller, { args, input });
      stage = "running";
      call.reached("backend");
      const work = entry.run(input, call);
      const value = isThenable(work) ? await call.outcome(work) : work;
      if (isRich(entry, value)) return await this.#answerRichly(entry, value, call);
      const fitting = owner === "surface" ? value : this.#checkOutput(entry, owner, value);
      const answer: unknown = fitting instanceof Promise ? await call.outcome(fitting) : fitting;
      return this.#write(entry, answer);
    } catch (cause) {
      return this.#refuse(cause, entry, stage);
    } finally {
      if (!entry.hints.readOnlyHint) this.#onChange?.();
      forget();
      call.finish();
    }
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
      return toRefused(cause, { where: `resource "${resolved.id}"`, report: this.#report });
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
    this.#deadlines.close();
  }

  async #bounded<TOutcome>(call: CallContext, { timeoutMs, run, at }: Bounded<TOutcome>): Promise<TOutcome | Refused> {
    const forget = this.#deadlines.watch(call, timeoutMs);
    try {
      call.assertRunning();
      return await call.outcome(run());
    } catch (cause) {
      return toRefused(cause, at);
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

  /** What is said to programs is checked as a plain answer is: one that says nothing to them has to be allowed to. */
  async #answerRichly(entry: ToolEntry, { [kContent]: made }: Content, call: CallContext): Promise<ToolOutcome> {
    const { owner, output } = entry;
    const fitting = owner === "surface" ? made.structured : this.#checkOutput(entry, owner, made.structured);
    const structured: unknown = fitting instanceof Promise ? await call.outcome(fitting) : fitting;
    return toRich(output, { blocks: made.blocks, structured });
  }

  #write({ output, origin }: ToolEntry, answer: unknown): ToolOutcome {
    if (output.rich !== "always") {
      const text = output.stringify(answer);
      return output.isError?.(answer) === true ? { kind: "answer", text, isError: true } : { kind: "answer", text };
    }
    const check = { where: origin, report: this.#report };
    // It may come from another process: what is in it is looked at again. That schema answers at once.
    const { blocks, structured } = checkOutput(richContent, answer, check) as RichContent;
    return toRich(output, { blocks, structured });
  }

  #checkOutput(entry: ToolEntry, owner: FaceOwned, value: unknown): unknown {
    return checkOutput(owner.output, value, { where: entry.origin, report: this.#report });
  }

  #refuse(cause: unknown, entry: ToolEntry, stage: Stage): Refused {
    // A live surface that refuses the input refuses what the caller said; from within a bespoke handler it refuses
    // what the handler said, which is the handler's fault and may name what the caller cannot see.
    const aboutArguments = stage !== "running" || entry.owner === "surface";
    const mayHaveActed = stage === "running" && !entry.hints.readOnlyHint;
    return toRefused(cause, {
      where: entry.origin,
      report: this.#report,
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
