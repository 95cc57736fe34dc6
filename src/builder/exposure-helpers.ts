import type { TypeProblem } from "../tags/type-problem.ts";
import type { AppNames } from "./app-names.ts";
import type { LinkedApp, UnlinkedApp } from "./stages.ts";

// Sentences instead of problems: an editor shows the name of a problem type that has one, else its sentence.
type NotLinked = "this app has no link yet: ask once it can be served";
type NotAnApp = "this is not an app: pass typeof app";

/** One union of names, unless the names are `any` or `never`, which prove nothing. */
type NameOrProblem<TNames extends AppNames, TKind extends keyof AppNames> = 0 extends 1 & TNames
  ? TypeProblem<NotAnApp>
  : [TNames] extends [never]
    ? TypeProblem<NotAnApp>
    : TNames[TKind];

// `any` first, since it matches everything and proves nothing.
/** app type -> one of its unions of names. */
type NamesOf<TApp, TKind extends keyof AppNames> = 0 extends 1 & TApp
  ? TypeProblem<NotAnApp>
  : [TApp] extends [never]
    ? TypeProblem<NotAnApp>
    : TApp extends LinkedApp<infer Names, infer _Spec>
      ? NameOrProblem<Names, TKind>
      : TApp extends UnlinkedApp<infer _Names, infer _Spec>
        ? TypeProblem<NotLinked>
        : TypeProblem<NotAnApp>;

/** names -> each in quotes; "any name" for `string`. */
type Quoted<TName> = string extends TName ? "any name" : TName extends string ? `"${TName}"` : "something";

/** two unions of names -> `true`, or the problem that names the difference. */
type SameNames<TActual, TExpected> = [TActual] extends [TExpected]
  ? [TExpected] extends [TActual]
    ? true
    : TypeProblem<`${Quoted<Exclude<TExpected, TActual>>} is in the list, and the app does not have it`>
  : [TActual] extends [TypeProblem<string>]
    ? TActual
    : TypeProblem<`${Quoted<Exclude<TActual, TExpected>>} is in the app, and not in the list`>;

/**
 * `true` if two unions of names are equal, else a problem that names the difference. Compares patterns such as `` `git_${string}` ``
 * and `string` too, which a `Record` over the names would not: they require no key.
 *
 * @example
 * ```ts
 * export const tools: Exactly<ToolNames<typeof app>, "bump"> = true;
 * ```
 */
export type Exactly<TActual, TExpected> = 0 extends 1 & TActual
  ? TypeProblem<"the names are `any`: pass names of typeof app">
  : 0 extends 1 & TExpected
    ? TypeProblem<"the list is `any`: write the names">
    : SameNames<TActual, TExpected>;

/**
 * The names of all tools that an agent can reach through an app: a superset of the answer to `tools/list`. Assert it with
 * {@link Exactly}, and CI fails when an exposure changes.
 *
 * Counts the keys in the types of the objects passed in. An object may have more keys than its type: after an assignment to a narrower
 * type, or a spread of a record with open keys. To exclude this, pass members, expose maps, tools and views as literals. A view without
 * `face`, or of a type that is not literal, counts as a possible gateway: set `face: "direct"`.
 *
 * @example
 * ```ts
 * export const tools: Exactly<ToolNames<typeof app>, "bump"> = true;
 * ```
 */
export type ToolNames<TApp> = NamesOf<TApp, "tools">;

/** The names of all prompts of an app: a superset of the answer to `prompts/list`. */
export type PromptNames<TApp> = NamesOf<TApp, "prompts">;

/** The keys of all members and hand-written resources that an agent can read through an app: a superset. */
export type ResourceNames<TApp> = NamesOf<TApp, "resources">;

/**
 * The names of all tools that may change something: a superset of the tools listed with `readOnlyHint: false`. Leaves out a procedure
 * or bespoke tool only if its type proves `readOnly()`, or a literal `mutates: false` under a required key, in every arm of a union.
 * The tools of streams and events only read.
 *
 * As with {@link ToolNames}, keys beyond the type of an object do not count: a hidden `mutates: true`, spread behind a
 * `mutates: false`, wins at run time.
 */
export type MutatingToolNames<TApp> = NamesOf<TApp, "mutating">;
