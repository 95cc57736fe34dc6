import type { GatewayToolName, ReplayToolName } from "../catalog/own-tool-names.ts";
import type { WireName } from "../catalog/wire-name.ts";
import type { LiteralKeys } from "../surface/define-surface.ts";
import type { TypeProblem } from "../tags/type-problem.ts";
import type { SurfaceVerdict } from "../views/view-rules.ts";
import type { AppNames, KnownNames, NamesWith } from "./app-names.ts";

/** What `.views()` may be told besides. */
export interface ViewsOptions<TReplay extends boolean = boolean> {
  /**
   * Adds the tool `replay`, by which agents ask what a view shows. Whoever may call it is told the names of what views hide, and the
   * rules: disallow it in the views of those who should not be. Without options there is none.
   */
  readonly replay: TReplay;
}

/** The names after `.views()`: those of the faces that a view may have, and of what was asked for besides. */
export type WithViews<TNames extends AppNames, TInput, TReplay extends boolean> = NamesWith<
  TNames,
  {
    readonly tools: TNames["tools"] | FaceTools<TInput> | ReplayTools<TReplay>;
    readonly mutating: TNames["mutating"] | (FaceTools<TInput> & "call");
    readonly viewed: true;
  }
>;

/** `unknown` when `.views()` may be called, else the sentence that says why not. */
export type ViewedProblem<TNames extends AppNames> = true extends TNames["viewed"]
  ? TypeProblem<"it was said already who sees what: one views() an app">
  : unknown;

/** `unknown` when the app may have these faces, else the sentence that says why not. */
type FaceProblem<TNames extends AppNames, TInput> = [FaceTools<TInput> & KnownNames<TNames["tools"]>] extends [never]
  ? unknown
  : TypeProblem<`the tool name "${FaceTools<TInput> & TNames["tools"]}" is taken by another tool: a gateway needs it`>;

/** `unknown` when the app may have the tool that replays, else the sentence that says why not. */
export type ReplayProblem<TNames extends AppNames, TReplay extends boolean> = [
  ReplayTools<TReplay> & KnownNames<TNames["tools"]>,
] extends [never]
  ? unknown
  : { readonly replay: TypeProblem<`the tool name "${ReplayToolName}" is taken by another tool`> };

/** What the option that asks for that tool may be where views are another option beside it. */
export type ReplayArgument<TNames extends AppNames, TInput, TReplay extends boolean> = TReplay &
  (ReplayProblem<TNames, TReplay> extends { readonly replay: infer Problem } ? Problem : unknown) &
  ([TReplay, TInput] extends [true, undefined] ? TypeProblem<"what replays views needs them: add `views`"> : unknown);

/** The tools of a gateway, unless no view can have that face. */
type FaceTools<TInput> = [TInput] extends [never] ? GatewayToolName : GatewayIn<TInput>;

/** The tool that replays, unless it was provably not asked for. */
type ReplayTools<TReplay> = [TReplay] extends [false]
  ? [TReplay] extends [never]
    ? ReplayToolName
    : never
  : ReplayToolName;

// What is written as a literal is looked into, and a form of rules is known by what the run time knows it by; what only has their
// type, or a source's, may say anything.
/** rules in any form -> the tools of a gateway, where one of them may have that face. */
type GatewayIn<TInput> = TInput extends readonly (infer Piece)[]
  ? GatewayInListed<Piece>
  : TInput extends RulesSource
    ? GatewayToolName
    : GatewayInPacket<TInput> | GatewayInNamed<TInput>;

/** What the run time takes for a source. Views may be called as its methods are. */
interface RulesSource {
  get(): unknown;
  subscribe(changed: never): unknown;
}

/** a rule, a packet -> the tools of a gateway, where it may have that face. */
type GatewayInListed<TPiece> = [TPiece] extends [never]
  ? GatewayToolName
  : GatewayInPacket<TPiece> | (TPiece extends { readonly verdict: infer Verdict } ? GatewayOf<Verdict> : never);

// A view may be called "rules" as well: that one is no list.
/** a packet -> the tools of a gateway, where one of its rules may have that face. */
type GatewayInPacket<TPacket> = TPacket extends { readonly rules: readonly (infer Rule)[] }
  ? GatewayInListed<Rule>
  : never;

// What a packet says of itself is no view, and has no face.
/** views by name -> the tools of a gateway, where one of them may have that face. */
type GatewayInNamed<TViews> = TViews extends object
  ? { [Name in keyof TViews]-?: GatewayOf<TViews[Name]> }[keyof TViews]
  : never;

