import type {
  ExposeChecked,
  ExposeTyped,
  ExposedKeys,
  ExposedMutatingKeys,
  ExposedResourceKeys,
  ExposedToolKeys,
} from "../catalog/expose.ts";
import type { Calls } from "../call/call-node.ts";
import type { MountSource } from "../catalog/mounts/mount.ts";
import type { ContextFactory } from "../catalog/context/own-context.ts";
import type { PullToolName } from "../catalog/resources/pull-tools.ts";
import type { CollisionSentence, MayCollide, WireName, WireNamesChecked } from "../catalog/wire-name.ts";
import type { Link } from "../links/link.ts";
import type { ServableApp, ServeTarget, Serving } from "../mcp/servable-app.ts";
import type { LiteralKeys } from "../surface/define-surface.ts";
import type { kChannel } from "../surface/implement-surface.ts";
import type { Implementation } from "../surface/implementation.ts";
import type { ProvablyReads } from "../tags/read-only.ts";
import type { Exposure, kExposure } from "../tags/tag-of.ts";
import type { ConfirmOptions } from "../tags/tool-options.ts";
import type { TypeProblem } from "../tags/type-problem.ts";
import type { ViewReplay } from "../views/replay-view.ts";
import type { ViewsInput } from "../views/view-rules.ts";
import type { kDefinition, AppDefinition } from "./app-definition.ts";
import type { AppNames, ExposedNames, KnownNames, NamesWith } from "./app-names.ts";
import type {
  EffectOfTool,
  HandKey,
  PromptsArgument,
  ResourcesArgument,
  ToolKeys,
  ToolsArgument,
} from "./hand-arguments.ts";
import type { PrefixProblem, WithMount } from "./mount-names.ts";
import type { ConfirmProblem, ContextProblem, WithConfirm, WithContext } from "./once-names.ts";
import type { ReplayOptions } from "./replay-app.ts";
import type { ReplayProblem, ViewedProblem, ViewsChecked, ViewsOptions, WithViews } from "./view-names.ts";

/** Where an app's type keeps its names. There is no such symbol at run time. */
declare const kNames: unique symbol;

// A key is let go only when its member is provably not exposed: a tag that the compiler cannot see counts, and so does
// one that was asserted away, as `any` or `never`. Both maps distribute, since the keys of a union of specs are those
// that its arms share.
/** The keys of members that may carry a tag. */
type TaggedKeys<TSpec, TTag extends Exposure> = [TSpec] extends [never]
  ? string
  : TSpec extends unknown
    ? {
        [Key in keyof TSpec]: TSpec[Key] extends { readonly [kExposure]: infer Tag } ? MayBe<TTag, Tag, Key> : Key;
      }[keyof TSpec] &
        string
    : never;

/** `TThen` unless a tag that is known as `TKnown` is provably not `TTag`. */
type MayBe<TTag extends Exposure, TKnown, TThen> = [TKnown] extends [never]
  ? TThen
  : [TTag] extends [TKnown]
    ? TThen
    : never;

/** The keys of members that may be tools and may change something. */
type MutatingKeys<TSpec> = [TSpec] extends [never]
  ? string
  : TSpec extends unknown
    ? {
        [Key in TaggedKeys<TSpec, "tool">]: [ProvablyReads<TSpec[Key & keyof TSpec]>] extends [true] ? never : Key;
      }[TaggedKeys<TSpec, "tool">]
    : never;

// The three that follow are conditional types for the sake of editors, which then show the names instead of an alias and
// everything that went into it.
/** What a surface's own tags expose. */
export type TagNames<TSpec> = [TSpec] extends [infer Members]
  ? ExposedNames<
      WireName<TaggedKeys<Members, "tool">>,
      TaggedKeys<Members, "resource">,
      WireName<MutatingKeys<Members>>
    >
  : never;

// Distributes, since keys of different specs of a choice are never together.
/** The sentences about tagged members of a surface with one name on the wire; `never` when all names differ. */
export type TagCollision<TSpec> = TSpec extends unknown
  ? MayCollide<keyof TSpec> extends true
    ? CollisionSentence<TaggedKeys<TSpec, "tool">>
    : never
  : never;

/** The names after an expose map. */
export type WithExposed<TSpec, TNames extends AppNames, TExpose> = [TExpose] extends [infer Map]
  ? NamesWith<
      TNames,
      {
        readonly tools: TNames["tools"] | WireName<ExposedToolKeys<Map>>;
        readonly resources: TNames["resources"] | ExposedResourceKeys<Map>;
        readonly mutating: TNames["mutating"] | WireName<ExposedMutatingKeys<TSpec, Map>>;
        readonly exposed: TNames["exposed"] | ExposedKeys<Map>;
      }
    >
  : never;

