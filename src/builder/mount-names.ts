import type { LiteralKeys } from "../surface/define-surface.ts";
import type { TypeProblem } from "../tags/type-problem.ts";
import type { AppNames, KnownNames, NamesWith } from "./app-names.ts";

/** The names that may come from a mount, on the wire: nobody knows more of them before they are there. */
type MountedName<TPrefix extends string> = [TPrefix] extends [never] ? string : `${TPrefix}_${string}`;

/** What may be read of a mount, in the same way. */
type MountedPath<TPrefix extends string> = [TPrefix] extends [never] ? string : `${TPrefix}/${string}`;

/** The names after a mount: whatever begins with its prefix; all of its tools may change something. */
export type WithMount<TNames extends AppNames, TPrefix extends string> = NamesWith<
  TNames,
  {
    readonly tools: TNames["tools"] | MountedName<TPrefix>;
    readonly resources: TNames["resources"] | MountedPath<TPrefix>;
    readonly mutating: TNames["mutating"] | MountedName<TPrefix>;
  }
>;

// A record over names that are not literal has no keys that must be there.
/** `unknown` when something may be mounted under this prefix, else the sentence that says why not. */
export type PrefixProblem<TNames extends AppNames, TPrefix extends string> =
  Record<never, never> extends Record<TPrefix, 1>
    ? TypeProblem<"the prefix of a mount must be a literal: write it inline, or add `as const`">
    : [Taken<KnownNames<TNames["tools"]>, MountedName<TPrefix>>] extends [never]
      ? unknown
      : TypeProblem<`the prefix "${TPrefix}" is taken by the tool "${Taken<KnownNames<TNames["tools"]>, MountedName<TPrefix>>}"`>;

// Both ways, since names that are taken may be those of another mount, and its prefix the longer or the shorter one.
/** names, those that would be added -> the names that could be both. */
type Taken<TTools extends string, TMounted extends string> = TTools extends TMounted
  ? TTools
  : TMounted extends TTools
    ? TTools
    : never;

/** The names after mounts by prefix. */
export type WithMounts<TNames extends AppNames, TMounts> = [keyof TMounts] extends [never]
  ? TNames
  : WithMount<TNames, keyof TMounts & string>;

// Each is held against the names that are there without it: the others' too.
/** Objections to mounts by prefix. */
export type MountsChecked<TNames extends AppNames, TMounts> = {
  readonly [Prefix in keyof TMounts]: PrefixProblem<WithMounts<TNames, Omit<TMounts, Prefix>>, Prefix & string>;
} & LiteralKeys<TMounts>;
