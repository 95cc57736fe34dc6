import type { TypeProblem } from "../tags/type-problem.ts";
import type { AppNames, LinkedApp, UnlinkedApp } from "./stages.ts";

type NotLinked = TypeProblem<"this app has no link yet: ask once it can be served">;
type NotAnApp = TypeProblem<"this is not an app: pass typeof app">;

// Arms: any first (it would match everything and prove nothing), then never, then the two stages.
/** The names in one of their unions, unless they are `any` or `never`, which would prove nothing. */
type NameOrProblem<TNames extends AppNames, TKind extends keyof AppNames> = 0 extends 1 & TNames
  ? NotAnApp
  : [TNames] extends [never]
    ? NotAnApp
    : TNames[TKind];

/** app type -> one of its name unions. */
type NamesOf<TApp, TKind extends keyof AppNames> = 0 extends 1 & TApp
  ? NotAnApp
  : [TApp] extends [never]
    ? NotAnApp
    : TApp extends LinkedApp<infer _Spec, infer Names>
      ? NameOrProblem<Names, TKind>
      : TApp extends UnlinkedApp<infer _Spec, infer _Names>
        ? NotLinked
        : NotAnApp;

/**
 * The names of all tools that an agent can reach through an app: a superset of what `tools/list` answers, never a
 * subset. Assert it in a type test, and CI fails when an exposure changes.
 */
export type ToolNames<TApp> = NamesOf<TApp, "tools">;

/** The keys of all members that an agent can read through an app: a superset. */
export type ResourceNames<TApp> = NamesOf<TApp, "resources">;

/** The names of all tools that may change something: a superset. */
export type MutatingToolNames<TApp> = NamesOf<TApp, "mutating">;
