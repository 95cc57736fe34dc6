import type { MemoryContext } from "../catalog/context/memory-context.ts";
import type { MountNames } from "../catalog/mounts/mount.ts";
import type { WireName } from "../catalog/wire-name.ts";
import type { TypeProblem } from "../tags/type-problem.ts";

/** A step of the chain that may come only once, or not after others. */
export type OnceStep = "context" | "confirm";

/** The names that an agent may reach through an app, as its type keeps them. Each is a superset of what is reachable. */
export interface AppNames {
  /** Wire names of tools. */
  readonly tools: string;
  /** Keys of resources: members and hand-written ones. */
  readonly resources: string;
  /** Wire names of tools that may change something. */
  readonly mutating: string;
  /** Keys of members in an expose map. */
  readonly exposed: string;
  /** Input schemas of bespoke tools, by name. */
  readonly inputs: object;
  /** Wire names of prompts. */
  readonly prompts: string;
  /** Keys of hand-written resources. */
  readonly written: string;
  /** Whether `.views()` was called. */
  readonly viewed: boolean;
  /** The `context` of handlers. */
  readonly context: unknown;
  /** The steps that may not come any more. */
  readonly done: OnceStep;
  /** Output schemas of bespoke tools, by name. */
  readonly outputs: object;
  /** Wire names that belong to mounts, as patterns. */
  readonly reserved: string;
}

/** The names of one app. The type arguments are plain unions, so that an editor shows the names themselves. */
export interface ExposedNames<
  TTools extends string,
  TResources extends string,
  TMutating extends string,
  TExposed extends string = never,
  TInputs extends object = Record<never, never>,
  TPrompts extends string = never,
  TWritten extends string = never,
  TViewed extends boolean = false,
  TContext = MemoryContext,
  TDone extends OnceStep = never,
  TOutputs extends object = Record<never, never>,
  TReserved extends string = never,
> {
  readonly tools: TTools;
  readonly resources: TResources;
  readonly mutating: TMutating;
  readonly exposed: TExposed;
  readonly inputs: TInputs;
  readonly prompts: TPrompts;
  readonly written: TWritten;
  readonly viewed: TViewed;
  readonly context: TContext;
  readonly done: TDone;
  readonly outputs: TOutputs;
  readonly reserved: TReserved;
}

/** names, changed names, a key -> the new type under the key. */
type NewName<TNames extends AppNames, TChange, TKey extends keyof AppNames> = TChange extends {
  readonly [_ in TKey]: infer Changed extends AppNames[TKey];
}
  ? Changed
  : TNames[TKey];

/** names, changed names -> the names after the change. */
export type NamesWith<TNames extends AppNames, TChange extends Partial<AppNames>> = [TNames] extends [
  infer Names extends AppNames,
]
  ? ExposedNames<
      NewName<Names, TChange, "tools">,
      NewName<Names, TChange, "resources">,
      NewName<Names, TChange, "mutating">,
      NewName<Names, TChange, "exposed">,
      NewName<Names, TChange, "inputs">,
      NewName<Names, TChange, "prompts">,
      NewName<Names, TChange, "written">,
      NewName<Names, TChange, "viewed">,
      NewName<Names, TChange, "context">,
      NewName<Names, TChange, "done">,
      NewName<Names, TChange, "outputs">,
      NewName<Names, TChange, "reserved">
    >
  : never;

/** names -> the names known to be taken: none for `string`, since mounted entries give way to others at boot. */
export type KnownNames<TName extends string> = string extends TName ? never : TName;

/** The wire names of tools that a new tool may not have: known names, and those with the prefix of a mount. */
export type TakenTools<TNames extends AppNames> = KnownNames<TNames["tools"]> | TNames["reserved"];

/** The names after `.context()`. */
export type WithContext<TNames extends AppNames, TContext> = NamesWith<
  TNames,
  { readonly context: TContext; readonly done: TNames["done"] | "context" }
>;

/** The names after `.confirm()`. */
export type WithConfirm<TNames extends AppNames> = NamesWith<TNames, { readonly done: TNames["done"] | "confirm" }>;

// Handlers that were added before expect another context.
/** `unknown` if `.context()` may be called, else the problem. */
export type ContextProblem<TNames extends AppNames> = "context" extends TNames["done"]
  ? TypeProblem<"context() comes once an app, and before tools(), prompts() and resources()">
  : unknown;

/** `unknown` if `.confirm()` may be called, else the problem. */
export type ConfirmProblem<TNames extends AppNames> = "confirm" extends TNames["done"]
  ? TypeProblem<"confirm() was called already: call it once an app">
  : unknown;

/** prefix, names of operations -> their possible wire names. */
type MountedName<TPrefix extends string, TName extends string> = [TPrefix] extends [never]
  ? string
  : `${TPrefix}_${WireName<TName>}`;

/** prefix, paths -> the possible keys of mounted resources. */
type MountedPath<TPrefix extends string, TPath extends string> = [TPrefix] extends [never]
  ? string
  : `${TPrefix}/${TPath}`;

/** The wire names that belong to a mount. */
type ReservedName<TPrefix extends string> = [TPrefix] extends [never] ? never : `${TPrefix}_${string}`;

/** The names after a mount: those of its source. If the source does not know them, any name with its prefix, and any may change something. */
export type WithMount<TNames extends AppNames, TPrefix extends string, TMount extends MountNames> = NamesWith<
  TNames,
  {
    readonly tools: TNames["tools"] | MountedName<TPrefix, TMount["tools"]>;
    readonly resources: TNames["resources"] | MountedPath<TPrefix, TMount["resources"]>;
    readonly mutating: TNames["mutating"] | MountedName<TPrefix, TMount["mutating"]>;
    readonly reserved: TNames["reserved"] | ReservedName<TPrefix>;
  }
>;

// A record over names that are not literal has no required keys.
/** `unknown` if a source may be mounted under this prefix, else the problem. */
export type PrefixProblem<TNames extends AppNames, TPrefix extends string> =
  Record<never, never> extends Record<TPrefix, 1>
    ? TypeProblem<"the prefix of a mount must be a literal: write it inline, or add `as const`">
    : [Taken<TakenTools<TNames>, ReservedName<TPrefix>>] extends [never]
      ? unknown
      : TypeProblem<`the prefix "${TPrefix}" is taken by the tool "${Taken<TakenTools<TNames>, ReservedName<TPrefix>>}"`>;

// Compares both ways, because a taken name may be that of another mount, whose prefix is longer or shorter.
/** taken names, new names -> the taken names that collide. */
type Taken<TTools extends string, TMounted extends string> = TTools extends TMounted
  ? TTools
  : TMounted extends TTools
    ? TTools
    : never;
