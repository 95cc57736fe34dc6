import type { CellClient, StreamClient } from "../client.ts";
import type { PushedSource } from "../pushed.ts";

/** What a derived cell may be told. */
export interface DeriveCellOptions<TValue> {
  /** A value that does not pass is skipped: the one before it stands, and a first read waits for one that does. */
  readonly filter?: (value: TValue) => boolean;
}

/** One value that changes, from a client's side: a cell, or the frames of a stream without input. */
export type CellUpstream<TValue> = CellClient<TValue> | StreamClient<undefined, TValue>;

/**
 * Derives a cell from one of another surface, from a stream without input, or from several of them at once. Nobody is
 * shown a value that upstream has not given.
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
export function deriveCell(): PushedSource<unknown> {
  throw new Error("not yet");
}
