import type { Issue } from "../errors.ts";
import { maxLevels } from "./json.ts";
import type { JsonValue } from "./json.ts";
import { createIssue, maxIssues } from "./render-issues.ts";

/** Returns whether a value fits a node of a schema, and says in the walk what is wrong with it. */
export type Check = (json: JsonValue, walk: ReceiveWalk) => boolean;

/** Compiles a part of a schema: now where it is about the same value, on first use where it is about a part of the value. */
export interface CheckCompiler {
  /** Whether JSON Schema holds to the letter, also where a reader accepts more. */
  readonly isExact: boolean;
  now(node: JsonValue | undefined): Check;
  later(node: JsonValue | undefined): Check;
}

/** The state of one validation. */
export interface ReceiveWalk {
  readonly path: (string | number)[];
  readonly issues: Issue[];
  /** True while an alternative is tried: its issues are not those of the value. */
  quiet: boolean;
  /** Steps left for checking the value, where its schema may be hostile. */
  steps: number;
  /** The value as a whole until the steps for its length were granted. */
  whole: JsonValue | undefined;
  /** The answers of checks that may run twice on a value. Made when the first is kept. */
  known: Map<Check, Map<JsonValue, boolean>> | undefined;
}

// Ten thousand items, as many as a message has, against 200 nodes each.
const baseSteps = 2_000_000;
// Patterns of addresses, dates and identifiers take 3 to 25 steps a character. Measured with node 20: patterns made to be
// slow (hundreds of alternatives, counters or look-aheads open at each character) take 12 to 55 ns of processor time a step,
// so 0.7 to 3.5 s for a text of 1 MiB and 40 ms for one of 10 KiB.
const stepsPerCharacter = 64;

/** Starts the validation of a value. */
export function createReceiveWalk(whole?: JsonValue): ReceiveWalk {
  return { path: [], issues: [], quiet: false, steps: baseSteps, whole, known: undefined };
}

/**
 * Thrown when checking a value takes too many steps. An issue would not do: below `not` a refusal lets the value pass.
 * The path of the walk names the part that was too long.
 */
export class TooManySteps extends Error {}

/** Counts a look at a value by a node of its schema. @throws TooManySteps */
export function spendOnNode(walk: ReceiveWalk): void {
  walk.steps -= 1;
  if (walk.steps < 0) extendSteps(walk, "too large to check against its schema");
}

/** Counts the steps of a pattern. @throws TooManySteps */
export function spendOnPattern(walk: ReceiveWalk, steps: number): void {
  walk.steps -= steps;
  if (walk.steps < 0) extendSteps(walk, "too long to check against its pattern");
}

/** Grants the steps for the length of the value, once, so that values of usual size are never measured. */
function extendSteps(walk: ReceiveWalk, problem: string): void {
  const { whole } = walk;
  walk.whole = undefined;
  if (whole !== undefined) walk.steps += stepsPerCharacter * JSON.stringify(whole).length;
  if (walk.steps < 0) throw new TooManySteps(problem);
}

/** Adds an issue at the place where the walk stands. Returns `false`. */
export function refuse(walk: ReceiveWalk, message: string): false {
  if (!walk.quiet && walk.issues.length < maxIssues) walk.issues.push(createIssue(walk.path, message));
  return false;
}

/** Tells whether further parts of a refused value would add no issue. */
export function isSettled(walk: ReceiveWalk): boolean {
  return walk.quiet || walk.issues.length >= maxIssues;
}

/** Refuses a value whose parts would be deeper than any value that is written. */
export function isTooDeep(walk: ReceiveWalk): boolean {
  return walk.path.length >= maxLevels && !refuse(walk, `more than ${maxLevels} levels deep`);
}

/** Tells whether a value fits, without issues. */
export function fitsQuietly(check: Check, json: JsonValue, walk: ReceiveWalk): boolean {
  const { quiet } = walk;
  walk.quiet = true;
  const fits = check(json, walk);
  walk.quiet = quiet;
  return fits;
}
