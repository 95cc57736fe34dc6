import type { TypeProblem } from "../tags/type-problem.ts";
import type { AppNames, NamesWith } from "./app-names.ts";

/** The names after `.context()`: handlers that come have what its factory makes. */
export type WithContext<TNames extends AppNames, TContext> = NamesWith<
  TNames,
  {
    readonly context: TContext;
    readonly done: TNames["done"] | "context";
  }
>;

/** The names after `.confirm()`. */
export type WithConfirm<TNames extends AppNames> = NamesWith<
  TNames,
  {
    readonly done: TNames["done"] | "confirm";
  }
>;

// Handlers that are there already were written for another one.
/** `unknown` when `.context()` may be called, else the sentence that says why not. */
export type ContextProblem<TNames extends AppNames> = "context" extends TNames["done"]
  ? TypeProblem<"context() comes once an app, and before tools(), prompts() and resources()">
  : unknown;

/** `unknown` when `.confirm()` may be called, else the sentence that says why not. */
export type ConfirmProblem<TNames extends AppNames> = "confirm" extends TNames["done"]
  ? TypeProblem<"it was said already what users confirm: one confirm() an app">
  : unknown;
