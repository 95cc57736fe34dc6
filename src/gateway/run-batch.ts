import { operationNotFound, createRefused, toResultText, type Refused, type ToolOutcome } from "../catalog/outcome.ts";
import { keepMeta } from "../call/keep-meta.ts";
import type { EntryCall, ProgressReport } from "../catalog/entry.ts";
import { SurfaceError } from "../errors.ts";
import type { JsonObject } from "../schema/json.ts";
import { unrefTimer } from "../surface/system-clock.ts";
import { findOperation, toNotFound, type NamedOperation } from "./find-operation.ts";
import type { GatewayDeps } from "./gateway-entry.ts";

/** The deadline of all calls of a batch together, in milliseconds. */
export const batchMs = 60_000;

const mostAtOnce = 8;

/** The member of a batch's `_meta` with the `_meta` of the results of its calls, by their index. */
const metasKey = "surface-mcp/results";

/** The most unknown names of a batch that are answered with near ones: each of them is a search. */
const mostNearSearches = 3;

/** Milliseconds to wait beyond the deadline. Before it, a call whose turn has come would still begin. */
const slackMs = 10;

/** One call of a batch. */
export interface BatchCall {
  readonly tool: string;
  readonly input: JsonObject;
}

/** A decoded request for a batch. */
export interface BatchRequest {
  /** A malformed call is its refusal. */
  readonly calls: readonly (BatchCall | Refused)[];
  /** Whether the calls may run at once. */
  readonly isParallel: boolean;
}

/** The result of one call of a batch. */
export interface BatchResult {
  readonly isError: boolean;
  /** The JSON text of the result. */
  readonly text: string;
}

function toFailure({ code, message, issues, details }: Refused): BatchResult {
  const more = issues.length === 0 ? details : issues;
  const error = { code, message, ...(more === undefined ? {} : { details: more }) };
  return { isError: true, text: JSON.stringify({ success: false, error }) };
}

function toSuccess(result: string): BatchResult {
  return { isError: false, text: `{"success":true,"result":${result}}` };
}

/** Returns the result of a call within a batch: the same as of the call alone. A denied call fails like one of an unknown operation. */
function toBatchResult(outcome: ToolOutcome): BatchResult {
  const result = toResultText(outcome);
  return typeof result === "string" ? toSuccess(result) : toFailure(result);
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
    const said = total !== undefined && total > 0 ? progress / total : 0;
    // Progress must grow. A call without a total comes closer to the end with each report, and never reaches it.
    this.#tell(index, said > before && said < 1 ? said : before + (1 - before) / 16, message);
  }

  /** Reports the end of one call. A malformed call has no tool. */
  finish(index: number, tool: string | undefined): void {
    this.#tell(index, 1, tool);
  }

  #tell(index: number, share: number, message: string | undefined): void {
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

/** Returns whether a refusal says that the operation does not exist, and not its handler that something else does not. */
function isNotFound({ code, message }: Refused): boolean {
  return code === operationNotFound.code && message === operationNotFound.message;
}

const aborted = createRefused("ABORTED", "the batch was cancelled before this was begun");

/** The outcome of one call, and its handler's work if that goes on after it. */
interface Ended {
  readonly outcome: ToolOutcome;
  readonly overrun?: Promise<unknown> | undefined;
}

/** A call whose confirmation is asked before its turn. */
interface Early {
  readonly ended: Promise<Ended>;
  readonly start: () => void;
}

/** The calls of one batch, under way. */
class Batch {
  readonly #parts: GatewayDeps;
  readonly #call: EntryCall;
  readonly #calls: BatchRequest["calls"];
  readonly #progress: BatchProgress;
  readonly #deadlineAt = performance.now() + batchMs;
  /** The same as Unix time, for callers. */
  readonly #deadline = Date.now() + batchMs;
  readonly #results: BatchResult[] = [];
  readonly #metas: Record<number, JsonObject> = {};
  readonly #early: (Early | undefined)[] = [];
  readonly #atOnce: number;
  /** How many calls may begin now. None begins before all confirmations are answered. */
  #turns = 0;
  #next = 0;
  #nearSearches = 0;
  #timer: NodeJS.Timeout | undefined;
  #left: number;
  #done = (): void => {};
  #fail = (_cause: unknown): void => {};

  constructor(parts: GatewayDeps, call: EntryCall, { calls, isParallel }: BatchRequest) {
    this.#parts = parts;
    this.#call = call;
    this.#calls = calls;
    this.#progress = new BatchProgress(call, calls.length);
    this.#atOnce = isParallel ? mostAtOnce : 1;
    this.#left = calls.length;
  }

