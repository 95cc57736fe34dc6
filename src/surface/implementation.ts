import type { InferInput, InferOutput, Schema } from "../schema/standard.ts";
import type { TypeProblem } from "../tags/type-problem.ts";
import type { ObservableLike, AsyncSource, KeyedSource, MapSource, PagedSource } from "./source.ts";
import type { HandlerContext, ProcedureContext } from "./owner/handler-context.ts";
import type { PushedSource, PushedCollection } from "./reading.ts";

/** The input of a handler: the output type of its schema, or `undefined`. */
type Given<TInput> = TInput extends Schema ? InferOutput<TInput> : undefined;

/** The output of a handler: the input type of its schema, or any value. */
type Made<TOutput> = TOutput extends Schema ? InferInput<TOutput> : unknown;

/** A procedure's handler: a function, or a generator function that yields progress and returns the output. */
export type ProcedureImplementation<TInput, TOutput, TProgress> = (
  input: Given<TInput>,
  context: ProcedureContext<Made<TProgress>>,
) => Made<TOutput> | Promise<Made<TOutput>> | AsyncGenerator<Made<TProgress>, Made<TOutput>, undefined>;

/** The implementation of a cell: a source that can be read at any time, or one that pushes its values. */
export type CellImplementation<TValue> =
  | AsyncSource<TValue>
  | PushedSource<TValue>
  | AsyncIterable<TValue>
  | ObservableLike<TValue>;

// One arm for each kind, the most frequent first. An arm tests the discriminant and two properties, not the whole member, which
// would cost the compiler more. For a value that is not a source, the compiler prints the sentence of the TypeProblem.
/** The implementation of a member. */
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

/** One implementation for each member. A missing or misspelt one is a compile error, and an error at startup. */
export type Implementation<TSpec> = { readonly [Key in keyof TSpec]: MemberImplementation<TSpec[Key]> };

const derived = new WeakSet<object>();

/** Marks a handler that is one request to another surface: it fails as that request does, and uses no `this`. Returns the handler. */
export function markDerived<THandler extends object>(handler: THandler): THandler {
  derived.add(handler);
  return handler;
}

/** Returns true for a handler that `derive` created. False for an author's handler that calls one. */
export function isDerived(handler: object): boolean {
  return derived.has(handler);
}