// Distributes over a choice of records, so that the keys of all count.
/** The names of bespoke tools that may change something: all without a literal `mutates: false`. */
type MutatingTools<TTools> = [TTools] extends [never]
  ? string
  : TTools extends unknown
    ? {
        [Key in keyof TTools & HandKey]-?: EffectOfTool<TTools[Key]> extends "read" ? never : Key;
      }[keyof TTools & HandKey]
    : never;

// Tools without an output are left out, so that declarations stay short.
/** names, output schemas by name -> the output schemas after bespoke tools. */
type OutputsWith<TNames extends AppNames, TOutputs> = [KnownKeys<TOutputs>] extends [never]
  ? TNames["outputs"]
  : TNames["outputs"] & Pick<TOutputs, KnownKeys<TOutputs>>;

/** The keys of a record whose values are known. */
type KnownKeys<TRecord> = { [Key in keyof TRecord]: unknown extends TRecord[Key] ? never : Key }[keyof TRecord];

/** The names after bespoke tools. */
export type WithTools<TNames extends AppNames, TTools, TInputs, TOutputs = unknown> = [TInputs] extends [infer Inputs]
  ? NamesWith<
      TNames,
      {
        readonly tools: TNames["tools"] | WireName<`${ToolKeys<TTools>}`>;
        readonly mutating: TNames["mutating"] | WireName<`${MutatingTools<TTools>}`>;
        readonly inputs: TNames["inputs"] & Inputs;
        readonly outputs: OutputsWith<TNames, TOutputs>;
        readonly done: TNames["done"] | "context";
      }
    >
  : never;

/** The names after `pull()`. */
export type WithPull<TNames extends AppNames> = NamesWith<
  TNames,
  {
    readonly tools: TNames["tools"] | PullToolName;
  }
>;

/** The names after prompts. */
export type WithPrompts<TNames extends AppNames, TKeys extends HandKey> = NamesWith<
  TNames,
  {
    readonly prompts: TNames["prompts"] | WireName<`${TKeys}`>;
    readonly done: TNames["done"] | "context";
  }
>;

/** The names after hand-written resources. */
export type WithResources<TNames extends AppNames, TKeys extends HandKey> = NamesWith<
  TNames,
  {
    readonly resources: TNames["resources"] | `${TKeys}`;
    readonly written: TNames["written"] | `${TKeys}`;
    readonly done: TNames["done"] | "context";
  }
>;

/** `unknown` when `pull()` may add its tools, else the sentence that says why not. */
export type PullProblem<TNames extends AppNames> = [PullToolName & KnownNames<TNames["tools"]>] extends [never]
  ? unknown
  : TypeProblem<`the tool name "${PullToolName & TNames["tools"]}" is taken: by another tool, or by pull() before`>;

/** The sentence for a key whose tool has the name of another tool; a tagged member itself has that name, and its own sentence. */
type ToolCollision<TSpec, TKey> = TKey extends keyof TSpec
  ? TSpec[TKey] extends { readonly [kExposure]: "none" }
    ? TypeProblem<`the name "${WireName<TKey & string>}" is taken by another tool`>
    : unknown
  : unknown;

/** An objection on every key of an expose map that was exposed before, or whose name on the wire is taken by a tool. */
export type ExposeCollisions<TSpec, TNames extends AppNames, TExpose> = {
  readonly [Key in keyof TExpose]: Key extends TNames["exposed"]
    ? TypeProblem<`"${Key & string}" is exposed already: expose it in one place`>
    : TExpose[Key] extends "resource"
      ? Key extends TNames["written"]
        ? TypeProblem<`the key "${Key & string}" is taken by a hand-written resource`>
        : unknown
      : WireName<Key & string> extends TNames["tools"]
        ? ToolCollision<TSpec, Key>
        : unknown;
} & WireNamesChecked<ExposedToolKeys<TExpose>>;

// The first part of the parameter, so that the compiler names it before `connect`.
/** Refuses a live surface, which is not a link, with a sentence. */
export interface NotLive {
  readonly [kChannel]?: TypeProblem<"bridge() takes a link; wrap the live surface: inProcess(live)">;
}

/** An app with or without a link. */
type Stage<TLinked, TNames extends AppNames, TSpec> = TLinked extends true
  ? LinkedApp<TNames, TSpec>
  : UnlinkedApp<TNames, TSpec>;

