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
    : TApp extends LinkedApp<infer _Spec, infer Names>
      ? NameOrProblem<Names, TKind>
      : TApp extends UnlinkedApp<infer _Spec, infer _Names>
        ? TypeProblem<NotLinked>
        : TypeProblem<NotAnApp>;

/**
 * The names of all tools that an agent can reach through an app: a superset of what `tools/list` answers, never a
 * subset. Assert it in a type test, and CI fails when an exposure changes.
 *
 * It counts what the compiler can see of the objects that were passed in. TypeScript lets an object have more keys than
 * its type says: one that was assigned to a narrower type first, or that was spread from a record with open keys, beside
 * keys of its own. So pass members, expose maps, tools and views as literals, and such a key cannot come about. A view that
 * says no `face`, and anything by a type that is not literal, counts as one that may be a gateway: say `face: "direct"`.
 *
 * @example
 * ```ts
 * declare const tools: ToolNames<typeof app>;
 * expectType<"bump">(tools);
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
