import type { CellClient, EventClient, EventPage, EventWait, WaitOptions } from "../client.ts";
import {
  assertFunctions,
  createUpstreamEnded,
  pause,
  readUpstream,
  type UpstreamInput,
  upstreamSteps,
} from "./upstream.ts";
import { markDerived } from "../implementation.ts";
import { canonical } from "../owner/canonical.ts";
import { maxWaitMs } from "../owner/event-owner.ts";
import { type HandlerContext, type HandlerMemory, kMemory } from "../owner/handler-context.ts";
import type { Reading } from "../reading.ts";
import { systemClock } from "../system-clock.ts";

/** Options of `derive.event()` from an event. */
export interface DeriveEventOptions<TInput, TOccurrence, TGiven> {
  /** Converts its input into the one of upstream. @default the input as it is */
  readonly input?: (input: TGiven) => UpstreamInput<TInput>;
  /** Leaves out the occurrences that it returns `false` for. */
  readonly filter?: (occurrence: TOccurrence) => boolean;
}

/** Options of `derive.event()` from the changes of a cell. */
export interface DeriveChangesOptions<TValue> {
  /** Leaves out the changes that it returns `false` for. Their value is still the one before the next. */
  readonly filter?: (value: TValue, previous: TValue | undefined) => boolean;
}

interface FollowedEvent {
  readonly upstream: {
    recent(input: unknown, options: { readonly signal: AbortSignal }): Promise<EventPage>;
    wait(input: unknown, options: WaitOptions): Promise<EventWait>;
  };
  readonly map: (occurrence: unknown) => unknown;
  readonly input?: (input: unknown) => unknown;
  readonly filter?: (occurrence: unknown) => boolean;
}

/** Position in the occurrences of upstream, kept for the next start. */
interface Position {
  cursor: string;
  readonly pending: unknown[];
}

/** Milliseconds between two answers of upstream that bring nothing: a wait that ends early must not become a busy loop. */
const idlePaceMs = 100;

interface EventRun {
  readonly followed: FollowedEvent;
  readonly input: unknown;
  readonly signal: AbortSignal;
  readonly memory: HandlerMemory | undefined;
}

function ask<TAnswer>({ followed }: EventRun, use: () => Promise<TAnswer>): Promise<TAnswer> {
  return readUpstream(use, { tellsIssues: followed.input === undefined });
}

/** Returns the position to go on from. Without a memory, the run is for one listener and begins with the next occurrence. */
async function begin(run: EventRun): Promise<Position> {
  const { followed, input, signal, memory } = run;
  // Only this function sets it.
  if (memory?.state !== undefined) return memory.state as Position;
  const { cursor, occurrences } = await ask(run, () => followed.upstream.recent(input, { signal }));
  if (memory === undefined) return { cursor, pending: [] };
  const at: Position = { cursor, pending: [...occurrences] };
  memory.state = at;
  return at;
}

async function advance(run: EventRun, at: Position): Promise<void> {
  const { followed, input, signal, memory } = run;
  const begun = systemClock.now();
  const use = { since: at.cursor, timeoutMs: maxWaitMs, signal };
  const answer = await ask(run, () => followed.upstream.wait(input, use));
  // After a reset, the cursor stands before the oldest kept occurrence, and none of those was yielded.
  at.cursor = answer.cursor;
  if (answer.missed !== undefined || answer.reset === true) memory?.lost(answer.missed ?? 0);
  if (answer.status === "fired") at.pending.push(answer.occurrence);
  else if (answer.reset !== true && systemClock.now() - begun < idlePaceMs) await pause(idlePaceMs, signal);
}

/** Follows an event: the kept occurrences first, then each further one. A next run goes on behind the occurrence that this one failed on. */
async function* followEvent(followed: FollowedEvent, given: unknown, context: HandlerContext): AsyncGenerator {
  const { signal, [kMemory]: memory } = context;
  const { map, filter = () => true } = followed;
  // Of a marked handler the feed knows it already; a handler of the author that delegates to this one tells it here.
  memory?.expectReplay();
  const input = followed.input === undefined ? given : followed.input(given);
  const run: EventRun = { followed, input, signal, memory };
  const at = await begin(run);
  while (!signal.aborted) {
    while (at.pending.length > 0) {
      const occurrence = at.pending.shift();
      if (filter(occurrence)) yield map(occurrence);
    }
    memory?.replayed();
    await advance(run, at);
  }
}

