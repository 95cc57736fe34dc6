import type {
  ExposeChecked,
  ExposeTyped,
  ExposedKeys,
  ExposedMutatingKeys,
  ExposedResourceKeys,
  ExposedToolKeys,
} from "../catalog/expose.ts";
import type { Calls } from "../call/call-tree.ts";
import type { MountSource, NamesOfMount } from "../catalog/mounts/mount.ts";
import type { ContextFactory } from "../catalog/context/own-context.ts";
import type { PullToolName } from "../catalog/resources/pull-tools.ts";
import type { CollisionSentence, MayCollide, WireName, WireNamesChecked } from "../catalog/wire-name.ts";
import type { Link } from "../links/link.ts";
import type { ServableApp, ServeTarget, Serving } from "../mcp/servable-app.ts";
import type { ObserverOption } from "../observe/observers.ts";
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
import type {
  AppNames,
  ConfirmProblem,
  ContextProblem,
  ExposedNames,
  NamesWith,
  PrefixProblem,
  TakenTools,
  WithConfirm,
  WithContext,
  WithMount,
} from "./app-names.ts";
import type { ReplayOptions } from "./assemble-app.ts";
import type { ExactlyChecked } from "./exact-names.ts";
import type {
  EffectOfTool,
  HandKey,
  PromptsArgument,
  ResourcesArgument,
  ToolKeys,
  ToolsArgument,
} from "./hand-arguments.ts";
import type { ReplayProblem, ViewedProblem, ViewsChecked, ViewsOptions, WithViews } from "./view-names.ts";

/** The key of the names in an app's type. There is no such symbol at run time. */
declare const kNames: unique symbol;

// Leaves out a key only if its member is provably untagged: tags that the compiler cannot see, or that were cast to `any` or `never`,
// count. Distributes, since the keys of a union of specs are only those that its arms share.
/** spec, tag -> the keys of members that may have the tag. */
type TaggedKeys<TSpec, TTag extends Exposure> = [TSpec] extends [never]
  ? string
  : TSpec extends unknown
    ? {
        [Key in keyof TSpec]: TSpec[Key] extends { readonly [kExposure]: infer Tag } ? MayBe<TTag, Tag, Key> : Key;
      }[keyof TSpec] &
        string
    : never;

/** `TThen` unless `TKnown` is provably not `TTag`. */
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

// This type, WithExposed and WithTools are conditional, so that editors show the names and not an alias with its arguments.
/** The names that the tags of a surface expose. */
export type TagNames<TSpec> = [TSpec] extends [infer Members]
  ? ExposedNames<
      WireName<TaggedKeys<Members, "tool">>,
      TaggedKeys<Members, "resource">,
      WireName<MutatingKeys<Members>>
    >
  : never;

// Distributes, since keys of different specs of a union are never in one surface.
/** The sentences about tagged members with one wire name; `never` if all names differ. */
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

// Distributes over a union of records, so that the keys of all count.
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
export type WithPull<TNames extends AppNames> = NamesWith<TNames, { readonly tools: TNames["tools"] | PullToolName }>;

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

/** `unknown` if `pull()` may be called, else the problem. */
export type PullProblem<TNames extends AppNames> = [PullToolName & TakenTools<TNames>] extends [never]
  ? unknown
  : TypeProblem<`the tool name "${PullToolName & TakenTools<TNames>}" is taken: by another tool, or by pull() before`>;

/** The problem of a key whose wire name is taken; `unknown` for a tagged member, which takes that name itself. */
type ToolCollision<TSpec, TKey> = TKey extends keyof TSpec
  ? TSpec[TKey] extends { readonly [kExposure]: "none" }
    ? TypeProblem<`the name "${WireName<TKey & string>}" is taken by another tool`>
    : unknown
  : unknown;

/** Problems of an expose map: keys that were exposed before, and keys whose wire name is taken. */
export type ExposeCollisions<TSpec, TNames extends AppNames, TExpose> = {
  readonly [Key in keyof TExpose]: Key extends TNames["exposed"]
    ? TypeProblem<`"${Key & string}" is exposed already: expose it in one place`>
    : TExpose[Key] extends "resource"
      ? Key extends TNames["written"]
        ? TypeProblem<`the key "${Key & string}" is taken by a hand-written resource`>
        : unknown
      : WireName<Key & string> extends TNames["tools"] | TNames["reserved"]
        ? ToolCollision<TSpec, Key>
        : unknown;
} & WireNamesChecked<ExposedToolKeys<TExpose>>;

