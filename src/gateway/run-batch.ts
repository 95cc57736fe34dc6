import {
  operationNotFound,
  createErrorResult,
  toResultText,
  type ErrorResult,
  type ToolOutcome,
} from "../catalog/outcome.ts";
import { keepMeta } from "../call/call-context.ts";
import type { EntryCall, ProgressReport } from "../catalog/entry.ts";
import { SurfaceError } from "../errors.ts";
import type { JsonObject } from "../schema/json.ts";
import { unrefTimer } from "../surface/system-clock.ts";
import { findOperation, toOperationNotFound, type GatewayDeps, type NamedOperation } from "./gateway-entry.ts";

/** The deadline of all calls of a batch together, in milliseconds. */
export const batchMs = 60_000;

const maxConcurrency = 8;

/** The member of a batch's `_meta` with the `_meta` of its calls, by index. */
const metasKey = "surface-mcp/results";

/** The maximum number of unknown names in a batch that are answered with similar names. Each needs a search. */
const maxNearSearches = 3;

/** Milliseconds that the timer waits beyond the deadline. An early timer would begin another call. */
const slackMs = 10;

/** One call of a batch. */
export interface BatchCall {
  readonly tool: string;
  readonly input: JsonObject;
}

/** A decoded request for a batch. */
export interface BatchRequest {
  /** The calls; in the place of a malformed call, its refusal. */
  readonly calls: readonly (BatchCall | ErrorResult)[];
  readonly isParallel: boolean;
}

/** The result of one call of a batch. */
export interface BatchResult {
  readonly isError: boolean;
  /** The JSON text of the result. */
  readonly text: string;
}

function toFailure({ code, message, issues, details }: ErrorResult): BatchResult {
  const more = issues.length === 0 ? details : issues;
  const error = { code, message, ...(more === undefined ? {} : { details: more }) };
  return { isError: true, text: JSON.stringify({ success: false, error }) };
}

/** Returns the result of a call within a batch: the same as of the call alone. */
function toBatchResult(outcome: ToolOutcome): BatchResult {
  const result = toResultText(outcome);
  return typeof result === "string"
    ? { isError: false, text: `{"success":true,"result":${result}}` }
    : toFailure(result);
}

/** Reports the progress of the calls of a batch as progress of the batch: `2 of 5: fetching`. */
class BatchProgress {
  readonly #call: EntryCall;
  /** The progress of each call: 0 to 1. */
  readonly #shares: number[];

  constructor(call: EntryCall, count: number) {
    this.#call = call;
    this.#shares = Array.from({ length: count }, () => 0);
  }

  /** Reports the progress of one call. */
  report(index: number, { progress, total, message }: ProgressReport): void {
    const before = this.#shares[index] ?? 0;
    const share = total !== undefined && total > 0 ? progress / total : 0;
    // Progress must grow. Without a total, each report adds a part of the rest, so that it never reaches the end.
    this.#send(index, share > before && share < 1 ? share : before + (1 - before) / 16, message);
  }

  /** Reports the end of one call. A malformed call has no tool. */
  finish(index: number, tool: string | undefined): void {
    this.#send(index, 1, tool);
  }

  #send(index: number, share: number, message: string | undefined): void {
    this.#shares[index] = share;
    const count = this.#shares.length;
    const place = `${index + 1} of ${count}`;
    this.#call.progress({
      progress: this.#shares.reduce((sum, one) => sum + one, 0),
      total: count,
      message: message === undefined ? place : `${place}: ${message}`,
    });
  }
}

/** Returns whether a refusal is that of an unknown operation. A handler may throw the same code with another message. */
function isNotFound({ code, message }: ErrorResult): boolean {
  return code === operationNotFound.code && message === operationNotFound.message;
}

const aborted = createErrorResult("ABORTED", "the batch was cancelled before this call started");

/** The outcome of one call, and the work of its handler if that continues. */
interface Ended {
  readonly outcome: ToolOutcome;
  readonly overrun?: Promise<unknown> | undefined;
}

