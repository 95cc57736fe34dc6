import type { Guard } from "./guard.ts";

/** What the types of tools written by hand refuse. */
export const handGuards: readonly Guard[] = [
  {
    promise: "a bespoke tool that reads does not destroy",
    file: "builder/hand-arguments.d.ts",
    guard: "EffectProblem<TTools[Key]> &",
    without: "",
    caughtBy: "tools.test-d.ts",
  },
  {
    promise: "a bespoke tool has no unknown options",
    file: "builder/hand-arguments.d.ts",
    guard: "ToolKeysProblem<TTools[Key]> &",
    without: "",
    caughtBy: "tools.test-d.ts",
  },
  {
    promise: "the input of a bespoke tool is a schema",
    file: "builder/hand-arguments.d.ts",
    guard: 'SchemaProblem<"input", TInputs[Key]> : BespokeTool',
    without: "unknown : BespokeTool",
    caughtBy: "tools.test-d.ts",
  },
  {
    promise: "a handler returns what its output schema takes",
    file: "builder/hand-arguments.d.ts",
    guard: "Key extends keyof TOutputs ? TOutputs[Key] : unknown,",
    without: "unknown,",
    caughtBy: "tools.test-d.ts",
  },
  {
    promise: "a tool is checked also where no input is inferred",
    file: "builder/hand-arguments.d.ts",
    guard: ': BespokeTool<undefined, TSpec, TNames["context"]>);',
    without: ": unknown);",
    caughtBy: "tools.test-d.ts",
  },
  {
    promise: "two keys of one object do not have one name on the wire",
    file: "builder/hand-arguments.d.ts",
    guard: "& WireNamesChecked<KeysOfUnion<TTools> & string>",
    without: "",
    caughtBy: "generic.test-d.ts",
  },
  {
    promise: "a handler calls no literal id out of its literal reach",
    file: "builder/hand-arguments.d.ts",
    guard: "Key extends keyof TReaches ? TReaches[Key] : unknown>",
    without: "unknown>",
    caughtBy: "nested-calls.test-d.ts",
  },
  {
    promise: "two tagged members do not have one name on the wire",
    file: "builder/stages.d.ts",
    guard: 'CollisionSentence<TaggedKeys<TSpec, "tool">>',
    without: "never",
    caughtBy: "generic.test-d.ts",
  },
  {
    promise: "a name that a pattern may have is no collision",
    file: "catalog/wire-name.d.ts",
    guard: "Record<never, never> extends Record<TDotted, 1> ? never : `",
    without: "`",
    caughtBy: "generic.test-d.ts",
  },
];
