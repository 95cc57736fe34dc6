import type { BespokePrompt, TextsProblem } from "../catalog/bespoke-prompt.ts";
import type { BespokeResource, VariablesProblem } from "../catalog/bespoke-resource.ts";
import type { BespokeTool } from "../catalog/bespoke-tool.ts";
import type { WireName } from "../catalog/wire-name.ts";
import type { LiteralKeys } from "../surface/define-surface.ts";
import type { SaidEffect, ToolOptionsProblem } from "../tags/mcp-tool.ts";
import type { TypeProblem } from "../tags/type-problem.ts";
import type { AppNames, KnownNames } from "./app-names.ts";

/** What may name what is written by hand: a tool called `1` is a tool too. */
export type HandKey = string | number;

/** `unknown` when a bespoke tool may have this name, else the sentence that says why not. */
type ToolNameProblem<TNames extends AppNames, TName extends string> =
  WireName<TName> extends KnownNames<TNames["tools"]>
    ? TypeProblem<`the tool name "${WireName<TName>}" is taken by another tool`>
    : unknown;

// Only where every arm says so, under a key that is there for certain: what may be absent mutates.
/** a tool, or what is known of it -> the effect that it says. */
export type EffectOfTool<TTool> = [TTool] extends [{ readonly mutates: infer Said }] ? SaidEffect<Said> : "mutates";

// Inference looks into both arms of a type that is still undecided, so that the first, which no tool takes, is where it
// finds the tool as a whole. What reads is asked to say so, for those who write the type arguments themselves.
/** a tool -> an objection when it contradicts itself. */
type Consistent<TTool> = [TTool] extends [never]
  ? TTool
  : EffectOfTool<TTool> extends "read"
    ? { readonly mutates: false; readonly destructive?: boolean & ToolOptionsProblem<ReadsAndDestroys> }
    : unknown;

/** Options that contradict themselves. */
interface ReadsAndDestroys {
  readonly mutates: false;
  readonly destructive: true;
}

// Three maps over one argument. The first tells the names, and does so whatever else can be told: names are the proof.
// The others are inferred backwards: inputs give the handlers their arguments, whole tools the rest of the proof. What
// cannot be inferred is `unknown`, which reads as no input, and as mutating; for a tool that has no place in the second
// map, the first stands in.
/** names, inputs by name, tools by name -> the parameter of tools(). */
export type ToolsArgument<TSpec, TNames extends AppNames, TKeys extends HandKey, TInputs, TTools> = {
  readonly [Key in TKeys]?: ToolNameProblem<TNames, `${Key}`> &
    (Key extends keyof TInputs ? unknown : BespokeTool<undefined, TSpec, TNames["context"]>);
} & { readonly [Key in keyof TInputs]: BespokeTool<TInputs[Key], TSpec, TNames["context"]> } & {
  readonly [Key in keyof TTools]: Consistent<TTools[Key]>;
} & LiteralKeys<Record<TKeys, unknown>>;

// As with tools: the first map tells the names, whatever else can be told, the second is inferred backwards.
/** names, inputs by name -> the parameter of prompts(). */
export type PromptsArgument<TSpec, TNames extends AppNames, TKeys extends HandKey, TInputs> = {
  readonly [Key in TKeys]?: PromptNameProblem<TNames, `${Key}`> &
    (Key extends keyof TInputs ? TextsProblem<TInputs[Key]> : BespokePrompt<undefined, TSpec, TNames["context"]>);
} & { readonly [Key in keyof TInputs]: BespokePrompt<TInputs[Key], TSpec, TNames["context"]> } & LiteralKeys<
    Record<TKeys, unknown>
  >;

/** `unknown` when a prompt may have this name, else the sentence that says why not. */
type PromptNameProblem<TNames extends AppNames, TName extends string> =
  WireName<TName> extends TNames["prompts"]
    ? TypeProblem<`the prompt name "${WireName<TName>}" is taken by another prompt`>
    : unknown;

/** keys, variables by key -> the parameter of resources(). */
export type ResourcesArgument<TSpec, TNames extends AppNames, TKeys extends HandKey, TVariables> = {
  readonly [Key in TKeys]?: ResourceKeyProblem<TNames, `${Key}`> &
    (Key extends keyof TVariables
      ? VariablesProblem<TVariables[Key]>
      : BespokeResource<undefined, TSpec, TNames["context"]>);
} & { readonly [Key in keyof TVariables]: BespokeResource<TVariables[Key], TSpec, TNames["context"]> } & LiteralKeys<
    Record<TKeys, unknown>
  >;

/** `unknown` when a hand-written resource may have this key, else the sentence that says why not. */
type ResourceKeyProblem<TNames extends AppNames, TKey extends string> =
  TKey extends KnownNames<TNames["resources"]>
    ? TypeProblem<`the key "${TKey}" is taken by another resource`>
    : unknown;