// Of a choice, one arm is enough.
/** a view -> the tools of a gateway, where it may have that face. */
type GatewayOf<TView> = [TView] extends [never]
  ? GatewayToolName
  : TView extends object
    ? TView extends { readonly face?: infer Face }
      ? "face" extends keyof TView
        ? GatewayFace<Face>
        : HiddenFace<TView>
      : HiddenFace<TView>
    : never;

/** a face -> the tools of a gateway, where it may be that one. */
type GatewayFace<TFace> = "gateway" extends TFace ? GatewayToolName : [TFace] extends [never] ? GatewayToolName : never;

// Inline, all of a view is literal. What is not has a type that somebody wrote, which may say less than the view does.
/** a view whose type says no face -> the tools of a gateway, where it may have one that its type keeps to itself. */
type HiddenFace<TView> = TView extends { readonly deny: string } | { readonly kind: "deny" } | readonly unknown[]
  ? never
  : true extends IsWide<TView[keyof TView]>
    ? GatewayToolName
    : never;

/** Whether a field may hold what is not literal. */
type IsWide<TField> = string extends TField
  ? true
  : boolean extends TField
    ? true
    : readonly string[] extends TField
      ? true
      : false;

/** Objections to what is passed to `.views()`. Rules in other forms than views by name are read at boot. */
export type ViewsChecked<TNames extends AppNames, TInput, TReplay extends boolean> = TInput extends
  | readonly []
  | Record<PropertyKey, never>
  ? TypeProblem<"there must be a view: name one, or leave views() out">
  : FaceProblem<TNames, TInput> &
      NamedChecked<
        | TNames["tools"]
        | TNames["prompts"]
        | TNames["resources"]
        | WireName<TNames["resources"]>
        | ReplayTools<TReplay>,
        TInput
      >;

/** names of what there is, views -> objections to views by name; none to rules in other forms. */
type NamedChecked<TKnown extends string, TInput> = TInput extends
  | readonly unknown[]
  | { readonly domain: string }
  | RulesSource
  ? unknown
  : { readonly [Name in keyof TInput]: ViewChecked<TKnown, TInput[Name]> } & LiteralKeys<TInput>;

type ViewChecked<TKnown extends string, TView> = TView extends { readonly deny: string }
  ? { readonly [Field in Exclude<keyof TView, "deny">]: TypeProblem<"a view that denies says why, and nothing else"> }
  : { readonly [Field in keyof TView]: FieldChecked<TKnown, Field, TView[Field]> };

type FieldChecked<TKnown extends string, TField, TValue> = TField extends "allow" | "disallow"
  ? { readonly [Index in keyof TValue]: PatternProblem<TKnown, TValue[Index] & string> }
  : TField extends keyof SurfaceVerdict | "deny"
    ? unknown
    : TypeProblem<`a view has no "${TField & string}"`>;

/** `unknown` when a pattern may fit something of the app, else the sentence that says why not. */
type PatternProblem<TKnown extends string, TPattern extends string> = string extends TPattern
  ? TypeProblem<"the patterns of a view must be literal: write them inline, or add `as const`">
  : [NotThere<TKnown, TPattern>] extends [never]
    ? unknown
    : TypeProblem<`this app has no tool, resource or prompt "${NotThere<TKnown, TPattern>}": use its name or id, or a pattern with * or ?`>;

// Of a choice, every arm has to be there.
/** patterns -> those that are the name of nothing: in full, by an id, or spelled as hosts do. */
type NotThere<TKnown extends string, TPattern extends string> = TPattern extends
  | `${string}*${string}`
  | `${string}?${string}`
  ? never
  : TPattern extends TKnown
    ? never
    : [WireName<TPattern | SpelledTool<TPattern>> & TKnown] extends [never]
      ? TPattern
      : never;

/** `mcp__server__tool`, `mcp__server__.tool`, `server(tool)` -> the tools that it may mean: a server's name may hold `__` too. */
type SpelledTool<TPattern extends string> = TPattern extends `mcp__${infer Rest}`
  ? BehindServer<Rest>
  : TPattern extends `${string}(${infer Tool})`
    ? Tool
    : never;

/** `server__tool` -> `tool`, behind each `__`. */
type BehindServer<TText extends string> = TText extends `${string}__${infer Tool}`
  ? (Tool extends `.${infer Plain}` ? Plain : Tool) | BehindServer<Tool>
  : never;
