import { SurfaceError } from "../../errors.ts";
import { Newest } from "../../spine/pushing.ts";
import { followSignal, LinkedAbort } from "../../spine/signals.ts";
import type { TypeProblem } from "../../tags/type-problem.ts";
import type { CellClient, StreamClient } from "../client.ts";
import { kPushed, type PushedOrigin, type PushedSource, type Reading } from "../reading.ts";
import { mapReadings, ReadingMap, type ValueMap } from "./reading-map.ts";
import { assertFunctions, followUpstream, readUpstream } from "./upstream.ts";

/** Options of `derive.cell()`. */
export interface DeriveCellOptions<TValue> {
  /** Skips values that it returns `false` for: the value before stays, and a first read waits for one that passes. */
  readonly filter?: (value: TValue) => boolean;
}

/** Says what is wrong with a list that a cell is to be derived from. */
type ListProblem<TValues> = TValues extends readonly []
  ? TypeProblem<"a cell is derived from one other at least: of an empty list there is no value">
  : unknown;

/** Client of one value that changes: a cell, or a stream without input, whose frames are its values. */
export type CellUpstream<TValue> = CellClient<TValue> | StreamClient<undefined, TValue>;

/** One or several upstream members, read as one value. */
interface ValueReader<TValue> {
  reading(signal: AbortSignal): Promise<Reading<TValue>>;
  readings(signal: AbortSignal): AsyncIterable<Reading<TValue>>;
  /** Whether it lasts as long as its surface, so that an end means that the surface has gone. */
  readonly isEndless: boolean;
  /** Whether a read gives the value of now. A read of a stream uses another iteration, and may wait long for a frame. */
  readonly isReadWhileOpen: boolean;
}

async function* toReadings<TValue>(values: AsyncIterable<TValue>): AsyncGenerator<Reading<TValue>> {
  for await (const value of values) yield { value };
}

function readerOf<TValue>(upstream: CellUpstream<TValue>): ValueReader<TValue> {
  if ("readings" in upstream) {
    return {
      reading: (signal) => upstream.reading({ signal }),
      readings: (signal) => upstream.readings({ signal }),
      isEndless: true,
      isReadWhileOpen: true,
    };
  }
  return {
    reading: async (signal) => ({ value: await upstream.latest(undefined, { signal }) }),
    readings: (signal) => toReadings(upstream.open(undefined, { signal })),
    isEndless: false,
    isReadWhileOpen: false,
  };
}

function combine<TValue>(readings: readonly Reading<TValue>[]): Reading<readonly TValue[]> {
  const stale = readings.find((reading) => reading.stale !== undefined)?.stale;
  return { value: readings.map(({ value }) => value), ...(stale && { stale }) };
}

/** Yields the newest values of all iterations at each change, once all have one. Fails with the first failure, and lasts until the signal. */
async function* combineLatest<TValue>(
  sources: readonly ((signal: AbortSignal) => AsyncIterable<TValue>)[],
  signal: AbortSignal,
): AsyncGenerator<readonly TValue[]> {
  const linked = new LinkedAbort(signal);
  const newest = new Map<number, TValue>();
  const states = new Newest<readonly TValue[]>(() => {});
  const follow = async (open: (signal: AbortSignal) => AsyncIterable<TValue>, index: number): Promise<void> => {
    try {
      for await (const value of open(linked.signal)) {
        if (linked.signal.aborted) return;
        newest.set(index, value);
        if (newest.size < sources.length) continue;
        states.tell([...newest.entries()].toSorted(([left], [right]) => left - right).map(([, each]) => each));
      }
    } catch (cause) {
      states.finish({ cause });
    }
  };
  const running = sources.map(follow);
  const leave = followSignal(signal, () => states.finish());
  try {
    yield* states;
  } finally {
    leave();
    linked.abort();
    linked.dispose();
    await Promise.all(running);
  }
}

async function* followAll<TValue>(
  readers: readonly ValueReader<TValue>[],
  signal: AbortSignal,
): AsyncGenerator<Reading<readonly TValue[]>> {
  const sources = readers.map(
    (reader) => (own: AbortSignal) =>
      followUpstream(() => reader.readings(own), { signal: own, mayEnd: !reader.isEndless }),
  );
  for await (const readings of combineLatest(sources, signal)) yield combine(readings);
}

/** Reads several members as one: there is a value once each of them has one. */
function combineReaders<TValue>(readers: readonly ValueReader<TValue>[]): ValueReader<readonly TValue[]> {
  return {
    reading: async (signal) => combine(await Promise.all(readers.map((reader) => reader.reading(signal)))),
    readings: (signal) => followAll(readers, signal),
    isEndless: true,
    isReadWhileOpen: readers.every((reader) => reader.isReadWhileOpen),
  };
}

function createOrigin<TValue, TOut>(reader: ValueReader<TValue>, by: ValueMap<TValue, TOut>): PushedOrigin<TOut> {
  const { isEndless, isReadWhileOpen } = reader;
  const follow = (signal: AbortSignal) => followUpstream(() => reader.readings(signal), { signal, mayEnd: !isEndless });
  return {
    open: (signal) => mapReadings(follow(signal), new ReadingMap(by)),
    read: async (signal) => new ReadingMap(by).of(await readUpstream(() => reader.reading(signal))),
    isReadWhileOpen,
  };
}

/**
 * Derives a cell from a cell of another surface, from a stream without input, or from several of them. A first read waits for a value
 * of upstream. While upstream cannot be reached, the last value stays and is marked stale. An error of `map` is reported, and the last
 * value stays then too.
 *
 * @throws SurfaceError `INVALID_OPTION` for an empty list.
 * @example
 * ```ts
 * derive.cell(client.nodes, (nodes) => ({ nodes, red: nodes.some(({ status }) => status === "red") }));
 * derive.cell([client.nodes, client.current], ([nodes, current]) => ({ run: current.run, nodes }));
 * ```
 */
export function deriveCell<$Value, $Out>(
  upstream: CellUpstream<$Value>,
  map: (value: $Value) => $Out,
  options?: DeriveCellOptions<$Value>,
): PushedSource<$Out>;
export function deriveCell<const $Values extends readonly unknown[], $Out>(
  upstream: { readonly [Index in keyof $Values]: CellUpstream<$Values[Index]> } & ListProblem<$Values>,
  map: (values: $Values) => $Out,
  options?: DeriveCellOptions<$Values>,
): PushedSource<$Out>;
export function deriveCell(
  upstream: CellUpstream<unknown> | readonly CellUpstream<unknown>[],
  map: (value: never) => unknown,
  options: DeriveCellOptions<never> = {},
): PushedSource<unknown> {
  assertFunctions(options, ["filter"], "Deriving a cell");
  const { filter = () => true } = options;
  if ("length" in upstream && upstream.length === 0) {
    throw new SurfaceError("INVALID_OPTION", "Cannot derive a cell: the list of members is empty; pass at least one");
  }
  const reader = "length" in upstream ? combineReaders(upstream.map(readerOf)) : readerOf(upstream);
  // By the overloads, these take the values of this reader.
  const by = { map, passes: filter } as ValueMap<unknown, unknown>;
  return Object.freeze({ [kPushed]: createOrigin(reader, by) });
}