/** A call whose user is asked for confirmation before its turn. */
interface Early {
  readonly ended: Promise<Ended>;
  readonly start: () => void;
}

/** The calls of one running batch. */
class Batch {
  readonly #deps: GatewayDeps;
  readonly #call: EntryCall;
  readonly #calls: BatchRequest["calls"];
  readonly #progress: BatchProgress;
  readonly #deadlineAt = performance.now() + batchMs;
  /** The same as Unix time in milliseconds. */
  readonly #deadline = Date.now() + batchMs;
  readonly #results: BatchResult[] = [];
  readonly #metas: Record<number, JsonObject> = {};
  readonly #early: (Early | undefined)[] = [];
  readonly #concurrency: number;
  /** The number of calls that may begin now. None begins before all confirmations are answered. */
  #turns = 0;
  #next = 0;
  #nearSearches = 0;
  #timer: NodeJS.Timeout | undefined;
  #left: number;
  #done = (): void => {};
  #fail = (_cause: unknown): void => {};

  constructor(deps: GatewayDeps, call: EntryCall, { calls, isParallel }: BatchRequest) {
    this.#deps = deps;
    this.#call = call;
    this.#calls = calls;
    this.#progress = new BatchProgress(call, calls.length);
    this.#concurrency = isParallel ? maxConcurrency : 1;
    this.#left = calls.length;
  }