// The first part of the parameter, so that the compiler reports it before a missing `connect`.
/** Refuses a live surface in the place of a link. */
export interface NotLive {
  readonly [kChannel]?: TypeProblem<"bridge() takes a link; wrap the live surface: inProcess(live)">;
}

/** An app with or without a link. */
type Stage<TLinked, TNames extends AppNames, TSpec> = TLinked extends true
  ? LinkedApp<TNames, TSpec>
  : UnlinkedApp<TNames, TSpec>;

/** The steps of an app with or without a link. */
interface Steps<TLinked, TNames extends AppNames, TSpec> {
  /** Exposes untagged members, by key. All others stay unreachable. */
  expose<const $Expose>(
    map: $Expose &
      NoInfer<ExposeChecked<TSpec, $Expose>> &
      NoInfer<ExposeCollisions<TSpec, TNames, $Expose>> &
      LiteralKeys<$Expose> &
      ExposeTyped<TSpec>,
  ): Stage<TLinked, WithExposed<TSpec, TNames, $Expose>, TSpec>;
  /** Adds the tools `read_resource` and `wait_for_change`, for hosts that hide resources and notifications from agents. Once an app. */
  pull(this: PullProblem<TNames>): Stage<TLinked, WithPull<TNames>, TSpec>;
  /**
   * Sets the factory of `context.context`. It runs once a call, when the handler first reads the property. A result with
   * `Symbol.dispose` or `Symbol.asyncDispose` is disposed when the handler ends, so wrap objects that calls share. Call it once an
   * app, before `tools()`, `prompts()` and `resources()`. @default a `MemoryContext` for each call
   */
  context<$Context>(
    this: ContextProblem<TNames>,
    factory: ContextFactory<$Context>,
  ): Stage<TLinked, WithContext<TNames, $Context>, TSpec>;
  /**
   * Asks the user, with title and arguments, before a tool runs that may change something and does not set `confirm`. The answer of a
   * model is never consent. Once an app.
   */
  confirm(
    this: ConfirmProblem<TNames>,
    which: "mutating",
    options?: ConfirmOptions,
  ): Stage<TLinked, WithConfirm<TNames>, TSpec>;
}

// The names are the first type argument of every stage, because an editor cuts off a long spec but not the first argument.
/**
 * An app without a link: it can expose members, but not serve yet. Call `bridge()` or `implement()` next, before `tools()`,
 * `prompts()` and `resources()`, whose handlers need a client.
 */
export interface UnlinkedApp<TNames extends AppNames, TSpec> extends Steps<false, TNames, TSpec> {
  /** Connects the app to a live surface. Close the live surface yourself. */
  bridge(link: NotLive & Link): LinkedApp<TNames, TSpec>;
  /** Implements the surface in this process, again each time the app is opened. */
  implement(handlers: Implementation<TSpec>): LinkedApp<TNames, TSpec>;
  readonly tools: TypeProblem<"tools() needs a link: call .bridge(link) or .implement(handlers) first">;
  readonly prompts: TypeProblem<"prompts() needs a link: call .bridge(link) or .implement(handlers) first">;
  readonly resources: TypeProblem<"resources() needs a link: call .bridge(link) or .implement(handlers) first">;
  readonly mount: TypeProblem<"mount() needs a link: call .bridge(link) or .implement(handlers) first">;
  readonly views: TypeProblem<"views() needs a link: call .bridge(link) or .implement(handlers) first">;
  readonly serve: TypeProblem<"serve() needs a link: call .bridge(link) or .implement(handlers) first">;
  readonly exactly: TypeProblem<"exactly() needs a link: call .bridge(link) or .implement(handlers) first">;
  readonly replay: TypeProblem<"replay() needs a link: call .bridge(link) or .implement(handlers) first">;
  readonly generic: TypeProblem<"generic needs a link: call .bridge(link) or .implement(handlers) first">;
  readonly calls: TypeProblem<"calls needs a link: call .bridge(link) or .implement(handlers) first">;
  readonly observe: TypeProblem<"observe() needs a link: call .bridge(link) or .implement(handlers) first">;
  readonly open: TypeProblem<"open() needs a link: call .bridge(link) or .implement(handlers) first">;
  /** @internal */
  readonly [kDefinition]: AppDefinition;
  /** For the type helpers only. */
  readonly [kNames]: TypeProblem<"this app has no link yet">;
}

