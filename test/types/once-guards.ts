import type { Guard } from "./guard.ts";

/** The guards of steps that come once, and before others. */
export const onceGuards: readonly Guard[] = [
  {
    promise: "context() comes once, and before there are handlers",
    file: "builder/app-names.d.ts",
    guard: '"context" extends TNames["done"] ?',
    without: "1 extends 2 ?",
    caughtBy: "context.test-d.ts",
  },
  {
    promise: "handlers keep the context of the app that they were added to",
    file: "builder/stages.d.ts",
    guard: '["done"] | "context"',
    without: '["done"]',
    caughtBy: "context.test-d.ts",
  },
  {
    promise: "confirm() comes once",
    file: "builder/app-names.d.ts",
    guard: '"confirm" extends TNames["done"] ?',
    without: "1 extends 2 ?",
    caughtBy: "confirm.test-d.ts",
  },
];
