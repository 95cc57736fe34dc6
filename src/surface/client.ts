import type { InferInput, InferOutput, Schema } from "../schema/standard.ts";
import type { Caller } from "./caller.ts";
import type { Reading } from "./reading.ts";
import type { CollectionPage } from "./source.ts";
import type { TraceContext } from "./trace-context.ts";

/** Options of any operation on a member. */
export interface UseOptions {
  /** Cancels the operation when it fires. */
  readonly signal?: AbortSignal;
}

/** The page of a collection that a client reads. */
export interface PageOptions<TFilter = unknown> {
  /** The `next` of the page before. @default the first page */
  readonly after?: string | undefined;
  /** The highest number of items, from 1 to 1,000. @default 100 */
  readonly limit?: number | undefined;
  /** Selects items; the collection's source applies it. @default all items */
  readonly filter?: TFilter | undefined;
}

/** Options of one read of a page. */
export interface ListOptions<TFilter = undefined> extends UseOptions, PageOptions<TFilter> {}

/** Options of one call of a procedure. */
export interface CallOptions<TProgress = unknown> extends UseOptions {
  /** Whether the call may be sent again after a loss, which else fails with `OUTCOME_UNKNOWN`. @default true with the tag `readOnly()` */
  readonly idempotent?: boolean;
  /** The caller for the handler, which trusts it: pass the caller of your own request, never an argument. @default anonymous */
  readonly caller?: Caller;
  /** The trace context for the handler: pass the `trace` of your own request. A malformed one is dropped. @default none */
  readonly trace?: TraceContext | undefined;
  /** Receives each value that the procedure yields. */
  readonly onProgress?: (progress: TProgress) => void;
}

/** Options of one wait for an event. */
export interface WaitOptions extends UseOptions {
  /** A cursor from an earlier answer: the wait starts after it. @default the next occurrence */
  readonly since?: string;
  /** Milliseconds; at most 60,000. @default 25_000 */
  readonly timeoutMs?: number;
}

/** The answer to a wait. `timed_out` is an answer, not an error. */
export interface EventWait<TOccurrence = unknown> {
  readonly status: "fired" | "timed_out";
  /** Pass it as `since` to the next wait, so that no occurrence is lost between the two. */
  readonly cursor: string;
  readonly occurrence?: TOccurrence;
  /** The number of occurrences after `since` that were no longer kept; left out if there are none. */
  readonly missed?: number;
  /** Present if occurrences may have been missed. Without an occurrence the wait has ended early: read the state, then wait again. */
  readonly reset?: true;
}

/** The occurrences that are still kept, oldest first. */
export interface EventPage<TOccurrence = unknown> {
  readonly cursor: string;
  readonly occurrences: readonly TOccurrence[];
}

/** The output type of a schema, or `void` without a schema. */
type Out<TSchema> = TSchema extends Schema ? InferOutput<TSchema> : void;

/** The filter that a client passes; `undefined` for a collection without a filter. */
type FilterIn<TMember> = TMember extends { readonly filter: infer Filter extends Schema }
  ? InferInput<Filter>
  : undefined;

/** The arguments of an operation: the input first if there is one. */
type Arguments<TInput, TOptions> = TInput extends Schema
  ? [input: InferInput<TInput>, options?: TOptions]
  : [input?: undefined, options?: TOptions];

/** The client of a cell. */
export interface CellClient<TValue> {
  get(options?: UseOptions): Promise<TValue>;
  /** Yields the current value, then each change; may skip to the newest. */
  watch(options?: UseOptions): AsyncIterable<TValue>;
  /** Returns the value of `get`, and whether it is stale. */
  reading(options?: UseOptions): Promise<Reading<TValue>>;
  /** Yields the values of `watch`, and each change of their staleness. */
  readings(options?: UseOptions): AsyncIterable<Reading<TValue>>;
}

/** The client of a collection. */
export interface CollectionClient<TKeyIn, TKey, TValue, TFilter = undefined> {
  keys(options?: UseOptions): Promise<readonly TKey[]>;
  /** Returns the current item, or `undefined` at once for an absent one. */
  get(key: TKeyIn, options?: UseOptions): Promise<TValue | undefined>;
  /** Returns a page of keys and items. */
  list(options?: ListOptions<TFilter>): Promise<CollectionPage<TKey, TValue>>;
  watchKeys(options?: UseOptions): AsyncIterable<readonly TKey[]>;
  /** Yields the current page, then each change; may skip to the newest. */
  watchList(options?: ListOptions<TFilter>): AsyncIterable<CollectionPage<TKey, TValue>>;
  /** Yields the current item, then each change (`undefined` when it is removed); may skip to the newest. */
  watch(key: TKeyIn, options?: UseOptions): AsyncIterable<TValue | undefined>;
  /** Returns the value of `get`, and whether it is stale. */
  reading(key: TKeyIn, options?: UseOptions): Promise<Reading<TValue | undefined>>;
  /** Yields the values of `watch`, and each change of their staleness. */
  readings(key: TKeyIn, options?: UseOptions): AsyncIterable<Reading<TValue | undefined>>;
  /** Returns the keys, and whether they are stale. */
  keysReading(options?: UseOptions): Promise<Reading<readonly TKey[]>>;
  /** Yields the keys as `watchKeys` does, and each change of their staleness. */
  keysReadings(options?: UseOptions): AsyncIterable<Reading<readonly TKey[]>>;
  /** Returns the page of `list`, and whether it is stale. */
  listReading(options?: ListOptions<TFilter>): Promise<Reading<CollectionPage<TKey, TValue>>>;
  /** Yields the pages of `watchList`, and each change of their staleness. */
  listReadings(options?: ListOptions<TFilter>): AsyncIterable<Reading<CollectionPage<TKey, TValue>>>;
}

/** The client of a stream. */
export interface StreamClient<TInput, TOutput> {
  /** Yields every frame, in order, until the caller stops or the stream ends. */
  open(...use: Arguments<TInput, UseOptions>): AsyncIterable<TOutput>;
  /** Returns the newest frame; waits for the first one. */
  latest(...use: Arguments<TInput, UseOptions>): Promise<TOutput>;
}

/** The client of an event. */
export interface EventClient<TInput, TOutput> {
  /** Waits for the next occurrence after `since`. */
  wait(...use: Arguments<TInput, WaitOptions>): Promise<EventWait<TOutput>>;
  /** Returns the occurrences that are still kept. */
  recent(...use: Arguments<TInput, UseOptions>): Promise<EventPage<TOutput>>;
}

/** The client of a procedure. */
export interface ProcedureClient<TInput, TOutput, TProgress> {
  call(...use: Arguments<TInput, CallOptions<Out<TProgress>>>): Promise<TOutput>;
}

/** The answer of a procedure: the output type of its schema, or any JSON value without a schema. */
type Answer<TOutput> = TOutput extends Schema ? InferOutput<TOutput> : unknown;

// One arm for each kind. An arm tests the discriminant and two properties, not the whole member.
/** The client of a member. */
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

/** The typed client of a live surface, the same over every link. Do not modify its values: in one process all clients share them. */
export type SurfaceClient<TSpec> = { readonly [Key in keyof TSpec]: MemberClient<TSpec[Key]> };