  get #dueAt(): number {
    return this.#deadlineAt + (this.#call.heldMs ?? 0);
  }

  async run(): Promise<readonly BatchResult[]> {
    const { signal } = this.#call;
    const giveUp = (): void => this.#free(this.#calls.length);
    const look = (): void => {
      const leftMs = this.#dueAt - performance.now();
      // The time in which the client was asked does not count.
      if (leftMs > 0) this.#timer = unrefTimer(setTimeout(look, leftMs + slackMs));
      else giveUp();
    };
    look();
    signal.addEventListener("abort", giveUp);
    try {
      await new Promise<void>((resolve, reject) => {
        this.#done = resolve;
        this.#fail = reject;
        this.#confirm().then(() => this.#free(this.#atOnce), reject);
      });
    } finally {
      clearTimeout(this.#timer);
      signal.removeEventListener("abort", giveUp);
    }
    return this.#results;
  }

  /** Asks the user about all calls that are confirmed, at most eight at once. After a change none could be confirmed. */
  async #confirm(): Promise<void> {
    // A call alone is confirmed when it begins.
    if (this.#calls.length === 1) return;
    const indexes = this.#calls.keys();
    const confirmSome = async (): Promise<void> => {
      for (const index of indexes) await this.#confirmEarly(index);
    };
    await Promise.all(Array.from({ length: mostAtOnce }, confirmSome));
  }

  /** Begins a call that is confirmed. Resolves when the user has confirmed it, or when it has ended without. */
  #confirmEarly(index: number): Promise<void> | undefined {
    const one = this.#calls[index];
    if (one === undefined || !("tool" in one)) return undefined;
    const entry = findOperation(this.#parts, { tool: one.tool, caller: this.#call.caller });
    if (entry === undefined || this.#call.isConfirmed?.(entry) !== true) return undefined;
    return new Promise((resolve) => {
      let start = (): void => {};
      const started = new Promise<void>((begin) => (start = begin));
      const ended = this.#one(one, index, () => (resolve(), started));
      this.#early[index] = { ended, start };
      void ended.finally(resolve);
    });
  }

  /** Begins the calls whose turn it is. */
  #begin(): void {
    for (let one = this.#calls[this.#next]; one !== undefined && this.#turns > 0; one = this.#calls[this.#next]) {
      this.#turns -= 1;
      this.#take(one, this.#next++).catch(this.#fail);
    }
  }

  /** Gives a number of calls their turn: all of them when the batch is over, to answer each that has not begun. */
  #free(turns: number): void {
    this.#turns += turns;
    this.#begin();
  }

  /** A call's turn is over when its handler has ended, also if the call was given up before. */
  async #take(one: BatchCall | Refused, index: number): Promise<void> {
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

  /** Keeps the `_meta` of a call by its index, since two calls may use one name. */
  #keepMeta(index: number, members: JsonObject): void {
    const before = this.#metas[index] ?? {};
    const kept = keepMeta(before, members);
    if (kept !== undefined) this.#metas[index] = kept;
    // The batch's own call leaves out members that are not JSON or too large, and reports them.
    this.#call.addMeta({ [metasKey]: { ...this.#metas, [index]: kept ?? [before, members] } });
  }

  /** Returns the refusal of a call that begins after the end of the batch. */
  #late(): Refused | undefined {
    if (this.#call.signal.aborted) return aborted;
    if (performance.now() < this.#dueAt) return undefined;
    const details = { deadline: this.#deadline + Math.ceil(this.#call.heldMs ?? 0) };
    return createRefused("TIMEOUT", "the deadline of the batch passed before this was begun", { details });
  }

  /**
   * Runs one call. Looks its operation up when it begins: a call before it may have brought it.
   *
   * @param started - called when the user has confirmed it; resolves when its turn has come. Left out: that is now.
   */
  async #one({ tool, input }: BatchCall, index: number, started?: () => Promise<void>): Promise<Ended> {
    let late = this.#late();
    if (late !== undefined) return { outcome: late };
    const named = { tool, caller: this.#call.caller };
    const entry = findOperation(this.#parts, named);
    if (entry === undefined) return { outcome: await this.#notFound(named) };
    let overrun: Promise<unknown> | undefined;
    const turn = async (): Promise<number> => {
      await started?.();
      late = this.#late();
      if (late !== undefined) throw new SurfaceError("ABORTED", "Calling: the batch is over");
      return this.#dueAt;
    };
    const outcome = await this.#call.nest({
      target: { entry },
      args: input,
      as: "caller",
      stillShown: () => findOperation(this.#parts, named) === (entry.now?.() ?? entry),
      deadlineAt: this.#dueAt,
      turn: started && turn,
      onProgress: (report) => this.#progress.report(index, report),
      // The `_meta` of a single call is that of a call without a gateway.
      ...(this.#calls.length === 1 ? {} : { onMeta: (members: JsonObject) => this.#keepMeta(index, members) }),
      onOverrun: (work) => void (overrun = work),
    });
    if (late !== undefined) return { outcome: late };
    const isGone = outcome.kind === "denied" || (outcome.kind === "refused" && isNotFound(outcome));
    return { outcome: isGone ? await this.#notFound(named) : outcome, overrun };
  }

  /** Counts hidden and missing operations alike. */
  async #notFound(named: NamedOperation): Promise<Refused> {
    this.#nearSearches += 1;
    return this.#nearSearches > mostNearSearches ? operationNotFound : toNotFound(this.#parts, named);
  }
}

/**
 * Runs calls as parts of one call, under its caller's authority and with one deadline: one after another, or at most eight at once.
 * First asks the user about each call that is confirmed. A handler that was given up and still runs keeps its turn until it ends, or
 * until the deadline. Results stand in the order of the calls. Never rejects.
 */
export function runBatch(parts: GatewayDeps, request: BatchRequest, call: EntryCall): Promise<readonly BatchResult[]> {
  return new Batch(parts, call, request).run();
}
