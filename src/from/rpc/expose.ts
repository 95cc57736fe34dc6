import type { ExposedResourceKeys, ExposedToolKeys } from "../../catalog/expose.ts";
import type { MountedOperation, MountedResource } from "../../catalog/mounts/mount.ts";
import type { MayCollide, WireNamesChecked } from "../../catalog/wire-name.ts";
import type { LiteralKeys } from "../../surface/define-surface.ts";
import type { KeysOfUnion, TypeProblem } from "../../tags/type-problem.ts";

/** The kind of a procedure. A query and a subscription only read. */
export type RpcKind = "query" | "mutation" | "subscription";

/** Options of a mutation as a tool. */
export type RpcToolOptions = Omit<
  MountedOperation,
  "name" | "type" | "inputSchema" | "outputSchema" | "errorSchemas" | "visibility" | "canCall" | "callScopes"
>;

/** Options of a query or a subscription as a tool. */
export type RpcReadOptions = Omit<RpcToolOptions, "destructive">;

/** Options of a query or a subscription as a resource. */
export type RpcResourceOptions = Omit<MountedResource, "path" | "mimeType">;

/** The value of one procedure in an expose map. A procedure that is left out is not exposed. */
export type RpcExposure =
  | "tool"
  | "resource"
  | { readonly tool: RpcToolOptions }
  | { readonly resource: RpcResourceOptions };

/** A procedure as the compiler knows it. */
export interface RpcProcedureType {
  readonly kind: RpcKind;
  /** The input before parsing. */
  readonly input: unknown;
}

type ToolOptionsOf<TKind> = [TKind] extends ["query" | "subscription"] ? RpcReadOptions : RpcToolOptions;

/** known options, given options -> the known type of each, or a problem. */
type OptionsChecked<TKnown, TGiven> = {
  readonly [Key in keyof TGiven]: Key extends keyof TKnown
    ? TKnown[Key]
    : TypeProblem<`"${Key & string}" is not an option of this kind of procedure`>;
};

/** The problem of a key beside `TKey`. */
type AloneProblem<TKey extends string, TValue> = [Exclude<KeysOfUnion<TValue>, TKey>] extends [never]
  ? unknown
  : TypeProblem<`"${Exclude<KeysOfUnion<TValue>, TKey> & string}" does not belong beside "${TKey}"`>;

type ToolObjectProblem<TKind, TValue> = [TValue] extends [never]
  ? unknown
  : [TValue] extends [{ readonly tool: infer Options }]
    ? AloneProblem<"tool", TValue> & { readonly tool: OptionsChecked<ToolOptionsOf<TKind>, Options> }
    : TypeProblem<'expose a procedure as "tool", "resource", { tool: { … } } or { resource: { … } }'>;

/** A value of an expose map that makes a resource. */
type RpcResourceValue = "resource" | { readonly resource: unknown };

type ResourceObjectProblem<TValue> = [TValue] extends [never]
  ? unknown
  : TValue extends { readonly resource: infer Options }
    ? AloneProblem<"resource", TValue> & { readonly resource: OptionsChecked<RpcResourceOptions, Options> }
    : unknown;

type RpcResourceProblem<TProcedure extends RpcProcedureType, TValue> = [TValue] extends [never]
  ? unknown
  : [TProcedure["kind"]] extends ["mutation"]
    ? TypeProblem<'a mutation cannot be a resource, which only reads: expose it as "tool"'>
    : undefined extends TProcedure["input"]
      ? ResourceObjectProblem<Exclude<TValue, string>>
      : Record<never, never> extends TProcedure["input"]
        ? ResourceObjectProblem<Exclude<TValue, string>>
        : TypeProblem<'a procedure with a required input cannot be a resource: expose it as "tool"'>;

// The values of a union are checked apart and the results intersected: one problem is enough.
/** `unknown` if a procedure may be exposed this way, else the problem. */
export type RpcExposureProblem<TProcedure, TValue> = TProcedure extends RpcProcedureType
  ? RpcResourceProblem<TProcedure, Extract<TValue, RpcResourceValue>> &
      ToolObjectProblem<TProcedure["kind"], Exclude<TValue, RpcResourceValue | "tool" | undefined>>
  : unknown;

// A text: an alias of the problem itself would hide the text in messages.
/** The problem of a key that is not a procedure. */
export type RpcUnknownKey<TKey> = `"${TKey & string}" is not a procedure of this router`;

/** The problem of a map with a number as a key: its name would be missing in the types. */
type NumberKeyProblem<TKeys> = number extends TKeys
  ? unknown
  : [Extract<TKeys, number>] extends [never]
    ? unknown
    : TypeProblem<"a key is a number, and names are texts: write it in quotes, also in the router">;

/** `unknown` if the keys of an expose map are literals with a name each, else problems by key. */
export type RpcKeysChecked<TExpose> = LiteralKeys<TExpose> &
  NumberKeyProblem<KeysOfUnion<TExpose>> &
  (MayCollide<ExposedToolKeys<TExpose>> extends true ? WireNamesChecked<ExposedToolKeys<TExpose>> : unknown);

/**
 * Types of procedures by key, an expose map -> the map, or problems by key. The type of a key that is not a procedure is `never`.
 */
export type RpcExposeChecked<TProcedures, TExpose> = {
  readonly [Key in keyof TExpose]: Key extends keyof TProcedures
    ? [TProcedures[Key]] extends [never]
      ? TypeProblem<RpcUnknownKey<Key>>
      : RpcExposureProblem<TProcedures[Key], TExpose[Key]>
    : unknown;
} & RpcKeysChecked<TExpose>;

/** The types by which an editor completes the value of one procedure, and the compiler types its functions. */
export type RpcExposureHint = string | { readonly tool: RpcToolOptions } | { readonly resource: RpcResourceOptions };

/** The types by which an editor completes an expose map. @typeParam THint - those of a value */
export type RpcExposeHints<TKeys extends string, THint = RpcExposureHint> = {
  // Every object has `constructor`, also a map without that key.
  readonly [_ in Exclude<TKeys, keyof typeof Object.prototype>]?: THint | undefined;
};

/** The keys of procedures that may change something: all that are not provably a query or a subscription. */
type RpcMutatingKeys<TProcedures> = {
  [Key in keyof TProcedures]: [TProcedures[Key]] extends [never]
    ? Key
    : TProcedures[Key] extends { readonly kind: "query" | "subscription" }
      ? never
      : Key;
}[keyof TProcedures];

/** Types of procedures by key, an expose map -> the names of the source. */
export interface RpcNames<TProcedures, TExpose> {
  readonly tools: ExposedToolKeys<TExpose>;
  readonly mutating: ExposedToolKeys<TExpose> & RpcMutatingKeys<TProcedures>;
  readonly resources: ExposedResourceKeys<TExpose>;
}
