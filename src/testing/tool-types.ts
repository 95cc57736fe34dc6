import type { AppNames } from "../builder/app-names.ts";
import type { RichContentSchema } from "../catalog/content/rich-content.ts";
import type { WireName } from "../catalog/wire-name.ts";
import type { JsonObject } from "../schema/json.ts";
import type { InferInput, InferOutput, Schema } from "../schema/standard.ts";

/** Arguments that tools of some kinds have in addition to the member's own input. */
type Synthetic<TKind> = TKind extends "event"
  ? { readonly since?: string; readonly timeout_ms?: number }
  : TKind extends "stream"
    ? { readonly max_items?: number; readonly wait_ms?: number }
    : unknown;

/** The arguments of a tool without input. */
export type NoArguments = Readonly<Record<never, never>>;

/** A schema's input as tool arguments: an object as it is, anything else under `value`. */
type AsArguments<TInput> = TInput extends Schema
  ? InferInput<TInput> extends object
    ? InferInput<TInput> extends readonly unknown[]
      ? { readonly value: InferInput<TInput> }
      : InferInput<TInput>
    : { readonly value: InferInput<TInput> }
  : NoArguments;

/** The arguments of a member's tool, by its name on the wire. */
type MemberArguments<TSpec> = {
  [Key in keyof TSpec & string as WireName<Key>]: TSpec[Key] extends {
    readonly kind: infer MemberKind;
    readonly input: infer Input;
  }
    ? AsArguments<Input> & Synthetic<MemberKind>
    : never;
};

/** The arguments of the tools that `pull()` adds. */
interface PullArguments {
  readonly read_resource: { readonly uri: string };
  readonly wait_for_change: {
    readonly uris: readonly string[];
    readonly since?: string;
    readonly timeout_ms?: number;
  };
}

/** The arguments of one tool: a bespoke tool's input where there is one of that name, else those of pull(), or the member's. */
export type ArgumentsOf<TSpec, TNames extends AppNames, TName> = TName extends keyof TNames["inputs"]
  ? AsArguments<[Extract<TNames["inputs"][TName], Schema>] extends [never] ? undefined : TNames["inputs"][TName]>
  : [TName, keyof PullArguments] extends [keyof PullArguments, TNames["tools"]]
    ? PullArguments[TName & keyof PullArguments]
    : TName extends keyof MemberArguments<TSpec>
      ? MemberArguments<TSpec>[TName]
      : JsonObject;

/** A schema's output; the JSON object of the answer without one, and for content blocks. */
type OutputOf<TOutput> = [Extract<TOutput, Schema>] extends [never]
  ? JsonObject
  : [Extract<TOutput, RichContentSchema>] extends [never]
    ? InferOutput<Extract<TOutput, Schema>>
    : JsonObject;

/** The answer of a tool that waits for an event. */
interface WaitValue<TOccurrence> {
  readonly status: "fired" | "timed_out" | "interrupted";
  readonly cursor: string;
  readonly occurrence?: TOccurrence;
  readonly missed?: number;
  readonly reset?: boolean;
  readonly hint?: string;
}

/** The answer of a tool that pulls frames of a stream. */
interface PullValue<TItem> {
  readonly items: readonly TItem[];
  readonly ended: boolean;
}

/** The value of a member's tool, by its name on the wire. */
type MemberValues<TSpec> = {
  [Key in keyof TSpec & string as WireName<Key>]: TSpec[Key] extends {
    readonly kind: infer MemberKind;
    readonly output: infer Output;
  }
    ? MemberKind extends "event"
      ? WaitValue<OutputOf<Output>>
      : MemberKind extends "stream"
        ? PullValue<OutputOf<Output>>
        : OutputOf<Output>
    : JsonObject;
};

/** The value of one tool: by a bespoke tool's output where there is one of that name, else by the member's. */
export type ValueOf<TSpec, TNames extends AppNames, TName> = TName extends keyof TNames["inputs"]
  ? TName extends keyof TNames["outputs"]
    ? OutputOf<TNames["outputs"][TName]>
    : JsonObject
  : TName extends keyof MemberValues<TSpec>
    ? MemberValues<TSpec>[TName]
    : JsonObject;
