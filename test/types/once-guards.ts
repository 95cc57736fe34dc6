import type { Guard } from "./guard.ts";

/** The guards of steps that come once, and before others. */
export const onceGuards: readonly Guard[] = [
  {
    promise: "what handlers have of their own is said once, and before there are any",
    file: "builder/once-names.d.ts",
    guard: '"context" extends TNames["done"] ?',
    without: "1 extends 2 ?",
    caughtBy: "context.test-d.ts",
  },
  {
    promise: "handlers that are there keep what they have of their own",
    file: "builder/stages.d.ts",
    guard: '["done"] | "context"',
    without: '["done"]',
    caughtBy: "context.test-d.ts",
  },
  {
    promise: "it is said once what users confirm",
    file: "builder/once-names.d.ts",
    guard: '"confirm" extends TNames["done"] ?',
    without: "1 extends 2 ?",
    caughtBy: "confirm.test-d.ts",
  },
];
