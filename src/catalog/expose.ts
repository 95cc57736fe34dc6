import type { ResourceKindProblem, ResourceOptionsOf } from "../tags/mcp-resource.ts";
import type {
  ConfirmOptionProblem,
  ContradictionProblem,
  InputOf,
  DeclaredEffect,
  ToolKindProblem,
} from "../tags/mcp-tool.ts";
import type { ProvablyReads } from "../tags/read-only.ts";
import type { kExposure, Taggable } from "../tags/tag-of.ts";
import type { CollectionResourceOptions, Confirm, ToolOptions } from "../tags/tool-options.ts";
import type { KeysOfUnion, TypeProblem } from "../tags/type-problem.ts";

/** The value of one member in an expose map. */
export type ExposeValue =
  | "resource"
  | "tool"
  | { readonly tool: ToolOptions }
  | { readonly resource: CollectionResourceOptions };

/** The exposures as a resource that are legal for a member. */
type ResourceFor<TMember extends { readonly kind: string }> =
  | "resource"
  | { readonly resource: ResourceOptionsOf<TMember> };

/** The exposures that are legal for a member by its kind. */
type ExposureFor<TMember> = TMember extends { readonly kind: "procedure" }
  ? "tool" | { readonly tool: ToolOptions }
  : TMember extends { readonly kind: "cell" | "collection" }
    ? ResourceFor<TMember>
    : TMember extends { readonly kind: string }
      ? "tool" | { readonly tool: ToolOptions } | ResourceFor<TMember>
      : ExposeValue;

/** The expose map of a surface: its untagged members, each by its kind. A member that is left out is not exposed. */
export type Expose<TSpec> = {
  readonly [Key in keyof TSpec as TSpec[Key] extends { readonly [kExposure]: "none" } ? Key : never]?: ExposureFor<
    TSpec[Key]
  >;
};

/** The tool options of an expose value; of a union, those of every arm. */
type OptionsOf<TValue> = TValue extends { readonly tool: infer Options } ? Options : never;

/** The names of invalid tool options; of a union, those of every arm. */
type BadOptions<TOptions> = TOptions extends unknown
  ? {
      [Option in keyof TOptions]-?: Option extends keyof ToolOptions
        ? [TOptions[Option]] extends [ToolOptions[Option]]
          ? never
          : Option
        : Option;
    }[keyof TOptions]
  : never;

/** The keys beside `tool` in expose values. */
type BesideTool<TValue> = Exclude<KeysOfUnion<Exclude<TValue, string>>, "tool">;

// The compiler itself lets an excess key deep inside a literal through, and in a variable at any depth.
/** `unknown` when the options of a tool fit, else the sentence that says which do not. */
type OptionsProblem<TValue> = 0 extends 1 & OptionsOf<TValue>
  ? TypeProblem<"the options of this tool are `any`: write them inline">
  : [BesideTool<TValue>] extends [never]
    ? [BadOptions<OptionsOf<TValue>>] extends [never]
      ? unknown
      : {
          readonly tool: {
            readonly [Option in BadOptions<OptionsOf<TValue>>]: Option extends keyof ToolOptions
              ? TypeProblem<`"${Option}" is not what this tool option takes`>
              : TypeProblem<`"${Option & string}" is not an option`>;
          };
        }
    : TypeProblem<`"${BesideTool<TValue> & string}" does not belong beside "tool"`>;

/** The expose values that make a resource. */
type ResourceValue = "resource" | { readonly resource: object };

/** The names of resource options that the member's kind does not have. */
type BadResourceOptions<TMember extends Taggable, TValue> = TValue extends { readonly resource: infer Options }
  ? Exclude<keyof Options, keyof ResourceOptionsOf<TMember>> | Exclude<keyof TValue, "resource">
  : never;

/** `unknown` when the member may be exposed by the resource values of a union, else the sentence that says why not. */
type ResourceValueProblem<TMember extends Taggable, TValue> = [TValue] extends [never]
  ? unknown
  : [TValue] extends ["resource"]
    ? ResourceKindProblem<TMember>
    : ResourceKindProblem<TMember> &
        ([BadResourceOptions<TMember, TValue>] extends [never]
          ? [TValue] extends [ResourceFor<TMember>]
            ? unknown
            : { readonly resource: ResourceOptionsOf<TMember> }
          : TypeProblem<`"${BadResourceOptions<TMember, TValue> & string}" is not an option`>);

/** The expose values that make a tool. */
type ToolValue = "tool" | { readonly tool: object };