/** The steps of an app with or without a link. */
interface Steps<TLinked, TNames extends AppNames, TSpec> {
  /** Exposes untagged members, by name. What is left out stays unreachable. */
  expose<const $Expose>(
    map: $Expose &
      NoInfer<ExposeChecked<TSpec, $Expose>> &
      NoInfer<ExposeCollisions<TSpec, TNames, $Expose>> &
      LiteralKeys<$Expose> &
      ExposeTyped<TSpec>,
  ): Stage<TLinked, WithExposed<TSpec, TNames, $Expose>, TSpec>;
  /**
   * Adds `read_resource` and `wait_for_change`, over the resources that are exposed: for hosts that show agents neither
   * resources nor notices. Once an app.
   */
  pull(this: PullProblem<TNames>): Stage<TLinked, WithPull<TNames>, TSpec>;
  /**
   * Gives every handler something of its own, as `context.context`: what the factory makes for each call, when the handler first asks
   * for it. What can be disposed of (`Symbol.dispose`, `Symbol.asyncDispose`) is, when the handler has come to an end, so hand out what
   * several calls share within an object. Default: a `MemoryContext` for each call. Once an app, and before `tools()`, `prompts()` and
   * `resources()`.
   */
  context<$Context>(
    this: ContextProblem<TNames>,
    factory: ContextFactory<$Context>,
  ): Stage<TLinked, WithContext<TNames, $Context>, TSpec>;
  /**
   * Has users asked before a tool runs that may change something, with its title and actual arguments, unless the tool says of itself
   * whether they are. What a model says is never consent. Once an app.
   */
  confirm(
    this: ConfirmProblem<TNames>,
    which: "mutating",
    options?: ConfirmOptions,
  ): Stage<TLinked, WithConfirm<TNames>, TSpec>;
}

// The names are the first type argument of every stage: an editor prints that in full, and cuts off a spec of some members.
/**
 * An app without a link: it can be exposed, not yet served. `bridge()` or `implement()` comes next; the handlers of
 * `tools()`, `prompts()` and `resources()` need a client, so they come after that.
 */
export interface UnlinkedApp<TNames extends AppNames, TSpec> extends Steps<false, TNames, TSpec> {
  /** Reaches a live surface that runs elsewhere. Its maker closes it. */
  bridge(link: NotLive & Link): LinkedApp<TNames, TSpec>;
  /** Serves the surface fresh: each time the app is opened, these handlers implement it. */
  implement(handlers: Implementation<TSpec>): LinkedApp<TNames, TSpec>;
  readonly tools: TypeProblem<"tools() needs a link: call .bridge(link) or .implement(handlers) first">;
  readonly prompts: TypeProblem<"prompts() needs a link: call .bridge(link) or .implement(handlers) first">;
  readonly resources: TypeProblem<"resources() needs a link: call .bridge(link) or .implement(handlers) first">;
  readonly mount: TypeProblem<"mount() needs a link: call .bridge(link) or .implement(handlers) first">;
  readonly views: TypeProblem<"views() needs a link: call .bridge(link) or .implement(handlers) first">;
  readonly serve: TypeProblem<"serve() needs a link: call .bridge(link) or .implement(handlers) first">;
  readonly replay: TypeProblem<"replay() needs a link: call .bridge(link) or .implement(handlers) first">;
  readonly generic: TypeProblem<"generic needs a link: call .bridge(link) or .implement(handlers) first">;
  readonly calls: TypeProblem<"calls needs a link: call .bridge(link) or .implement(handlers) first">;
  readonly open: TypeProblem<"open() needs a link: call .bridge(link) or .implement(handlers) first">;
  /** @internal */
  readonly [kDefinition]: AppDefinition;
  /** For the type helpers only: there is no such value. */
  readonly [kNames]: TypeProblem<"this app has no link yet">;
}

/** The names of an app that a plugin does not know: none is known to be taken. */
type NoNames<TNames extends AppNames> = ExposedNames<
  never,
  never,
  never,
  never,
  Record<never, never>,
  never,
  never,
  false,
  TNames["context"]
>;

/**
 * A linked app as generic code sees it: its steps add names to names that the code does not know. A name that is taken is a
 * boot error, since the compiler cannot compare names it does not know.
 *
 * @example
 * ```ts
 * import type { AppNames, LinkedApp } from "surface-mcp";
 *
 * const withPing = <TSpec, TNames extends AppNames>(plain: LinkedApp<TNames, TSpec>) =>
 *   plain.generic.tools({ ping: { mutates: false, handler: () => "pong" } });
 * ```
 */
