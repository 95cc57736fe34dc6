import type { InferInput, InferOutput, Schema } from "../schema/standard.ts";
import type { Caller } from "./caller.ts";
import type { Reading } from "./reading.ts";
import type { CollectionPage } from "./source.ts";

/** What a caller may say about one use of a member. */
export interface UseOptions {
  /** Ends the use when it fires. */
  readonly signal?: AbortSignal;
}

/** The page of a collection that a client reads. */
export interface PageOptions<TFilter = unknown> {
  /** The `next` of the page before. @default the first page */
  readonly after?: string | undefined;
  /** The highest number of items, from 1 to 1,000. @default 100 */
  readonly limit?: number | undefined;
  /** Leaves out items, as the collection's source does it. @default all items */
  readonly filter?: TFilter | undefined;
}

/** Options of one read of a page. */
export interface ListOptions<TFilter = undefined> extends UseOptions, PageOptions<TFilter> {}

/** What a caller may say about one call of a procedure. */
export interface CallOptions<TProgress = unknown> extends UseOptions {
  /**
   * Whether it may be sent again when its connection is lost before the answer. Default: whether the member is tagged
   * `readOnly()`. A call that may not is sent once, and answers `OUTCOME_UNKNOWN` then.
   */
  readonly idempotent?: boolean;
  /**
   * The caller that the handler receives as `context.caller`. The handler trusts it as far as it trusts you: pass the caller of
   * your own request, never one out of its arguments.
   * @default an anonymous caller
   */
  readonly caller?: Caller;
  /** Receives what the procedure yields on its way. */
  readonly onProgress?: (progress: TProgress) => void;
}

/** What a caller may say about one wait for an event. */
export interface WaitOptions extends UseOptions {
  /** A cursor from an earlier answer: the wait starts after it. Default: what happens from now on. */
  readonly since?: string;
  /** How long to wait, in milliseconds. Default 25,000; at most 60,000. */
  readonly timeoutMs?: number;
}

/** The answer of a wait. `timed_out` is an answer, not an error. */
export interface EventWait<TOccurrence = unknown> {
  readonly status: "fired" | "timed_out";
  /** Say this as `since` in the next wait, and nothing in between is lost. */
  readonly cursor: string;
  readonly occurrence?: TOccurrence;
  /** How many occurrences after `since` were no longer kept; left out when none. */
  readonly missed?: number;
  /**
   * The cursor was unknown or too old, or the application was restarted: occurrences may have been missed. Without an
   * occurrence the wait has ended before its time: read the state, then wait again. Left out otherwise.
   */
  readonly reset?: true;
}

/** The occurrences that are still kept, oldest first. */
export interface EventPage<TOccurrence = unknown> {
  readonly cursor: string;
  readonly occurrences: readonly TOccurrence[];
}

/** A schema's output side, or `void` where there is no schema. */
type Out<TSchema> = TSchema extends Schema ? InferOutput<TSchema> : void;

/** The filter that a client gives; `undefined` for a collection that declares none. */
type FilterIn<TMember> = TMember extends { readonly filter: infer Filter extends Schema }
  ? InferInput<Filter>
  : undefined;

/** The arguments of a use: the input first where there is one. */
type Arguments<TInput, TOptions> = TInput extends Schema
  ? [input: InferInput<TInput>, options?: TOptions]
  : [input?: undefined, options?: TOptions];

/** A cell, from a client's side. */
export interface CellClient<TValue> {
  get(options?: UseOptions): Promise<TValue>;
  /** The value now, then each change; may skip to the newest. */
  watch(options?: UseOptions): AsyncIterable<TValue>;
  /** What `get` gives, with whether it is known to be the newest. */
  reading(options?: UseOptions): Promise<Reading<TValue>>;
  /** What `watch` gives, each with whether it is known to be the newest; that it no longer is, or is again, is a change. */
  readings(options?: UseOptions): AsyncIterable<Reading<TValue>>;
}

