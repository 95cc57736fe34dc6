import type { CellClient, EventClient } from "../client.ts";
import type { HandlerContext } from "../owner/owned-use.ts";
import type { UpstreamInput } from "./derive-stream.ts";

/** What an event that is derived from an event may be told. */
export interface DeriveEventOptions<TInput, TOccurrence, TGiven> {
  /** Turns its input into upstream's. Default: the input as it is. */
  readonly input?: (input: TGiven) => UpstreamInput<TInput>;
  /** An occurrence that does not pass has not happened. */
  readonly filter?: (occurrence: TOccurrence) => boolean;
}

/**
 * Derives an event from one of another surface, or from the changes of a cell: `map` then makes an occurrence of a value
 * and the one before it, or `undefined` where nothing has happened.
 */
export function deriveEvent<$Input, $Occurrence, $Out, $Given = UpstreamInput<$Input>>(
  upstream: EventClient<$Input, $Occurrence>,
  map: (occurrence: $Occurrence) => $Out,
  options?: DeriveEventOptions<$Input, $Occurrence, $Given>,
): (input: $Given, context: HandlerContext) => AsyncIterable<$Out>;
export function deriveEvent<$Value, $Out>(
  upstream: CellClient<$Value>,
  map: (value: $Value, previous: $Value | undefined) => $Out | undefined,
): (input: undefined, context: HandlerContext) => AsyncIterable<$Out>;
export function deriveEvent(): (input: never, context: HandlerContext) => AsyncIterable<unknown> {
  throw new Error("not yet");
}