export interface GenericApp<TNames extends AppNames, TSpec> {
  /** As `tools()` of the app. */
  tools<const $Tools, const $Inputs, const $Outputs, const $Reaches = unknown>(
    tools: ToolsArgument<TSpec, NoNames<TNames>, $Tools, $Inputs, $Outputs, $Reaches>,
  ): LinkedApp<WithTools<TNames, $Tools, $Inputs, $Outputs>, TSpec>;
  /** As `prompts()` of the app. */
  prompts<const $Keys extends string | number, const $Inputs>(
    prompts: PromptsArgument<TSpec, NoNames<TNames>, $Keys, $Inputs>,
  ): LinkedApp<WithPrompts<TNames, $Keys>, TSpec>;
  /** As `resources()` of the app. */
  resources<const $Keys extends string | number, const $Variables>(
    resources: ResourcesArgument<TSpec, NoNames<TNames>, $Keys, $Variables>,
  ): LinkedApp<WithResources<TNames, $Keys>, TSpec>;
}

/** An app that can be served. It can no longer be linked. */
export interface LinkedApp<TNames extends AppNames, TSpec> extends ServableApp, Steps<true, TNames, TSpec> {
  // The first member, so that the compiler refuses an app without a link with the sentence of its `serve`.
  /**
   * Starts serving. Default: over standard input and output.
   *
   * @throws SurfaceError with a boot code, before anything is served.
   */
  serve<TServing extends Serving>(target: ServeTarget<TServing>): Promise<TServing>;
  serve(target?: ServeTarget): Promise<Serving>;
  /** Adds tools that are not members: an input, and a function over the live client. */
  tools<const $Tools, const $Inputs, const $Outputs, const $Reaches = unknown>(
    tools: ToolsArgument<TSpec, TNames, $Tools, $Inputs, $Outputs, $Reaches>,
  ): LinkedApp<WithTools<TNames, $Tools, $Inputs, $Outputs>, TSpec>;
  /** Adds prompts, which people choose: an input, and a function that writes the messages. */
  prompts<const $Keys extends string | number, const $Inputs>(
    prompts: PromptsArgument<TSpec, TNames, $Keys, $Inputs>,
  ): LinkedApp<WithPrompts<TNames, $Keys>, TSpec>;
  /** Adds resources that are not members: a function that reads each, and maybe one that says when it has changed. */
  resources<const $Keys extends string | number, const $Variables>(
    resources: ResourcesArgument<TSpec, TNames, $Keys, $Variables>,
  ): LinkedApp<WithResources<TNames, $Keys>, TSpec>;
  /**
   * Adds tools that are known only at run time, and come and go: ids `<prefix>.<name>`, names on the wire `<prefix>_<name>`.
   * Whoever made the source closes it.
   *
   * @param prefix - letters, digits and `_`, at most 32, the last no `_`; all names that begin with it are taken.
   */
  mount<const $Prefix extends string>(
    prefix: $Prefix & PrefixProblem<TNames, $Prefix>,
    source: MountSource,
  ): LinkedApp<WithMount<TNames, $Prefix>, TSpec>;
  /**
   * Says who sees what: views by name, or rules, or a source of rules that may be replaced while they are in force. A view
   * only takes away. Once an app, and last: the names in it are held against what the app has by then.
   */
  views<const $Input extends ViewsInput, const $Replay extends boolean = false>(
    this: ViewedProblem<TNames>,
    input: $Input & ViewsChecked<TNames, $Input, $Replay>,
    options?: ViewsOptions<$Replay> & ReplayProblem<TNames, $Replay>,
  ): LinkedApp<WithViews<TNames, $Input, $Replay>, TSpec>;
  /**
   * Says what somebody would be shown, and what hides the rest, without serving: the same decision that requests get, from the
   * rules and mounts as they are now. Nothing is connected, and no handler runs.
   *
   * @throws SurfaceError with a boot code, `INVALID_OPTION` for options that are none.
   */
  replay(options?: ReplayOptions): ViewReplay;
  /** The same app, for functions that add to an app whose names they do not know. */
  readonly generic: GenericApp<TNames, TSpec>;
  /** The calls that are made of this app, over everything that serves it. */
  readonly calls: Calls;
  readonly bridge: TypeProblem<"this app is linked already: one bridge() or implement() an app">;
  readonly implement: TypeProblem<"this app is linked already: one bridge() or implement() an app">;
  /** @internal */
  readonly [kDefinition]: AppDefinition;
  /** For the type helpers only: there is no such value. */
  readonly [kNames]: TNames;
}
