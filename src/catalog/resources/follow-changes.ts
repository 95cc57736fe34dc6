import { cannotAsk } from "../own-refusals.ts";
import { cannotNest } from "../outcome.ts";
import { SurfaceError } from "../../errors.ts";
import { untilAborted } from "../../spine/signals.ts";
import { internalError, type FaultReporter } from "../../surface/fault.ts";
import type { Caller } from "../../surface/caller.ts";
import type { EntryCall, ReadResult, ResourceContent } from "../entry.ts";
import { inTime } from "./in-time.ts";
import { isAbsent } from "../is-absent.ts";

/** What {@link followChanges} takes. */
export interface ChangesSetting {
  /** What is there now. */
  read(call: EntryCall): ReadResult;
  /** What says, by each item, that there is something else now; nothing, where nobody says so. */
  open(call: EntryCall): Promise<AsyncIterable<unknown> | undefined>;
  /** Told when what was opened has come to its end, once. */
  ended?(): void;
  readonly signal: AbortSignal | undefined;
  /** For whom: what is there may be theirs alone. */
  readonly caller: Caller;
  readonly where: string;
  readonly report: FaultReporter;
  /** Outlives one iteration: what keeps failing is reported once. */
  readonly spell: { isFailing: boolean };
}

/** How long one read may take, in milliseconds: as long as one that an agent asks for. */
const readTimeoutMs = 10_000;

const quiet = (): void => {};

/** Something that is absent is a value here as any other: it may be there after the next change. */
async function readNow(setting: ChangesSetting, signal: AbortSignal): Promise<ResourceContent | undefined> {
  const { caller, where } = setting;
  const [run, doing] = [async (call: EntryCall) => setting.read(call), `Watching ${where}`];
  try {
    return await inTime({ run, caller, timeoutMs: readTimeoutMs, signal, doing });
  } catch (cause) {
    if (isAbsent(cause)) return undefined;
    throw cause;
  }
}

/** Pulls the next item. It is awaited only after a read, so that a rejection meanwhile would be unhandled. */
function pull(iterator: AsyncIterator<unknown>): Promise<IteratorResult<unknown>> {
  const next = (async () => iterator.next())();
  next.catch(quiet);
  return next;
}

/** What its watcher is told of a fault. That variables fit nothing is none: there is nothing under them, ever. */
function toFailure(cause: unknown, { where, report, spell }: ChangesSetting): unknown {
  if (cause instanceof SurfaceError && cause.code === "VALIDATION_ERROR") return cause;
  const isNews = !spell.isFailing;
  spell.isFailing = true;
  return isNews ? internalError(cause, where, report) : cause;
}

/** Ends an iteration that nobody wants any more, and waits for nothing: its maker may never settle. */
function endQuietly(iterator: AsyncIterator<unknown> | undefined, ended: () => void): void {
  const end = async (): Promise<unknown> => iterator?.return?.();
  void end().catch(quiet).then(ended);
}

/**
 * What is there now, and again after each change. The changes are listened to before the first read, so that none in
 * between is missed; those that come while it is read are one more. What is thrown is reported, and thrown on.
 */
export async function* followChanges(setting: ChangesSetting): AsyncGenerator<ResourceContent | undefined> {
  const signal = setting.signal ?? new AbortController().signal;
  const call: EntryCall = { signal, progress: quiet, caller: setting.caller, nest: cannotNest, ...cannotAsk };
  const wait = <TValue>(start: () => Promise<TValue>): Promise<TValue> =>
    untilAborted({ start, signal, doing: `Watching ${setting.where}` });
  let iterator: AsyncIterator<unknown> | undefined;
  try {
    iterator = (await wait(() => setting.open(call)))?.[Symbol.asyncIterator]();
    let isDone: boolean | undefined = iterator === undefined;
    do {
      const change = iterator && pull(iterator);
      const content = await readNow(setting, signal);
      setting.spell.isFailing = false;
      yield content;
      if (change !== undefined) isDone = (await wait(() => change)).done;
    } while (isDone !== true);
  } catch (cause) {
    throw signal.aborted ? cause : toFailure(cause, setting);
  } finally {
    endQuietly(iterator, () => setting.ended?.());
  }
}