/**
 * Derives an event from an event of another surface, or from the changes of a cell. An event begins with the occurrences that upstream has
 * kept, and loses none of those while upstream is away. For a cell, `map` gets each new value and the one before it (`undefined` for the
 * first), and returns an occurrence or `undefined`. It gets no stale values, and none equal to the one before.
 *
 * Reads and waits are answered once upstream has been heard. What it has kept is past: among the kept occurrences here, but no end of a
 * wait. `missed` includes what upstream has lost. An error of `map` is reported, and its occurrence is left out.
 *
 * @throws SurfaceError `INVALID_OPTION` for an unknown option, or one that is not a function.
 * @example
 * ```ts
 * derive.event(client.settled, ({ ok }) => ({ ok }));
 * derive.event(client.run, (run, before) => (run.over && before?.over === false ? run.verdict : undefined));
 * derive.event(client.run, (run) => run.verdict, { filter: (run, before) => run.over && before?.over === false });
 * ```
 */
export function deriveEvent<$Input, $Occurrence, $Out, $Given = UpstreamInput<$Input>>(
  upstream: EventClient<$Input, $Occurrence>,
  map: (occurrence: $Occurrence) => $Out,
  options?: DeriveEventOptions<$Input, $Occurrence, $Given>,
): (input: NoInfer<$Given>, context: HandlerContext) => AsyncIterable<$Out>;
export function deriveEvent<$Value, $Out>(
  upstream: CellClient<$Value>,
  map: (value: $Value, previous: $Value | undefined) => $Out | undefined,
  options?: DeriveChangesOptions<$Value>,
): (input: undefined, context: HandlerContext) => AsyncIterable<$Out>;
export function deriveEvent(
  upstream: EventClient<undefined, unknown> | CellClient<unknown>,
  map: (value: never, previous: never) => unknown,
  options: DeriveEventOptions<undefined, never, never> | DeriveChangesOptions<never> = {},
): (input: unknown, context: HandlerContext) => AsyncIterable<unknown> {
  if ("readings" in upstream) {
    assertFunctions(options, ["filter"], "Deriving an event from a cell");
    // By the overload, these take the values of this upstream.
    const followed = { upstream, map, ...options } as unknown as FollowedCell;
    return markDerived((_input, context) => followCell(followed, context));
  }
  assertFunctions(options, ["input", "filter"], "Deriving an event");
  // As above.
  const followed = { upstream, map, ...options } as unknown as FollowedEvent;
  return markDerived((input, context) => followEvent(followed, input, context));
}

/** A cell of another surface and the functions of the author, without their types. */
export interface FollowedCell {
  readonly upstream: CellClient<unknown>;
  /** Returns an occurrence, or `undefined`. */
  readonly map: (value: unknown, previous: unknown) => unknown;
  readonly filter?: (value: unknown, previous: unknown) => boolean;
}

/** The last value that was known to be the newest. */
interface LastValue {
  known?: { readonly value: unknown; readonly content: string | undefined };
}

/** Milliseconds until a cell that was there, and ended, is followed again. */
const againMs = 100;

/** Creates the memory of one listener, which keeps nothing. */
function createNoMemory(): HandlerMemory {
  return { state: undefined, expectReplay() {}, replayed() {}, lost() {} };
}

/** Returns one text for equal values; `undefined` for a value with a cycle. */
function contentOf(value: unknown): string | undefined {
  try {
    return canonical(value);
  } catch {
    return undefined;
  }
}

/** Keeps a value as the last one. Returns true if its content differs: every value that comes over a wire is a new object. */
function setLast(value: unknown, last: LastValue): boolean {
  const { known } = last;
  if (known !== undefined && Object.is(known.value, value)) return false;
  const content = contentOf(value);
  last.known = { value, content };
  return content === undefined || content !== known?.content;
}

function toOccurrence({ value, stale }: Reading, last: LastValue, { map, filter = () => true }: FollowedCell): unknown {
  if (stale !== undefined) return undefined;
  const previous = last.known?.value;
  // Set before the author's code runs, so that a value it throws at is not passed to it again.
  return setLast(value, last) && filter(value, previous) ? map(value, previous) : undefined;
}

/** Yields an occurrence for each change of a cell that `map` returns one for. Follows again after a loss. @throws a failure without values. */
async function* followCell(
  followed: FollowedCell,
  { signal, [kMemory]: memory = createNoMemory() }: HandlerContext,
): AsyncGenerator {
  // Only this function sets it.
  const last = (memory.state as LastValue | undefined) ?? {};
  memory.expectReplay();
  // It has heard upstream before, and failed in the author's code.
  if (memory.state !== undefined) memory.replayed();
  while (!signal.aborted) {
    let isThere = false;
    let lost: unknown = createUpstreamEnded();
    for await (const step of upstreamSteps(() => followed.upstream.readings({ signal }))) {
      if ("failure" in step) {
        lost = step.failure;
        break;
      }
      isThere = true;
      memory.state = last;
      const occurrence = toOccurrence(step.value, last, followed);
      if (occurrence !== undefined) yield occurrence;
      memory.replayed();
    }
    if (signal.aborted) return;
    if (!isThere) throw lost;
    await pause(againMs, signal);
  }
}
