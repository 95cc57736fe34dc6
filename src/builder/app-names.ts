import type { MemoryContext } from "../catalog/context/memory-context.ts";

/** A step of the chain that comes once, or not after others. */
export type OnceStep = "context" | "confirm";

/** What an app's type remembers: the names that an agent may reach through it. */
export interface AppNames {
  /** Names of tools, on the wire. A superset of what is reachable. */
  readonly tools: string;
  /** Keys of resources, members and hand-written ones. A superset of what is reachable. */
  readonly resources: string;
  /** Names of tools that may change something. A superset. */
  readonly mutating: string;
  /** Keys of members that an expose map has named. */
  readonly exposed: string;
  /** The input schemas of bespoke tools, by name. */
  readonly inputs: object;
  /** Names of prompts, on the wire. A superset of what is reachable. */
  readonly prompts: string;
  /** Keys of hand-written resources. */
  readonly written: string;
  /** Whether it was said who sees what. */
  readonly viewed: boolean;
  /** What its handlers have of their own. */
  readonly context: unknown;
  /** The steps that cannot come any more. */
  readonly done: OnceStep;
  /** The output schemas of bespoke tools, by name. */
  readonly outputs: object;
}

/** The names of one app. The type arguments are plain unions, so that an editor shows names and not how they came. */
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
}

/** names, what of them is another, a key -> what stands under it. */
type NewName<TNames extends AppNames, TChange, TKey extends keyof AppNames> = TChange extends {
  readonly [_ in TKey]: infer Changed extends AppNames[TKey];
}
  ? Changed
  : TNames[TKey];

/** names, those of them that are others -> the names after that. */
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
      NewName<Names, TChange, "outputs">
    >
  : never;

// Where any name at all may be there, nobody knows that this one is: what is put together says so, and what is mounted gives way.
/** names -> those that are known to be taken. */
export type KnownNames<TName extends string> = string extends TName ? never : TName;
