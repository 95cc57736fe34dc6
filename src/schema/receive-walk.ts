import type { Issue } from "../errors.ts";
import type { JsonValue } from "./json.ts";
import { createIssue, maxIssues } from "./render-issues.ts";

/** What a {@link Check} answers about a value that does not fit. */
export const refused: unique symbol = Symbol("refused");

/**
 * Holds one value against one node of a schema: gives it back, without the fields that nobody knows, or refuses it and
 * says why in the walk.
 */
export type Check = (json: JsonValue, walk: ReceiveWalk) => JsonValue | typeof refused;

/** Compiles a part of a schema: now where it looks at the same value, on first use where it looks at a part of it. */
export interface CheckCompiler {
  /** Whether what JSON Schema says holds to the letter, also where a reader takes more. */
  readonly isExact: boolean;
  now(node: JsonValue | undefined): Check;
  later(node: JsonValue | undefined): Check;
}

/** What a check has answered about a value. */
export interface Remembered {
  readonly result: ReturnType<Check>;
  readonly dropped: number;
}

/** Where the look at a received value stands, and what it has found. */
export interface ReceiveWalk {
  readonly path: (string | number)[];
  readonly issues: Issue[];
  /** True while an alternative is tried: what it dislikes is no issue. */
  quiet: boolean;
  /** True where dropping a field would answer another question, as below `not`: a field too many is refused there. */
  strict: boolean;
  /** How many fields were dropped: of two alternatives that fit, the one that drops fewer was meant. */
  dropped: number;
  /** Steps left for checking the value, where its schema may be hostile. */
  steps: number;
  /** The value as a whole until the steps for its length were granted. */
  whole: JsonValue | undefined;
  /** The answers of checks that may be asked twice, apart for strict ones. Made when the first is kept. */
  known: { lax: Answers; strict: Answers } | undefined;
}

type Answers = Map<Check, Map<JsonValue, Remembered>>;

// Ten thousand items, as many as a message has, against 200 nodes each.
const baseSteps = 2_000_000;
// Patterns of addresses, dates and identifiers take 3 to 25 steps a character. Measured with node 20: patterns made to be
// slow (hundreds of alternatives, counters or look-aheads open at each character) take 12 to 55 ns of processor time a step,
// so 0.7 to 3.5 s for a text of 1 MiB and 40 ms for one of 10 KiB.
const stepsPerCharacter = 64;
// As deep as a value may be that is written.
const maxDepth = 512;

/** Starts a walk of a value. */
export function createReceiveWalk(whole?: JsonValue): ReceiveWalk {
  return { path: [], issues: [], quiet: false, strict: false, dropped: 0, steps: baseSteps, whole, known: undefined };
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

/** Says what is wrong where the walk stands. */
export function refuse(walk: ReceiveWalk, message: string): typeof refused {
  if (!walk.quiet && walk.issues.length < maxIssues) walk.issues.push(createIssue(walk.path, message));
  return refused;
}

/** Tells whether it is no use to look at further parts of a value that is refused already. */
export function isSettled(walk: ReceiveWalk): boolean {
  return walk.quiet || walk.issues.length >= maxIssues;
}

/** Tells whether the parts of a value would be deeper than anything that is written. */
export function isTooDeep(walk: ReceiveWalk): boolean {
  return walk.path.length >= maxDepth;
}

/** Says that a value has parts where it should have none. */
export function refuseDepth(walk: ReceiveWalk): typeof refused {
  return refuse(walk, `more than ${maxDepth} levels deep`);
}

/** Tells whether a value fits as it is, with every field known. Reports nothing. */
export function fitsStrictly(check: Check, json: JsonValue, walk: ReceiveWalk): boolean {
  const { quiet, strict } = walk;
  walk.quiet = true;
  walk.strict = true;
  const result = check(json, walk);
  walk.quiet = quiet;
  walk.strict = strict;
  return result !== refused;
}

/** Tells what JSON type a value has, for a message. */
export function typeName(json: JsonValue | undefined): string {
  if (json === undefined) return "nothing";
  if (json === null) return "null";
  return Array.isArray(json) ? "array" : typeof json;
}
