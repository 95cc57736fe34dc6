import { markDerived } from "../implementation.ts";
import type { CellClient, EventClient } from "../client.ts";
import type { HandlerContext } from "../owner/handler-context.ts";
import type { UpstreamInput } from "./derive-stream.ts";
import { assertFunctions } from "./assert-functions.ts";
import { followCell, type CellFollowed } from "./follow-cell.ts";
import { followEvent, type EventFollowed } from "./follow-event.ts";

/** What an event that is derived from an event may be told. */
export interface DeriveEventOptions<TInput, TOccurrence, TGiven> {
  /** Turns its input into upstream's. Default: the input as it is. */
  readonly input?: (input: TGiven) => UpstreamInput<TInput>;
  /** An occurrence that does not pass has not happened. */
  readonly filter?: (occurrence: TOccurrence) => boolean;
}

/** What an event that is derived from the changes of a cell may be told. */
export interface DeriveChangesOptions<TValue> {
  /**
   * Asked of a value and the one before it, as `map` is. A change that does not pass has not happened; its value is the
   * one before the next all the same.
   */
  readonly filter?: (value: TValue, previous: TValue | undefined) => boolean;
}

/**
 * Derives an event from one of another surface, or from the changes of a cell. From an event it begins with what is kept
 * there, and loses nothing that is kept while upstream is away. From a cell, `map` makes an occurrence of a value and the
 * one before it (`undefined` for the first), or `undefined` where nothing has happened; it is asked neither of a stale value
 * nor of one that is equal to the one before it.
 *
 * Until upstream has been heard once nobody is answered, and what was kept there by then is what has happened before: it is
 * among what is kept, and no wait ends with it that asks for what happens next. What upstream has lost, `missed` says here.
 *
 * What `map` throws is reported, and that occurrence is left out.
 *
 * @throws SurfaceError `INVALID_OPTION` for an option that is not known, or no function.
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
    assertFunctions(options, { doing: "Deriving an event from a cell", names: ["filter"] });
    // The overload says that these take what this upstream gives.
    const followed = { upstream, map, ...options } as unknown as CellFollowed;
    return markDerived((_input, context) => followCell(followed, context));
  }
  assertFunctions(options, { doing: "Deriving an event", names: ["input", "filter"] });
  // As above.
  const followed = { upstream, map, ...options } as unknown as EventFollowed;
  return markDerived((input, context) => followEvent(followed, input, context));
}
