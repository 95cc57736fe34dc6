import type { BespokePrompt, TextsProblem } from "../catalog/custom/bespoke-prompt.ts";
import type { BespokeResource, VariablesProblem } from "../catalog/custom/bespoke-resource.ts";
import type { AnyBespokeTool, BespokeTool } from "../catalog/custom/bespoke-tool.ts";
import type { WireName, WireNamesChecked } from "../catalog/wire-name.ts";
import type { LiteralKeys } from "../surface/define-surface.ts";
import type { MaybeSchema } from "../surface/member.ts";
import type { ToolOptions } from "../tags/tool-options.ts";
import type { DeclaredEffect, ToolOptionsProblem } from "../tags/mcp-tool.ts";
import type { KeysOfUnion, TypeProblem } from "../tags/type-problem.ts";
import type { AppNames, KnownNames, TakenTools } from "./app-names.ts";

/** The key of a hand-written entry: a tool may be named `1`. */
export type HandKey = string | number;

/** `unknown` if a bespoke tool may have this name, else the problem. */
type ToolNameProblem<TNames extends AppNames, TName extends string> =
  WireName<TName> extends TakenTools<TNames>
    ? TypeProblem<`the tool name "${WireName<TName>}" is taken by another tool`>
    : unknown;

// A tool reads only if every arm sets `mutates: false`, under a required key.
/** a tool -> its declared effect. */
export type EffectOfTool<TTool> = [TTool] extends [{ readonly mutates: infer Said }] ? DeclaredEffect<Said> : "mutates";

interface ReadsAndDestroys {
  readonly mutates: false;
  readonly destructive: true;
}

// One arm of a union is enough.
/** `unknown` if the effects of a bespoke tool agree, else the problem. */
type EffectProblem<TTool> = [Extract<TTool, ReadsAndDestroys>] extends [never]
  ? unknown
  : { readonly destructive: ToolOptionsProblem<ReadsAndDestroys> };

/** object, type of its options -> its unknown keys; of a union, those of all arms. */
type ExcessKeys<TGiven, TKnown> = Exclude<KeysOfUnion<Extract<TGiven, object>>, KeysOfUnion<Extract<TKnown, object>>>;

// The compiler reports unknown keys only in literals whose type is not inferred as a whole.
/** `unknown` if a bespoke tool and its options have known keys only, else a problem under each unknown key. */
type ToolKeysProblem<TTool> = [ExcessKeys<TTool, AnyBespokeTool>] extends [never]
  ? NestedKeysProblem<TTool, "confirm"> & NestedKeysProblem<TTool, "resource"> & NestedKeysProblem<TTool, "ui">
  : { readonly [Key in ExcessKeys<TTool, AnyBespokeTool>]: TypeProblem<`"${Key & string}" is not an option`> };

/** `unknown` if an option of a bespoke tool fits, else a problem under it. */
type NestedKeysProblem<TTool, TOption extends keyof ToolOptions> = TTool extends {
  readonly [_ in TOption]: infer Passed;
}
  ? [Passed] extends [ToolOptions[TOption]]
    ? [ExcessKeys<Passed, ToolOptions[TOption]>] extends [never]
      ? unknown
      : {
          readonly [
            _ in TOption
          ]: TypeProblem<`"${TOption}" has no "${ExcessKeys<Passed, ToolOptions[TOption]> & string}"`>;
        }
    : { readonly [_ in TOption]: TypeProblem<`"${TOption}" is not what this option takes`> }
  : unknown;

/** `unknown` if a schema was given or left out, else a problem under the key `TSide`. */
type SchemaProblem<TSide extends string, TGiven> = unknown extends TGiven
  ? unknown
  : [TGiven] extends [MaybeSchema]
    ? unknown
    : { readonly [_ in TSide]?: TypeProblem<`the ${TSide} must be a Standard Schema, such as z.object({ … })`> };

/** The names of tools; `string` for tools cast to `never` or `any`. */
export type ToolKeys<TTools> = [TTools] extends [never] ? string : KeysOfUnion<TTools> & HandKey;

// The first part proves keys and effects. The three maps behind it are inferred from the argument, and give each handler its
// arguments, its result and the tools that it may call. Where nothing can be inferred they are `unknown`: no input, any result, any tool.
/** names, tools, inputs by name, outputs by name, reaches by name -> the parameter of tools(). */
export type ToolsArgument<TSpec, TNames extends AppNames, TTools, TInputs, TOutputs, TReaches> = TTools & {
  readonly [Key in keyof TTools]: ToolNameProblem<TNames, `${Key & HandKey}`> &
    ToolKeysProblem<TTools[Key]> &
    EffectProblem<TTools[Key]> &
    (Key extends keyof TInputs
      ? SchemaProblem<"input", TInputs[Key]>
      : BespokeTool<undefined, TSpec, TNames["context"]>);
} & {
  readonly [Key in keyof TInputs]: BespokeTool<
    TInputs[Key],
    TSpec,
    TNames["context"],
    Key extends keyof TOutputs ? TOutputs[Key] : unknown,
    Key extends keyof TReaches ? TReaches[Key] : unknown
  >;
} & { readonly [Key in keyof TOutputs]: { readonly output?: TOutputs[Key] } } & {
  readonly [Key in keyof TReaches]: { readonly canCall?: TReaches[Key] };
} & LiteralKeys<TTools> &
  WireNamesChecked<KeysOfUnion<TTools> & string>;

// As with tools: the first map has the names, the second is inferred from the argument.
/** names, inputs by name -> the parameter of prompts(). */
export type PromptsArgument<TSpec, TNames extends AppNames, TKeys extends HandKey, TInputs> = {
  readonly [Key in TKeys]?: PromptNameProblem<TNames, `${Key}`> &
    (Key extends keyof TInputs
      ? SchemaProblem<"input", TInputs[Key]> & TextsProblem<TInputs[Key]>
      : BespokePrompt<undefined, TSpec, TNames["context"]>);
} & { readonly [Key in keyof TInputs]: BespokePrompt<TInputs[Key], TSpec, TNames["context"]> } & LiteralKeys<
    Record<TKeys, unknown>
  > &
  WireNamesChecked<TKeys & string>;

/** `unknown` if a prompt may have this name, else the problem. */
type PromptNameProblem<TNames extends AppNames, TName extends string> =
  WireName<TName> extends TNames["prompts"]
    ? TypeProblem<`the prompt name "${WireName<TName>}" is taken by another prompt`>
    : unknown;

/** keys, variables by key -> the parameter of resources(). */
export type ResourcesArgument<TSpec, TNames extends AppNames, TKeys extends HandKey, TVariables> = {
  readonly [Key in TKeys]?: ResourceKeyProblem<TNames, `${Key}`> &
    (Key extends keyof TVariables
      ? SchemaProblem<"variables", TVariables[Key]> & VariablesProblem<TVariables[Key]>
      : BespokeResource<undefined, TSpec, TNames["context"]>);
} & { readonly [Key in keyof TVariables]: BespokeResource<TVariables[Key], TSpec, TNames["context"]> } & LiteralKeys<
    Record<TKeys, unknown>
  >;

/** `unknown` if a hand-written resource may have this key, else the problem. */
type ResourceKeyProblem<TNames extends AppNames, TKey extends string> =
  TKey extends KnownNames<TNames["resources"]>
    ? TypeProblem<`the key "${TKey}" is taken by another resource`>
    : unknown;
