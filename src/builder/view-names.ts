import type { GatewayToolName, ReplayToolName, WireName } from "../catalog/wire-name.ts";
import type { LiteralKeys } from "../surface/define-surface.ts";
import type { TypeProblem } from "../tags/type-problem.ts";
import type { SurfaceVerdict } from "../views/view-rules.ts";
import type { AppNames, NamesWith, TakenTools } from "./app-names.ts";

/** Options of `.views()`. */
export interface ViewsOptions<TReplay extends boolean = boolean> {
  /**
   * Adds the tool `replay`, which tells agents what a view shows. It names hidden entries and the rules, so disallow it in views of
   * callers who must not know them. @default false
   */
  readonly replay: TReplay;
}

/** The names after `.views()`: adds the tools of a gateway, and `replay`. */
export type WithViews<TNames extends AppNames, TInput, TReplay extends boolean> = NamesWith<
  TNames,
  {
    readonly tools: TNames["tools"] | FaceTools<TInput> | ReplayTools<TReplay>;
    readonly mutating: TNames["mutating"] | (FaceTools<TInput> & "call");
    readonly viewed: true;
  }
>;

/** `unknown` if `.views()` may be called, else the problem. */
export type ViewedProblem<TNames extends AppNames> = true extends TNames["viewed"]
  ? TypeProblem<"views() was called already: call it once an app">
  : unknown;

/** `unknown` if the app may have a gateway's tools, else the problem. */
type FaceProblem<TNames extends AppNames, TInput> = [FaceTools<TInput> & TakenTools<TNames>] extends [never]
  ? unknown
  : TypeProblem<`the tool name "${FaceTools<TInput> & TakenTools<TNames>}" is taken by another tool: a gateway needs it`>;

/** `unknown` if the app may have the tool `replay`, else the problem. */
export type ReplayProblem<TNames extends AppNames, TReplay extends boolean> = [
  ReplayTools<TReplay> & TakenTools<TNames>,
] extends [never]
  ? unknown
  : { readonly replay: TypeProblem<`the tool name "${ReplayToolName}" is taken by another tool`> };

/** The tools of a gateway, unless provably no view is one. */
type FaceTools<TInput> = [TInput] extends [never] ? GatewayToolName : GatewayIn<TInput>;

/** The tool `replay`, unless the option is provably `false`. */
type ReplayTools<TReplay> = [TReplay] extends [false]
  ? [TReplay] extends [never]
    ? ReplayToolName
    : never
  : ReplayToolName;

// Reads literals, and tells the forms of rules apart as the run time does. A source, or a type that is not literal, may hold any rules.
/** rules in any form -> the tools of a gateway if one of them may show it. */
type GatewayIn<TInput> = TInput extends readonly (infer Piece)[]
  ? GatewayInListed<Piece>
  : TInput extends RulesSource
    ? GatewayToolName
    : GatewayInPacket<TInput> | GatewayInNamed<TInput>;

/** A source of rules, as the run time recognises it: views may be named `get` and `subscribe` too. */
interface RulesSource {
  get(): unknown;
  subscribe(changed: never): unknown;
}

/** a rule or packet -> the tools of a gateway if it may show it. */
type GatewayInListed<TPiece> = [TPiece] extends [never]
  ? GatewayToolName
  : GatewayInPacket<TPiece> | (TPiece extends { readonly verdict: infer Verdict } ? GatewayOf<Verdict> : never);

// A view may be named "rules" too, but is not a list.
/** a packet -> the tools of a gateway if one of its rules may show it. */
type GatewayInPacket<TPacket> = TPacket extends { readonly rules: readonly (infer Rule)[] }
  ? GatewayInListed<Rule>
  : never;

// The texts of a packet are not views.
/** views by name -> the tools of a gateway if one of them may show it. */
type GatewayInNamed<TViews> = TViews extends object
  ? { [Name in keyof TViews]-?: GatewayOf<TViews[Name]> }[keyof TViews]
  : never;

// One arm of a union is enough.
/** a view -> the tools of a gateway if it may show it. */
type GatewayOf<TView> = [TView] extends [never]
  ? GatewayToolName
  : TView extends object
    ? TView extends { readonly face?: infer Face }
      ? "face" extends keyof TView
        ? GatewayFace<Face>
        : HiddenFace<TView>
      : HiddenFace<TView>
    : never;

/** a face -> the tools of a gateway if it may be `"gateway"`. */
type GatewayFace<TFace> = "gateway" extends TFace ? GatewayToolName : [TFace] extends [never] ? GatewayToolName : never;

// A view written inline is literal in all its fields. Any other has a declared type, which may have fewer fields than the view.
/** a view whose type has no face -> the tools of a gateway if the view may have one all the same. */
type HiddenFace<TView> = TView extends { readonly deny: string } | { readonly kind: "deny" } | readonly unknown[]
  ? never
  : true extends IsWide<TView[keyof TView]>
    ? GatewayToolName
    : never;

/** `true` for a field whose type is not literal. */
type IsWide<TField> = string extends TField
  ? true
  : boolean extends TField
    ? true
    : readonly string[] extends TField
      ? true
      : false;

/** Problems of the argument of `.views()`. Only views by name are checked; other forms of rules are read at boot. */
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
        | `skills/${string}`
        | ReplayTools<TReplay>,
        TInput
      >;

/** known names, views -> problems of views by name; none of other forms. */
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

/** `unknown` if a pattern may fit an entry, else the problem. */
type PatternProblem<TKnown extends string, TPattern extends string> = string extends TPattern
  ? TypeProblem<"the patterns of a view must be literal: write them inline, or add `as const`">
  : [NotThere<TKnown, TPattern>] extends [never]
    ? unknown
    : TypeProblem<`this app has no tool, resource or prompt "${NotThere<TKnown, TPattern>}": use its name or id, or a pattern with * or ?`>;

// Every arm of a union must exist.
/** patterns -> those that are no name: neither a wire name, nor an id, nor a host's spelling. */
type NotThere<TKnown extends string, TPattern extends string> = TPattern extends
  | `${string}*${string}`
  | `${string}?${string}`
  ? never
  : TPattern extends TKnown
    ? never
    : [WireName<TPattern | SpelledTool<TPattern>> & TKnown] extends [never]
      ? TPattern
      : never;

/** `mcp__server__tool`, `mcp__server__.tool`, `server(tool)` -> the tools that it may name: a server's name may hold `__` too. */
type SpelledTool<TPattern extends string> = TPattern extends `mcp__${infer Rest}`
  ? BehindServer<Rest>
  : TPattern extends `${string}(${infer Tool})`
    ? Tool
    : never;

/** `server__tool` -> `tool`, behind each `__`. */
type BehindServer<TText extends string> = TText extends `${string}__${infer Tool}`
  ? (Tool extends `.${infer Plain}` ? Plain : Tool) | BehindServer<Tool>
  : never;
