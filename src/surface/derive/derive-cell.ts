import { assertFunctions } from "./assert-functions.ts";
import { SurfaceError } from "../../errors.ts";
import type { TypeProblem } from "../../tags/type-problem.ts";
import type { CellClient, StreamClient } from "../client.ts";
import { kPushed, type PushedFrame, type PushedOrigin, type PushedSource } from "../pushed.ts";
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

/** Says what is wrong with a list that a cell is to be derived from. */
type ListProblem<TValues> = TValues extends readonly []
  ? TypeProblem<"a cell is derived from one other at least: of an empty list there is no value">
  : unknown;

/** One value that changes, from a client's side: a cell, or the frames of a stream without input. */
export type CellUpstream<TValue> = CellClient<TValue> | StreamClient<undefined, TValue>;

async function* follow<TValue, TOut>(
  reader: Reader<TValue>,
  terms: MapTerms<TValue, TOut>,
  signal: AbortSignal,
): AsyncGenerator<PushedFrame<TOut>> {
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
  return {
    open: (signal) => follow(reader, terms, signal),
    read: async (signal) => new ReadingMap(terms).of(await readOnce(reader, signal)),
    isReadWhileOpen: reader.isReadWhileOpen,
  };
}

/**
 * Derives a cell from one of another surface, from a stream without input, or from several of them at once. Nobody is
 * shown a value that upstream has not given: a first read waits. While upstream cannot be reached the last value stands,
 * marked stale. What `map` throws is reported, and the last value stands then too.
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
  assertFunctions(options, { doing: "Deriving a cell", names: ["filter"] });
  const { filter = () => true } = options;
  if ("length" in upstream && upstream.length === 0) {
    throw new SurfaceError(
      "INVALID_OPTION",
      "Deriving a cell: there is nothing in the list that it is to be derived from; it needs one member",
    );
  }
  const reader = "length" in upstream ? combineReaders(upstream.map(toReader)) : toReader(upstream);
  // The overloads say that these take what this reader gives.
  const terms = { map, passes: filter } as MapTerms<unknown, unknown>;
  return Object.freeze({ [kPushed]: createOrigin(reader, terms) });
}
