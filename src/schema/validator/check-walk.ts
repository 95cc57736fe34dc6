import type { Issue } from "../../errors.ts";
import { maxLevels } from "../json.ts";
import type { JsonValue } from "../json.ts";
import { createIssue, maxIssues } from "../render-issues.ts";

/** Returns whether a value fits a node of a schema, and adds the issues of one that does not. */
export type Check = (json: JsonValue, walk: CheckWalk) => boolean;

/** Compiles the schemas below a node. */
export interface CheckCompiler {
  /** Whether JSON Schema holds to the letter, also where a reader accepts more. */
  readonly isExact: boolean;
  /** Compiles a schema of the same value at once. */
  now(node: JsonValue | undefined): Check;
  /** Compiles a schema of a part of the value on first use. */
  later(node: JsonValue | undefined): Check;
}

/** The state of one validation. */
export interface CheckWalk {
  readonly path: (string | number)[];
  readonly issues: Issue[];
  /** Whether an alternative is tried: its issues are not those of the value. */
  quiet: boolean;
  /** Steps left for checking the value, where its schema may be hostile. */
  steps: number;
  /** The whole value until it has been granted the steps for its length. */
  whole: JsonValue | undefined;
  /** The results of checks that may run twice on a value. Created with the first. */
  known: Map<Check, Map<JsonValue, boolean>> | undefined;
}

// Ten thousand items, as many as a message has, against 200 nodes each.
const baseSteps = 2_000_000;
// Patterns of addresses, dates and identifiers take 3 to 25 steps a character. Measured with node 20: patterns made to be
// slow (hundreds of alternatives, counters or look-aheads open at each character) take 12 to 55 ns of processor time a step,
// so 0.7 to 3.5 s for a text of 1 MiB and 40 ms for one of 10 KiB.
const stepsPerCharacter = 64;

/** Starts the validation of a value. */
export function createCheckWalk(whole?: JsonValue): CheckWalk {
  return { path: [], issues: [], quiet: false, steps: baseSteps, whole, known: undefined };
}

/**
 * Thrown when checking a value takes too many steps. An issue would not do: below `not` a refusal lets the value pass.
 * The path of the walk names the part that was too long.
 */
class TooManySteps extends Error {}

/** Counts a visit of a value by a node of its schema. @throws TooManySteps */
export function countVisit(walk: CheckWalk): void {
  walk.steps -= 1;
  if (walk.steps < 0) extendSteps(walk, "too large to check against its schema");
}

/** Counts the steps of a pattern. @throws TooManySteps */
export function countPatternSteps(walk: CheckWalk, steps: number): void {
  walk.steps -= steps;
  if (walk.steps < 0) extendSteps(walk, "too long to check against its pattern");
}

/** Grants the steps for the length of the value, once, so that values of usual size are never measured. */
function extendSteps(walk: CheckWalk, problem: string): void {
  const { whole } = walk;
  walk.whole = undefined;
  if (whole !== undefined) walk.steps += stepsPerCharacter * JSON.stringify(whole).length;
  if (walk.steps < 0) throw new TooManySteps(problem);
}

/** Adds an issue at the current path, unless an alternative is tried. Returns `false`. */
export function addIssue(walk: CheckWalk, message: string): false {
  if (!walk.quiet && walk.issues.length < maxIssues) walk.issues.push(createIssue(walk.path, message));
  return false;
}

/** Turns too many steps, or a value that is nested too deep, into the only issue; throws any other fault. Returns `false`. */
export function addFault(walk: CheckWalk, fault: unknown): false {
  const isLong = fault instanceof TooManySteps;
  if (!isLong && !(fault instanceof RangeError)) throw fault;
  if (!isLong) walk.path.length = 0;
  walk.issues.length = 0;
  walk.quiet = false;
  return addIssue(walk, isLong ? fault.message : "nested too deep");
}

/** Tells whether further parts of a refused value would add no issue. */
export function isSettled(walk: CheckWalk): boolean {
  return walk.quiet || walk.issues.length >= maxIssues;
}

/** Refuses a value whose parts would be deeper than any value that is written. */
export function isTooDeep(walk: CheckWalk): boolean {
  return walk.path.length >= maxLevels && !addIssue(walk, `more than ${maxLevels} levels deep`);
}

/** Tells whether a value fits, without issues. */
export function fitsQuietly(check: Check, json: JsonValue, walk: CheckWalk): boolean {
  const { quiet } = walk;
  walk.quiet = true;
  const fits = check(json, walk);
  walk.quiet = quiet;
  return fits;
}
