import { SurfaceError } from "../../errors.ts";
import { LinkedAbort, untilAborted } from "../../spine/signals.ts";
import type { Caller } from "../../surface/caller.ts";
import { internalError, type FaultReporter } from "../../surface/fault.ts";
import { systemClock } from "../../surface/system-clock.ts";
import type { EntryCall, ReadResult, ResourceContent } from "../entry.ts";
import { rejectNestedCall, isAbsent } from "../outcome.ts";
import { cannotAsk } from "../own-refusals.ts";

function ignore(): void {}

/** Returns the call of a read that no caller has made. It can neither ask a client nor call tools. */
function callOf(signal: AbortSignal, caller: Caller): EntryCall {
  return { signal, progress: ignore, caller, nest: rejectNestedCall, ...cannotAsk };
}

/** A read for {@link inTime}. */
export interface TimedRead<TValue> {
  readonly run: (call: EntryCall) => Promise<TValue>;
  readonly caller: Caller;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Names the work in errors, for example `WatchHandle resource "log"`. */
  readonly doing: string;
}

/**
 * Runs a read that belongs to no call, within `timeoutMs`, after which the signal of the read fires.
 *
 * @throws SurfaceError `TIMEOUT`; `ABORTED`, or the signal's own reason, when that fires.
 */
export async function inTime<TValue>(read: TimedRead<TValue>): Promise<TValue> {
  const { run, caller, timeoutMs, doing } = read;
  const linked = new LinkedAbort(read.signal);
  const { signal } = linked;
  const stopTimer = systemClock.after(timeoutMs, () =>
    linked.abort(new SurfaceError("TIMEOUT", `${doing}: there was no answer within ${timeoutMs} ms`)),
  );
  try {
    return await untilAborted({ start: () => run(callOf(signal, caller)), signal, doing });
  } finally {
    stopTimer();
    linked.dispose();
  }
}

/** The failure of the last attempt. It outlives one iteration, so that a repeated failure is reported once. */
export interface FailureState {
  isFailing: boolean;
}

/** Options of {@link followChanges}. */
export interface FollowOptions {
  /** Returns the current content. */
  read(call: EntryCall): ReadResult;
  /** Opens the changes, an item for each; `undefined` if none are announced. */
  open(call: EntryCall): Promise<AsyncIterable<unknown> | undefined>;
  /** Called once when the changes have ended. */
  ended?(): void;
  readonly signal: AbortSignal | undefined;
  readonly caller: Caller;
  readonly where: string;
  readonly report: FaultReporter;
  readonly failure: FailureState;
}

/** Milliseconds that one read may take: as many as a read by an agent. */
const readTimeoutMs = 10_000;

/** Returns the current content; `undefined` if it is absent, which a later change may end. */
async function readNow(options: FollowOptions, signal: AbortSignal): Promise<ResourceContent | undefined> {
  const { caller, where } = options;
  const [run, doing] = [async (call: EntryCall) => options.read(call), `Watching ${where}`];
  try {
    return await inTime({ run, caller, timeoutMs: readTimeoutMs, signal, doing });
  } catch (cause) {
    if (isAbsent(cause)) return undefined;
    throw cause;
  }
}

/** Pulls the next item. It is awaited only after a read, so a rejection meanwhile would be unhandled. */
function pull(iterator: AsyncIterator<unknown>): Promise<IteratorResult<unknown>> {
  const next = (async () => iterator.next())();
  next.catch(ignore);
  return next;
}

/** Returns the error for the watcher, and reports the first of several. Variables that fit no resource are not a fault. */
function toFailure(cause: unknown, { where, report, failure }: FollowOptions): unknown {
  if (cause instanceof SurfaceError && cause.code === "VALIDATION_ERROR") return cause;
  if (failure.isFailing) return cause;
  failure.isFailing = true;
  return internalError(cause, where, report);
}

/** Ends an iteration without waiting for it: its author's code may never settle. */
function endUnawaited(iterator: AsyncIterator<unknown> | undefined, ended: () => void): void {
  const end = async (): Promise<unknown> => iterator?.return?.();
  void end().catch(ignore).then(ended);
}

/**
 * Yields the current content, and again after each change. Opens the changes before the first read, so that none in between is missed;
 * changes during a read count as one. Reports an error, and throws it.
 */
export async function* followChanges(options: FollowOptions): AsyncGenerator<ResourceContent | undefined> {
  const { signal = new AbortController().signal, caller, where } = options;
  const wait = <TValue>(start: () => Promise<TValue>): Promise<TValue> =>
    untilAborted({ start, signal, doing: `Watching ${where}` });
  let iterator: AsyncIterator<unknown> | undefined;
  try {
    iterator = (await wait(() => options.open(callOf(signal, caller))))?.[Symbol.asyncIterator]();
    let isDone: boolean | undefined = iterator === undefined;
    do {
      const change = iterator && pull(iterator);
      const content = await readNow(options, signal);
      options.failure.isFailing = false;
      yield content;
      if (change !== undefined) isDone = (await wait(() => change)).done;
    } while (isDone !== true);
  } catch (cause) {
    throw signal.aborted ? cause : toFailure(cause, options);
  } finally {
    endUnawaited(iterator, () => options.ended?.());
  }
}
