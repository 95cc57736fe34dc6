import type { BespokeTool } from "../catalog/bespoke-tool.ts";
import type {
  ExposeChecked,
  ExposedMutatingKeys,
  ExposedResourceKeys,
  ExposedToolKeys,
  ExposeValue,
} from "../catalog/expose.ts";
import type { WireName } from "../catalog/wire-name.ts";
import type { Link } from "../links/link.ts";
import type { ServableApp, ServeTarget, Serving } from "../mcp/servable-app.ts";
import type { LiteralKeys } from "../surface/define-surface.ts";
import type { Implementation } from "../surface/implementation.ts";
import type { kEffect, kExposure } from "../tags/symbols.ts";
import type { TypeProblem } from "../tags/type-problem.ts";
import type { kDefinition, AppDefinition } from "./app-definition.ts";

/** What an app's type remembers: its surface, and the names that an agent may reach. */
export interface AppNames {
  /** Names of tools, on the wire. A superset of what is reachable. */
  readonly tools: string;
  /** Keys of members that are resources. A superset of what is reachable. */
  readonly resources: string;
  /** Names of tools that may change something. A superset. */
  readonly mutating: string;
  /** The input schemas of bespoke tools, by name. */
  readonly inputs: object;
}

/** The keys of members that may carry a tag. A member whose tag the compiler cannot see counts as exposed. */
type TaggedKeys<TSpec, TTag> = {
  [Key in keyof TSpec]: TSpec[Key] extends { readonly [kExposure]: infer Exposure }
    ? TTag extends Exposure
      ? Key
      : never
    : never;
}[keyof TSpec] &
  string;

/** The keys of members that may be tools and may change something. */
type MutatingKeys<TSpec> = {
  [Key in keyof TSpec]: TSpec[Key] extends { readonly kind: "procedure"; readonly [kExposure]: infer Exposure }
    ? "tool" extends Exposure
      ? TSpec[Key] extends { readonly [kEffect]: "read" }
        ? never
        : Key
      : never
    : never;
}[keyof TSpec] &
  string;

/** What a surface's own tags expose. */
export interface TagNames<TSpec> extends AppNames {
  readonly tools: WireName<TaggedKeys<TSpec, "tool">>;
  readonly resources: TaggedKeys<TSpec, "resource">;
  readonly mutating: WireName<MutatingKeys<TSpec>>;
  readonly inputs: Record<never, never>;
}

/** The names after an expose map. */
export interface WithExposed<TSpec, TNames extends AppNames, TExpose> extends AppNames {
  readonly tools: TNames["tools"] | WireName<ExposedToolKeys<TExpose>>;
  readonly resources: TNames["resources"] | ExposedResourceKeys<TExpose>;
  readonly mutating: TNames["mutating"] | WireName<ExposedMutatingKeys<TSpec, TExpose>>;
  readonly inputs: TNames["inputs"];
}

/** The names of bespoke tools that may change something: all that do not say `mutates: false`. */
type MutatingTools<TMutates> = {
  [Key in keyof TMutates]: [TMutates[Key]] extends [false] ? never : Key;
}[keyof TMutates] &
  string;

/** The names after bespoke tools. */
export interface WithTools<TNames extends AppNames, TInputs, TMutates> extends AppNames {
  readonly tools: TNames["tools"] | WireName<keyof TMutates & string>;
  readonly resources: TNames["resources"];
  readonly mutating: TNames["mutating"] | WireName<MutatingTools<TMutates>>;
  readonly inputs: TNames["inputs"] & TInputs;
}

/** An objection on every key of an expose map whose name on the wire is taken by a tool. */
export type ExposeCollisions<TNames extends AppNames, TExpose> = {
  readonly [Key in keyof TExpose]: TExpose[Key] extends "resource"
    ? unknown
    : WireName<Key & string> extends TNames["tools"]
      ? TypeProblem<`the name "${WireName<Key & string>}" is taken by another tool`>
      : unknown;
};

/** `unknown` when a bespoke tool may have this name, else the sentence that says why not. */
type ToolNameProblem<TNames extends AppNames, TName extends string> =
  WireName<TName> extends TNames["tools"]
    ? TypeProblem<`the tool name "${WireName<TName>}" is taken by a member of the surface`>
    : unknown;

// Two maps over one argument, each inferred backwards: inputs give the handlers their arguments, mutates the proof. A
// tool that says nothing infers `unknown`, which reads as no input, and as mutating. The objection stands inside the
// first map: a third map over the same keys would be a rival candidate, and cost the handlers their arguments.
/** inputs by name, mutates by name -> the parameter of tools(). */
export type ToolsArgument<TSpec, TNames extends AppNames, TInputs, TMutates> = {
  readonly [Key in keyof TInputs]: BespokeTool<TInputs[Key], TSpec> & ToolNameProblem<TNames, Key & string>;
} & { readonly [Key in keyof TMutates]: { readonly mutates?: TMutates[Key] } } & LiteralKeys<TInputs>;

/**
 * An app without a link: it can be exposed, not yet served. `bridge()` or `implement()` comes next; the tools of
 * `tools()` need a client, so they come after that.
 */
export interface UnlinkedApp<TSpec, TNames extends AppNames> {
  /** Reaches a live surface that runs elsewhere. Its maker closes it. */
  bridge(link: Link): LinkedApp<TSpec, TNames>;
  /** Serves the surface fresh: each time the app is opened, these handlers implement it. */
  implement(handlers: Implementation<TSpec>): LinkedApp<TSpec, TNames>;
  /** Exposes untagged members, by name. What is left out stays unreachable. */
  expose<const $Expose extends Readonly<Record<string, ExposeValue | undefined>>>(
    map: $Expose & ExposeChecked<TSpec, $Expose> & ExposeCollisions<TNames, $Expose> & LiteralKeys<$Expose>,
  ): UnlinkedApp<TSpec, WithExposed<TSpec, TNames, $Expose>>;
  readonly tools: TypeProblem<"tools() needs a link: call .bridge(link) or .implement(handlers) first">;
  readonly serve: TypeProblem<"serve() needs a link: call .bridge(link) or .implement(handlers) first">;
  /** @internal */
  readonly [kDefinition]: AppDefinition;
}

/** An app that can be served. It can no longer be linked. */
export interface LinkedApp<TSpec, TNames extends AppNames> extends ServableApp {
  /** Exposes untagged members, by name. What is left out stays unreachable. */
  expose<const $Expose extends Readonly<Record<string, ExposeValue | undefined>>>(
    map: $Expose & ExposeChecked<TSpec, $Expose> & ExposeCollisions<TNames, $Expose> & LiteralKeys<$Expose>,
  ): LinkedApp<TSpec, WithExposed<TSpec, TNames, $Expose>>;
  /** Adds tools that are not members: an input, and a function over the live client. */
  tools<const $Inputs, const $Mutates>(
    tools: ToolsArgument<TSpec, TNames, $Inputs, $Mutates>,
  ): LinkedApp<TSpec, WithTools<TNames, $Inputs, $Mutates>>;
  /**
   * Starts serving. Default: over standard input and output.
   *
   * @throws SurfaceError with a boot code, before anything is served.
   */
  serve(target?: ServeTarget): Promise<Serving>;
  readonly bridge: TypeProblem<"this app is linked already: one bridge() or implement() an app">;
  readonly implement: TypeProblem<"this app is linked already: one bridge() or implement() an app">;
  /** @internal */
  readonly [kDefinition]: AppDefinition;
  /** For the type helpers only: there is no such value. */
  readonly __names?: (names: TNames) => TNames;
}