/** The names of an app as generic code sees it: no name is known to be taken. */
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
 * A linked app as generic code sees it. A taken name is an error at boot, since the compiler cannot compare unknown names.
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
  /** Starts serving, by default over stdio. @throws SurfaceError with a boot code, before the first request. */
  serve<TServing extends Serving>(target: ServeTarget<TServing>): Promise<TServing>;
  serve(target?: ServeTarget): Promise<Serving>;
  /** Adds tools that are not members: an input schema, and a handler that gets the client. */
  tools<const $Tools, const $Inputs, const $Outputs, const $Reaches = unknown>(
    tools: ToolsArgument<TSpec, TNames, $Tools, $Inputs, $Outputs, $Reaches>,
  ): LinkedApp<WithTools<TNames, $Tools, $Inputs, $Outputs>, TSpec>;
  /** Adds prompts, which users choose: an input schema, and a handler that writes the messages. */
  prompts<const $Keys extends string | number, const $Inputs>(
    prompts: PromptsArgument<TSpec, TNames, $Keys, $Inputs>,
  ): LinkedApp<WithPrompts<TNames, $Keys>, TSpec>;
  /** Adds resources that are not members: a function that reads each, and optionally one that subscribes to its changes. */
  resources<const $Keys extends string | number, const $Variables>(
    resources: ResourcesArgument<TSpec, TNames, $Keys, $Variables>,
  ): LinkedApp<WithResources<TNames, $Keys>, TSpec>;
  /**
   * Adds the tools and resources of a source, which may change at run time. Ids are `<prefix>.<name>`, wire names `<prefix>_<name>`.
   * Close the source yourself.
   *
   * @param prefix - at most 32 letters, digits and `_`, not ending with `_`. All names that begin with it are taken.
   */
  mount<const $Prefix extends string, $Source extends MountSource>(
    prefix: $Prefix & PrefixProblem<TNames, $Prefix>,
    source: $Source,
  ): LinkedApp<WithMount<TNames, $Prefix, NamesOfMount<$Source>>, TSpec>;
  /**
   * Sets the views: by name, as rules, or as a source of rules that may change at run time. A view only hides entries. Once an app,
   * and last: names in views are checked against the entries added before.
   */
  views<const $Input extends ViewsInput, const $Replay extends boolean = false>(
    this: ViewedProblem<TNames>,
    input: $Input & ViewsChecked<TNames, $Input, $Replay>,
    options?: ViewsOptions<$Replay> & ReplayProblem<TNames, $Replay>,
  ): LinkedApp<WithViews<TNames, $Input, $Replay>, TSpec>;
  /**
   * Declares all names that agents can reach: wire names of tools and prompts, keys of resources, and which tools may change
   * something. The compiler refuses a name too many or too few. The catalog is compared as well, when the app is opened, so that
   * casts and open types cannot hide a name. Once an app, and last.
   *
   * A mounted entry that is not named is left out and reported as a fault, whenever it comes; one that is named may be absent.
   * `"git_*"` and, among resources, `"git/*"` name all entries of the mount `git`.
   *
   * @throws SurfaceError `INVALID_OPTION`; when the app is opened `EXPOSURE_DIFFERS`, whose `issues` name each difference.
   * @example
   * ```ts
   * const sealed = app.exactly({ tools: { bump: true }, mutating: { bump: true }, resources: { value: true } });
   * ```
   */
  exactly<const $Names>(names: $Names & NoInfer<ExactlyChecked<TNames, $Names>>): LinkedApp<TNames, TSpec>;
  /**
   * Returns what the app shows to a caller, and what hides the rest, by the rules and mounts as of now. Neither connects nor runs a
   * handler.
   *
   * @throws SurfaceError with a boot code, `INVALID_OPTION`.
   */
  replay(options?: ReplayOptions): ViewReplay;
  /** The same app, for generic code that adds to an app with unknown names. */
  readonly generic: GenericApp<TNames, TSpec>;
  /** The calls of this app over all transports. */
  readonly calls: Calls;
  /**
   * Adds an observer of this app over all transports. Returns a function that removes it.
   *
   * @throws SurfaceError `INVALID_OPTION`.
   */
  observe(observer: ObserverOption): () => void;
  readonly bridge: TypeProblem<"this app is linked already: one bridge() or implement() an app">;
  readonly implement: TypeProblem<"this app is linked already: one bridge() or implement() an app">;
  /** @internal */
  readonly [kDefinition]: AppDefinition;
  /** For the type helpers only. */
  readonly [kNames]: TNames;
}
