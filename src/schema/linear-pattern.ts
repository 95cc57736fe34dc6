import { parsePattern } from "./parse-pattern.ts";
import type { PatternNode } from "./parse-pattern.ts";

/** Counts work. @throws when there was too much. */
export type Spend = (steps: number) => void;

/** Tells whether a text has a match, in time that grows with the text's length times the pattern's. */
export type LinearPattern = (text: string, spend: Spend) => boolean;

type Instruction =
  | { readonly kind: "char"; readonly test: (char: string) => boolean }
  | { readonly kind: "split"; readonly targets: readonly number[] }
  | { readonly kind: "look"; readonly program: Program; readonly isNegative: boolean }
  | { readonly kind: "start" | "end" | "boundary" | "nonBoundary" | "match" };

type Program = Instruction[];

// A repetition is written out: `(a{1000}){1000}` would be a million instructions.
const maxInstructions = 5000;

/**
 * Compiles a JavaScript pattern (flag `u`) to a machine that follows all alternatives at once and never goes back, so
 * that no text makes it take exponential time, as `^(a+)+$` does in the engine of JavaScript. Look-ahead is supported.
 *
 * @returns undefined for back references, look-behind and modifiers, and for a pattern that is too large.
 */
export function compileLinearPattern(source: string): LinearPattern | undefined {
  const node = parsePattern(source);
  const program: Program = [];
  if (node === undefined || !emit(program, node)) return undefined;
  program.push({ kind: "match" });
  return (text, spend) => runProgram(program, { text, spend, from: 0, isAnchored: false });
}

/** Appends the instructions of a node; false when there would be too many. */
function emit(program: Program, node: PatternNode): boolean {
  if (program.length > maxInstructions) return false;
  switch (node.kind) {
    case "char":
      program.push(node);
      return true;
    case "sequence":
      return node.parts.every((part) => emit(program, part));
    case "choice":
      return emitChoice(program, node.arms);
    case "repeat":
      return emitRepeat(program, node);
    case "look":
      return emitLook(program, node);
    default:
      program.push(node);
      return true;
  }
}

function emitLook(program: Program, node: PatternNode & { kind: "look" }): boolean {
  const inner: Program = [];
  const isFine = emit(inner, node.item) && program.length + inner.length <= maxInstructions;
  inner.push({ kind: "match" });
  program.push({ kind: "look", program: inner, isNegative: node.isNegative });
  return isFine;
}

function emitChoice(program: Program, arms: readonly PatternNode[]): boolean {
  const targets: number[] = [];
  const ends: number[][] = [];
  program.push({ kind: "split", targets });
  for (const arm of arms) {
    targets.push(program.length);
    if (!emit(program, arm)) return false;
    const end: number[] = [];
    ends.push(end);
    program.push({ kind: "split", targets: end });
  }
  for (const end of ends) end.push(program.length);
  return true;
}

function emitRepeat(program: Program, { item, min, max }: PatternNode & { kind: "repeat" }): boolean {
  for (let count = 0; count < min; count++) if (!emit(program, item)) return false;
  if (max === Number.POSITIVE_INFINITY) {
    const start = program.length;
    const targets = [start + 1];
    program.push({ kind: "split", targets });
    if (!emit(program, item)) return false;
    program.push({ kind: "split", targets: [start] });
    targets.push(program.length);
    return true;
  }
  const skips: number[][] = [];
  for (let count = min; count < max; count++) {
    const targets = [program.length + 1];
    skips.push(targets);
    program.push({ kind: "split", targets });
    if (!emit(program, item)) return false;
  }
  for (const targets of skips) targets.push(program.length);
  return true;
}

interface Run {
  readonly text: string;
  readonly spend: Spend;
  readonly from: number;
  /** Whether a match has to begin at `from`. */
  readonly isAnchored: boolean;
}

/** Where each of the machine's states stands at one place of the text. */
class States {
  readonly list: number[] = [];
  readonly #open: number[] = [];
  /** When each state was last added: to clear is to count on. */
  readonly #seen: Uint32Array;
  #turn = 1;
  isMatched = false;

  constructor(size: number) {
    this.#seen = new Uint32Array(size);
  }

  clear(): void {
    this.list.length = 0;
    this.#turn += 1;
  }

  /** Adds a state and all that it comes to without reading on. */
  add(program: Program, start: number, at: { run: Run; index: number }): void {
    this.#open.push(start);
    for (let state = this.#open.pop(); state !== undefined; state = this.#open.pop()) {
      if (this.#seen[state] === this.#turn) continue;
      this.#seen[state] = this.#turn;
      at.run.spend(1);
      this.#enter(program[state], state, at);
    }
  }

  #enter(instruction: Instruction | undefined, state: number, at: { run: Run; index: number }): void {
    if (instruction?.kind === "char") this.list.push(state);
    else if (instruction?.kind === "split") this.#open.push(...instruction.targets);
    else if (instruction?.kind === "match") this.isMatched = true;
    else if (instruction !== undefined && holds(instruction, at)) this.#open.push(state + 1);
  }
}

function holds(instruction: Instruction, { run, index }: { run: Run; index: number }): boolean {
  switch (instruction.kind) {
    case "start":
      return index === 0;
    case "end":
      return index === run.text.length;
    case "boundary":
      return isBoundary(run.text, index);
    case "nonBoundary":
      return !isBoundary(run.text, index);
    case "look":
      return runProgram(instruction.program, { ...run, from: index, isAnchored: true }) !== instruction.isNegative;
    default:
      return false;
  }
}

function runProgram(program: Program, run: Run): boolean {
  const { text, from, isAnchored } = run;
  let [now, next] = [new States(program.length), new States(program.length)];
  for (let index = from; ;) {
    if (!isAnchored || index === from) now.add(program, 0, { run, index });
    if (now.isMatched) return true;
    const isDead = isAnchored && now.list.length === 0;
    if (index >= text.length || isDead) return false;
    const char = String.fromCodePoint(text.codePointAt(index) ?? 0);
    index += char.length;
    step(program, { now, next, char }, { run, index });
    now.clear();
    [now, next] = [next, now];
  }
}

/** Reads one character: each state that takes it goes on. */
function step(
  program: Program,
  { now, next, char }: { now: States; next: States; char: string },
  at: { run: Run; index: number },
): void {
  for (const state of now.list) {
    at.run.spend(1);
    const instruction = program[state];
    if (instruction?.kind === "char" && instruction.test(char)) next.add(program, state + 1, at);
  }
}

function isBoundary(text: string, index: number): boolean {
  return isWord(text[index - 1]) !== isWord(text[index]);
}

function isWord(char: string | undefined): boolean {
  return char !== undefined && /^\w$/.test(char);
}
