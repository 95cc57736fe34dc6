import { SurfaceError } from "../../errors.ts";
import type { CellClient, StreamClient } from "../client.ts";
import { kPushed, Unmade, type PushedOrigin, type PushedSource } from "../pushed.ts";
import type { Reading } from "../reading.ts";
import { relay } from "../relayed.ts";
import { createGone } from "./gathering.ts";
import { ReadingMap, type MapTerms } from "./reading-map.ts";
import { combineReaders, toReader, type Reader } from "./reader.ts";
import { upstreamSteps } from "./upstream-steps.ts";

/** What a derived cell may be told. */
export interface DeriveCellOptions<TValue> {
  /** A value that does not pass is skipped: the one before it stands, and a first read waits for one that does. */
  readonly filter?: (value: TValue) => boolean;
}

/** One value that changes, from a client's side: a cell, or the frames of a stream without input. */
export type CellUpstream<TValue> = CellClient<TValue> | StreamClient<undefined, TValue>;

async function* follow<TValue, TOut>(
  reader: Reader<TValue>,
  terms: MapTerms<TValue, TOut>,
  signal: AbortSignal,
): AsyncGenerator<Reading<TOut> | Unmade> {
  const readings = new ReadingMap(terms);
  for await (const step of upstreamSteps(() => reader.readings(signal))) {
    if ("failure" in step) throw relay(step.failure);
    const made = readings.frameOf(step.value);
    if (made !== undefined) yield made;
  }
  if (!signal.aborted && reader.isEndless) throw createGone();
}

async function readOnce<TValue>(reader: Reader<TValue>, signal: AbortSignal): Promise<Reading<TValue>> {
  try {
    return await reader.reading(signal);
  } catch (cause) {
    throw relay(cause);
  }
}

function createOrigin<TValue, TOut>(reader: Reader<TValue>, terms: MapTerms<TValue, TOut>): PushedOrigin<TOut> {
  const open = (signal: AbortSignal): AsyncIterable<Reading<TOut> | Unmade> => follow(reader, terms, signal);
  return {
    open,
    async read(signal) {
      const made = new ReadingMap(terms).of(await readOnce(reader, signal));
      if (made !== undefined) return made;
      // The value now does not pass: the first that does is waited for.
      for await (const later of open(signal)) {
        if (later instanceof Unmade) throw later.cause;
        return later;
      }
      throw relay(new SurfaceError("ABSENT", "Reading a derived cell: what it comes from has ended"));
    },
  };
}

/**
 * Derives a cell from one of another surface, from a stream without input, or from several of them at once. Nobody is
 * shown a value that upstream has not given: a first read waits. While upstream cannot be reached the last value stands,
 * marked stale. What `map` throws is reported, and the last value stands then too.
 *
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
  upstream: { readonly [Index in keyof $Values]: CellUpstream<$Values[Index]> },
  map: (values: $Values) => $Out,
  options?: DeriveCellOptions<$Values>,
): PushedSource<$Out>;
export function deriveCell(
  upstream: CellUpstream<unknown> | readonly CellUpstream<unknown>[],
  map: (value: never) => unknown,
  { filter = () => true }: DeriveCellOptions<never> = {},
): PushedSource<unknown> {
  const reader = "length" in upstream ? combineReaders(upstream.map(toReader)) : toReader(upstream);
  // The overloads say that these take what this reader gives.
  const terms = { map, passes: filter } as MapTerms<unknown, unknown>;
  return Object.freeze({ [kPushed]: createOrigin(reader, terms) });
}