/** `unknown` when the member may be exposed by the tool values of a union, else the sentence that says why not. */
type ToolValueProblem<TMember extends Taggable, TValue> = [TValue] extends [never]
  ? unknown
  : [TValue] extends ["tool"]
    ? ToolKindProblem<TMember>
    : [TValue] extends [ToolValue]
      ? ToolKindProblem<TMember> &
          OptionsProblem<TValue> &
          ContradictionProblem<TMember, OptionsOf<TValue>> &
          ("confirm" extends KeysOfUnion<OptionsOf<TValue>>
            ? ConfirmOptionProblem<TMember, OptionsOf<TValue>>
            : unknown)
      : TypeProblem<'expose a member as "tool", "resource", { tool: { … } } or { resource: { … } }'>;

// The two kinds of value are checked apart and the results intersected: one problem is enough for a union.
/** `unknown` when the member may be exposed this way, else the sentence that says why not. */
type ExposureProblem<TMember, TValue> = [TMember] extends [Taggable & { readonly [kExposure]: "none" }]
  ? ResourceValueProblem<TMember, Extract<TValue, ResourceValue>> &
      ToolValueProblem<TMember, Exclude<TValue, ResourceValue | undefined>>
  : TypeProblem<"this member is tagged already: expose it in one place">;

/** The options of a tool, whose `confirm` knows the input of the member and the client of the app. */
interface TypedTool<TMember, TSpec> {
  readonly tool: { readonly confirm?: Confirm<InputOf<TMember>, TSpec> };
}

/** The options of a resource, whose `list` knows the keys and items of the member. */
interface TypedResource<TMember extends { readonly kind: string }> {
  readonly resource: { readonly list?: ResourceOptionsOf<TMember>["list"] };
}

/** The types by which the compiler types the functions of `confirm` and `list` in an expose map. */
export type ExposeTyped<TSpec> = {
  readonly [Key in keyof TSpec]?:
    | string
    | object
    | TypedTool<TSpec[Key], TSpec>
    | (TSpec[Key] extends { readonly kind: "collection" } ? TypedResource<TSpec[Key]> : never);
};

// The parameter of expose(): the map itself, with a problem on every invalid key. Mapped over the map's own keys, to catch excess
// keys also of a map in a variable.
/** The expose map, or problems by key. */
export type ExposeChecked<TSpec, TExpose> = {
  readonly [Key in keyof TExpose]: Key extends keyof TSpec
    ? TExpose[Key] & ExposureProblem<TSpec[Key], TExpose[Key]>
    : TypeProblem<`"${Key & string}" is not a member of this surface`>;
};

// Each of the three maps distributes over a union of expose maps, and leaves out a key only if its whole value says so.
// A value asserted to be `never` counts as each of its kinds, and such a map as every name.
/** The keys of an expose map that make tools. A widened value counts: the proof is a superset. */
export type ExposedToolKeys<TExpose> = [TExpose] extends [never]
  ? string
  : TExpose extends unknown
    ? {
        [Key in keyof TExpose]: [TExpose[Key]] extends [never]
          ? Key
          : TExpose[Key] extends ResourceValue | undefined
            ? never
            : Key;
      }[keyof TExpose] &
        string
    : never;

/** The keys of an expose map that make resources. A widened value counts: the proof is a superset. */
export type ExposedResourceKeys<TExpose> = [TExpose] extends [never]
  ? string
  : TExpose extends unknown
    ? {
        [Key in keyof TExpose]: [TExpose[Key]] extends [never]
          ? Key
          : "resource" extends TExpose[Key]
            ? Key
            : [Extract<TExpose[Key], { readonly resource: unknown }>] extends [never]
              ? never
              : Key;
      }[keyof TExpose] &
        string
    : never;

/** An expose value that says, in a literal, that the tool changes nothing; `any` and `never` do not say so. */
type SaysReadOnly<TValue> = [TValue] extends [never]
  ? false
  : TValue extends { readonly tool: { readonly mutates: infer Said } }
    ? DeclaredEffect<Said> extends "read"
      ? true
      : false
    : TValue extends ResourceValue | undefined
      ? true
      : false;

/** The keys of an expose map that make tools which may change something. */
export type ExposedMutatingKeys<TSpec, TExpose> = [TExpose] extends [never]
  ? string
  : TExpose extends unknown
    ? {
        [Key in keyof TExpose]: Key extends keyof TSpec
          ? [ProvablyReads<TSpec[Key]>] extends [true]
            ? never
            : [SaysReadOnly<TExpose[Key]>] extends [true]
              ? never
              : Key
          : Key;
      }[keyof TExpose] &
        string
    : never;

/** The keys of an expose map, all of them. */
export type ExposedKeys<TExpose> = [TExpose] extends [never] ? string : KeysOfUnion<TExpose> & string;