  get #dueAt(): number {
    return this.#deadlineAt + (this.#call.heldMs ?? 0);
  }

  async run(): Promise<readonly BatchResult[]> {
    const { signal } = this.#call;
    const giveUp = (): void => this.#free(this.#calls.length);
    const checkDeadline = (): void => {
      const leftMs = this.#dueAt - performance.now();
      // Questions to the client put the deadline off.
      if (leftMs > 0) this.#timer = unrefTimer(setTimeout(checkDeadline, leftMs + slackMs));
      else giveUp();
    };
    checkDeadline();
    signal.addEventListener("abort", giveUp);
    try {
      await new Promise<void>((resolve, reject) => {
        this.#done = resolve;
        this.#fail = reject;
        this.#confirm().then(() => this.#free(this.#concurrency), reject);
      });
    } finally {
      clearTimeout(this.#timer);
      signal.removeEventListener("abort", giveUp);
    }
    return this.#results;
  }

  /** Asks the user to confirm calls, at most eight at once, before any call runs: after a change, no question is allowed. */
  async #confirm(): Promise<void> {
    // A single call is confirmed when it begins.
    if (this.#calls.length === 1) return;
    const indexes = this.#calls.keys();
    const confirmSome = async (): Promise<void> => {
      for (const index of indexes) await this.#confirmEarly(index);
    };
    await Promise.all(Array.from({ length: maxConcurrency }, confirmSome));
  }

  /** Begins a call that needs a confirmation. Resolves when the user has confirmed it, or when it has ended. */
  #confirmEarly(index: number): Promise<void> | undefined {
    const one = this.#calls[index];
    if (one === undefined || !("tool" in one)) return undefined;
    const entry = findOperation(this.#deps, { tool: one.tool, caller: this.#call.caller });
    if (entry === undefined || this.#call.isConfirmed?.(entry) !== true) return undefined;
    return new Promise((resolve) => {
      let start = (): void => {};
      const started = new Promise<void>((begin) => (start = begin));
      const ended = this.#one(one, index, () => (resolve(), started));
      this.#early[index] = { ended, start };
      // A failure fails the batch, in #take().
      ended.then(() => resolve(), resolve);
    });
  }

  /** Begins a number of further calls: all of them when the batch is over, to answer each call that has not begun. */
  #free(turns: number): void {
    this.#turns += turns;
    for (let one = this.#calls[this.#next]; one !== undefined && this.#turns > 0; one = this.#calls[this.#next]) {
      this.#turns -= 1;
      this.#take(one, this.#next++).catch(this.#fail);
    }
  }

  /** Runs a call, which keeps its turn until its handler ends, even if the call was aborted. */
  async #take(one: BatchCall | ErrorResult, index: number): Promise<void> {
    const early = this.#early[index];
    early?.start();
    const isCall = "tool" in one;
    const { outcome, overrun }: Ended = isCall ? await (early?.ended ?? this.#one(one, index)) : { outcome: one };
    this.#results[index] = toBatchResult(outcome);
    this.#progress.finish(index, isCall ? one.tool : undefined);
    this.#left -= 1;
    if (this.#left === 0) this.#done();
    const free = (): void => this.#free(1);
    if (overrun === undefined) free();
    else void overrun.then(free, free);
  }

  /** Adds the `_meta` of a call, by its index, since two calls may use one name. */
  #keepMeta(index: number, members: JsonObject): void {
    const before = this.#metas[index] ?? {};
    const kept = keepMeta(before, members);
    if (kept !== undefined) this.#metas[index] = kept;
    // addMeta() leaves out and reports members that are too large or not JSON.
    this.#call.addMeta({ [metasKey]: { ...this.#metas, [index]: kept ?? [before, members] } });
  }

  /** Returns the refusal of a call that begins after the end of the batch. */
  #late(): ErrorResult | undefined {
    if (this.#call.signal.aborted) return aborted;
    if (performance.now() < this.#dueAt) return undefined;
    const details = { deadline: this.#deadline + Math.ceil(this.#call.heldMs ?? 0) };
    return createErrorResult("TIMEOUT", "the deadline of the batch passed before this call started", { details });
  }

  /**
   * Runs one call. Looks up the operation only now, since an earlier call may have added it.
   *
   * @param started - called when the user has confirmed the call; resolves when its turn has come. @default at once
   */
  async #one({ tool, input }: BatchCall, index: number, started?: () => Promise<void>): Promise<Ended> {
    let late = this.#late();
    if (late !== undefined) return { outcome: late };
    const named = { tool, caller: this.#call.caller };
    const entry = findOperation(this.#deps, named);
    if (entry === undefined) return { outcome: await this.#notFound(named) };
    let overrun: Promise<unknown> | undefined;
    const turn = async (): Promise<number> => {
      await started?.();
      late = this.#late();
      if (late !== undefined) throw new SurfaceError("ABORTED", "Cannot call: the batch is over");
      return this.#dueAt;
    };
    const outcome = await this.#call.nest({
      target: { entry },
      args: input,
      as: "caller",
      stillShown: () => findOperation(this.#deps, named) === (entry.now?.() ?? entry),
      deadlineAt: this.#dueAt,
      turn: started && turn,
      onProgress: (report) => this.#progress.report(index, report),
      // The `_meta` of a single call is passed on as without a gateway.
      ...(this.#calls.length === 1 ? {} : { onMeta: (members: JsonObject) => this.#keepMeta(index, members) }),
      onOverrun: (work) => void (overrun = work),
    });
    if (late !== undefined) return { outcome: late };
    const isGone = outcome.kind === "denied" || (outcome.kind === "refused" && isNotFound(outcome));
    return { outcome: isGone ? await this.#notFound(named) : outcome, overrun };
  }

  /** Returns the refusal of a hidden or missing operation. */
  async #notFound(named: NamedOperation): Promise<ErrorResult> {
    this.#nearSearches += 1;
    return this.#nearSearches > maxNearSearches ? operationNotFound : toOperationNotFound(this.#deps, named);
  }
}

/**
 * Runs calls as nested calls of one caller, with one deadline: one after another, or at most eight at once. First asks the user to
 * confirm the calls that need it. A handler that still runs after its call was aborted keeps its turn until it ends, or until the
 * deadline. Results are in the order of the calls. Never rejects.
 */
export function runBatch(deps: GatewayDeps, request: BatchRequest, call: EntryCall): Promise<readonly BatchResult[]> {
  return new Batch(deps, call, request).run();
}
