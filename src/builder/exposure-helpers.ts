import type { TypeProblem } from "../tags/type-problem.ts";
import type { AppNames } from "./app-names.ts";
import type { LinkedApp, UnlinkedApp } from "./stages.ts";

// Sentences and not problems: an editor shows the name of a problem that has one, and its sentence otherwise.
type NotLinked = "this app has no link yet: ask once it can be served";
type NotAnApp = "this is not an app: pass typeof app";

/** The names in one of their unions, unless they are `any` or `never`, which would prove nothing. */
type NameOrProblem<TNames extends AppNames, TKind extends keyof AppNames> = 0 extends 1 & TNames
  ? TypeProblem<NotAnApp>
  : [TNames] extends [never]
    ? TypeProblem<NotAnApp>
    : TNames[TKind];

// Arms: any first (it would match everything and prove nothing), then never, then the two stages.
/** app type -> one of its name unions. */
type NamesOf<TApp, TKind extends keyof AppNames> = 0 extends 1 & TApp
  ? TypeProblem<NotAnApp>
  : [TApp] extends [never]
    ? TypeProblem<NotAnApp>
    : TApp extends LinkedApp<infer Names, infer _Spec>
      ? NameOrProblem<Names, TKind>
      : TApp extends UnlinkedApp<infer _Names, infer _Spec>
        ? TypeProblem<NotLinked>
        : TypeProblem<NotAnApp>;

/** Names -> each in quotes; all names for `string`. */
type Quoted<TName> = string extends TName ? "any name" : TName extends string ? `"${TName}"` : "something";

/** Two unions of names, neither of them `any` -> `true`, or the sentence that names the difference. */
type SameNames<TActual, TExpected> = [TActual] extends [TExpected]
  ? [TExpected] extends [TActual]
    ? true
    : TypeProblem<`${Quoted<Exclude<TExpected, TActual>>} is in the list, and the app does not have it`>
  : [TActual] extends [TypeProblem<string>]
    ? TActual
    : TypeProblem<`${Quoted<Exclude<TActual, TExpected>>} is in the app, and not in the list`>;

/**
 * `true` when two unions of names are the same, patterns such as `` `git_${string}` `` and `string` included; otherwise a problem
 * that names the difference. A `Record` over the names is no such test: patterns and `string` demand no key of it.
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
 * The names of all tools that an agent can reach through an app: a superset of what `tools/list` answers, never a
 * subset. Assert it with {@link Exactly}, and CI fails when an exposure changes.
 *
 * It counts what the compiler can see of the objects that were passed in. TypeScript lets an object have more keys than
 * its type says: one that was assigned to a narrower type first, or that was spread from a record with open keys, beside
 * keys of its own. So pass members, expose maps, tools and views as literals, and such a key cannot come about. A view that
 * says no `face`, and anything by a type that is not literal, counts as one that may be a gateway: say `face: "direct"`.
 *
 * @example
 * ```ts
 * export const tools: Exactly<ToolNames<typeof app>, "bump"> = true;
 * ```
 */
export type ToolNames<TApp> = NamesOf<TApp, "tools">;

/** The names of all prompts of an app: a superset of what `prompts/list` answers. */
export type PromptNames<TApp> = NamesOf<TApp, "prompts">;

/** The keys of all members and hand-written resources that an agent can read through an app: a superset. */
export type ResourceNames<TApp> = NamesOf<TApp, "resources">;

/**
 * The names of all tools that may change something: a superset of those that are advertised with `readOnlyHint: false`.
 * A procedure or bespoke tool is left out only when the compiler sees, whichever way a choice goes, `readOnly()` or a
 * literal `mutates: false`, under a key that is not optional; the tools of streams and events only read.
 *
 * As with {@link ToolNames}, keys that an object has beyond its type are not seen: a hidden `mutates: true`, spread behind
 * a `mutates: false`, wins at run time.
 */
export type MutatingToolNames<TApp> = NamesOf<TApp, "mutating">;