/** A collection, from a client's side. */
export interface CollectionClient<TKeyIn, TKey, TValue, TFilter = undefined> {
  keys(options?: UseOptions): Promise<readonly TKey[]>;
  /** The item now, or `undefined` at once where there is none. */
  get(key: TKeyIn, options?: UseOptions): Promise<TValue | undefined>;
  /** A page of keys and items. */
  list(options?: ListOptions<TFilter>): Promise<CollectionPage<TKey, TValue>>;
  watchKeys(options?: UseOptions): AsyncIterable<readonly TKey[]>;
  /** The page now, then after each change of it; may skip to the newest. */
  watchList(options?: ListOptions<TFilter>): AsyncIterable<CollectionPage<TKey, TValue>>;
  /** The item now, then each change (`undefined` when it is removed); may skip to the newest. */
  watch(key: TKeyIn, options?: UseOptions): AsyncIterable<TValue | undefined>;
  /** What `get` gives, with whether it is known to be the newest. */
  reading(key: TKeyIn, options?: UseOptions): Promise<Reading<TValue | undefined>>;
  /** What `watch` gives, each with whether it is known to be the newest; that it no longer is, or is again, is a change. */
  readings(key: TKeyIn, options?: UseOptions): AsyncIterable<Reading<TValue | undefined>>;
  /** What `keys` gives, with whether those are known to be the newest. */
  keysReading(options?: UseOptions): Promise<Reading<readonly TKey[]>>;
  /** What `watchKeys` gives, each with whether those are known to be the newest. */
  keysReadings(options?: UseOptions): AsyncIterable<Reading<readonly TKey[]>>;
  /** The page of `list`, and whether it is known to be the newest. */
  listReading(options?: ListOptions<TFilter>): Promise<Reading<CollectionPage<TKey, TValue>>>;
  /** The pages of `watchList`, each with whether it is known to be the newest. */
  listReadings(options?: ListOptions<TFilter>): AsyncIterable<Reading<CollectionPage<TKey, TValue>>>;
}

/** A stream, from a client's side. */
export interface StreamClient<TInput, TOutput> {
  /** Every frame, in order, until the caller stops or the stream ends. */
  open(...use: Arguments<TInput, UseOptions>): AsyncIterable<TOutput>;
  /** The newest frame; waits for the first one. */
  latest(...use: Arguments<TInput, UseOptions>): Promise<TOutput>;
}

/** An event, from a client's side. */
export interface EventClient<TInput, TOutput> {
  /** The next occurrence after `since`, or `timed_out`. */
  wait(...use: Arguments<TInput, WaitOptions>): Promise<EventWait<TOutput>>;
  /** The occurrences that are still kept. */
  recent(...use: Arguments<TInput, UseOptions>): Promise<EventPage<TOutput>>;
}

/** A procedure, from a client's side. */
export interface ProcedureClient<TInput, TOutput, TProgress> {
  call(...use: Arguments<TInput, CallOptions<Out<TProgress>>>): Promise<TOutput>;
}

/** A procedure's answer: its output schema's output side, or any JSON value where it has none. */
type Answer<TOutput> = TOutput extends Schema ? InferOutput<TOutput> : unknown;

// One arm a kind; the arms test the discriminant and two properties, never the whole member.
/** A member, from a client's side. */
export type MemberClient<TMember> = TMember extends { readonly kind: "cell"; readonly schema: infer Value }
  ? CellClient<Out<Value>>
  : TMember extends {
        readonly kind: "collection";
        readonly key: infer Key extends Schema;
        readonly schema: infer Value;
      }
    ? CollectionClient<InferInput<Key>, InferOutput<Key>, Out<Value>, FilterIn<TMember>>
    : TMember extends { readonly kind: "stream"; readonly input: infer Input; readonly output: infer Output }
      ? StreamClient<Input, Out<Output>>
      : TMember extends { readonly kind: "event"; readonly input: infer Input; readonly output: infer Output }
        ? EventClient<Input, Out<Output>>
        : TMember extends {
              readonly kind: "procedure";
              readonly input: infer Input;
              readonly output: infer Output;
              readonly progress: infer Progress;
            }
          ? ProcedureClient<Input, Answer<Output>, Progress>
          : never;

/**
 * Typed access to a live surface's members: the same shape over every link.
 *
 * Its values are to be read and not written to. In one process they are shared, by every client of the live surface and
 * with what its sources hold: changing one in place changes what the others get. Over any other link they are copies.
 */
export type SurfaceClient<TSpec> = { readonly [Key in keyof TSpec]: MemberClient<TSpec[Key]> };
