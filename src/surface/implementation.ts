import type { InferInput, InferOutput, Schema } from "../schema/standard.ts";
import type { TypeProblem } from "../tags/type-problem.ts";
import type { ObservableLike, AsyncSource, KeyedSource, MapSource, PagedSource } from "./source.ts";
import type { HandlerContext, ProcedureContext } from "./owner/handler-context.ts";
import type { PushedSource, PushedCollection } from "./pushed.ts";

/** What a handler receives: its input's output side, or nothing. */
type Given<TInput> = TInput extends Schema ? InferOutput<TInput> : undefined;

/** What a handler produces: its output's input side, or anything. */
type Made<TOutput> = TOutput extends Schema ? InferInput<TOutput> : unknown;

/** A procedure's handler: a function, or a generator function that yields progress and returns the output. */
export type ProcedureImplementation<TInput, TOutput, TProgress> = (
  input: Given<TInput>,
  context: ProcedureContext<Made<TProgress>>,
) => Made<TOutput> | Promise<Made<TOutput>> | AsyncGenerator<Made<TProgress>, Made<TOutput>, undefined>;

/** What implements a cell: what can be read at any time, or what gives its values by and by. */
export type CellImplementation<TValue> =
  | AsyncSource<TValue>
  | PushedSource<TValue>
  | AsyncIterable<TValue>
  | ObservableLike<TValue>;

// One arm a kind, the most frequent first; the arms test the discriminant and two properties, never the whole member.
// The compiler prints the sentence of a TypeProblem for a value that is not a source.
/** What implements a member. */
export type MemberImplementation<TMember> = TMember extends {
  readonly kind: "procedure";
  readonly input: infer Input;
  readonly output: infer Output;
  readonly progress: infer Progress;
}
  ? ProcedureImplementation<Input, Output, Progress>
  : TMember extends { readonly kind: "cell"; readonly schema: infer Value }
    ? CellImplementation<Made<Value>> | TypeProblem<"it needs a source with get(), such as cellSource(…) or polled(…)">
    : TMember extends { readonly kind: "collection"; readonly key: infer Key; readonly schema: infer Value }
      ? TMember extends { readonly filter: infer Filter extends Schema }
        ? | PagedSource<Made<Key>, Made<Value>, InferOutput<Filter>>
          | TypeProblem<"it declares a filter: it needs a source with list(page) and get(key)">
        : | MapSource<Made<Key>, Made<Value>>
          | KeyedSource<Made<Key>, Made<Value>>
          | PagedSource<Made<Key>, Made<Value>>
          | PushedCollection<Made<Key>, Given<Key>, Made<Value>>
          | TypeProblem<"it needs a source with get(), such as cellSource(…) or polled(…), or with keys() or list(page) beside get(key)">
      : TMember extends {
            readonly kind: "stream" | "event";
            readonly input: infer Input;
            readonly output: infer Output;
          }
        ? (input: Given<Input>, context: HandlerContext) => AsyncIterable<Made<Output>>
        : never;

/** One implementation a member; a missing or misspelt one is a compile error and a boot error. */
export type Implementation<TSpec> = { readonly [Key in keyof TSpec]: MemberImplementation<TSpec[Key]> };

const derived = new WeakSet<object>();

/**
 * Marks a handler as one use of another surface and nothing besides: what that use fails with is what the handler fails
 * with, and nobody's `this` is in it. Returns it.
 */
export function markDerived<THandler extends object>(handler: THandler): THandler {
  derived.add(handler);
  return handler;
}

/** Whether a handler was made by `derive`, and is handed over as it was made: one that calls such a one is its author's. */
export function isDerived(handler: object): boolean {
  return derived.has(handler);
}
