import { PatternUnsupported, type CharTest, type PatternNode } from "./parse-pattern.ts";

/** An instruction of the machine in `run-program.ts`. `char` and `count` read a character, the others do not. */
export type Instruction =
  | { readonly kind: "char"; readonly test: CharTest }
  | { readonly kind: "split"; readonly targets: readonly number[] }
  | { readonly kind: "look"; readonly bit: number; readonly isNegative: boolean }
  /** Starts a counted repetition of one character; its `count` is the next instruction. */
  | { readonly kind: "enter"; readonly counter: number }
  | { readonly kind: "count"; readonly counter: number; readonly test: CharTest }
  | { readonly kind: "start" | "end" | "boundary" | "nonBoundary" };

/** The least and the greatest number of repetitions. */
export interface CountBounds {
  readonly min: number;
  readonly max: number;
}

/** Instructions, of which the last is followed by a match, and the bounds of the counters that they name. */
export interface Program {
  readonly code: readonly Instruction[];
  readonly counters: readonly CountBounds[];
}

/** The programs of one pattern. */
export interface PatternProgram {
  readonly main: Program;
  /** A program for each look-ahead, which reads the text backwards. A look-ahead comes after those within it. */
  readonly looks: readonly Program[];
  /** Nodes visited and instructions written: a measure of the time and memory that the programs took. */
  readonly size: number;
}

/** State shared by the programs of one pattern. */
interface Shared {
  size: number;
  readonly looks: Program[];
  /** Bits of the look-aheads: one that a repetition writes out again has the same program. */
  readonly bits: Map<PatternNode, number>;
}

interface Draft extends Program {
  readonly code: Instruction[];
  readonly counters: CountBounds[];
  readonly isReversed: boolean;
  readonly shared: Shared;
}

// Groups are written out as often as they repeat: `(?:(?:ab){1000}){1000}` would be two million instructions. One bound
// for a pattern with its look-aheads, or nested ones would multiply.
const maxSize = 10_000;
// Memory of a counter: it may hold as many starts as its greatest count.
const countsPerInstruction = 64;
// One bit of a number each.
const maxLooks = 32;

/**
 * Writes the programs of a pattern. A repetition of one character is one counter, however high it counts.
 *
 * @throws PatternUnsupported for a pattern that is too large.
 */
export function writeProgram(node: PatternNode): PatternProgram {
  const shared: Shared = { size: 0, looks: [], bits: new Map() };
  const main = write(shared, node, false);
  return { main, looks: shared.looks, size: shared.size };
}

function write(shared: Shared, node: PatternNode, isReversed: boolean): Program {
  const draft: Draft = { code: [], counters: [], isReversed, shared };
  emit(draft, node);
  return { code: draft.code, counters: draft.counters };
}

function spend({ shared }: Draft, size: number): void {
  shared.size += size;
  if (shared.size > maxSize) {
    throw new PatternUnsupported(`is too large: its repetitions, written out, take more than ${maxSize} instructions`);
  }
}

function push(draft: Draft, instruction: Instruction): void {
  spend(draft, 1);
  draft.code.push(instruction);
}

function emit(draft: Draft, node: PatternNode): void {
  spend(draft, 1);
  switch (node.kind) {
    case "sequence":
      for (const part of draft.isReversed ? node.parts.toReversed() : node.parts) emit(draft, part);
      break;
    case "choice":
      emitChoice(draft, node.arms);
      break;
    case "repeat":
      emitRepeat(draft, node);
      break;
    case "look":
      push(draft, { kind: "look", bit: bitOf(draft.shared, node), isNegative: node.isNegative });
      break;
    default:
      push(draft, node);
  }
}

function bitOf(shared: Shared, node: PatternNode & { kind: "look" }): number {
  const known = shared.bits.get(node);
  if (known !== undefined) return known;
  const program = write(shared, node.item, true);
  if (shared.looks.length === maxLooks) throw new PatternUnsupported(`has more than ${maxLooks} look-aheads`);
  const bit = 1 << shared.looks.length;
  shared.looks.push(program);
  shared.bits.set(node, bit);
  return bit;
}

function emitChoice(draft: Draft, arms: readonly PatternNode[]): void {
  const targets: number[] = [];
  const ends: number[][] = [];
  push(draft, { kind: "split", targets });
  for (const arm of arms) {
    targets.push(draft.code.length);
    emit(draft, arm);
    const end: number[] = [];
    ends.push(end);
    push(draft, { kind: "split", targets: end });
  }
  for (const end of ends) end.push(draft.code.length);
}

function emitRepeat(draft: Draft, { item, min, max }: PatternNode & { kind: "repeat" }): void {
  const isLoop = max === Number.POSITIVE_INFINITY;
  if (item.kind === "char" && (isLoop ? min > 1 : max > 1)) return emitCount(draft, item.test, { min, max });
  for (let count = 0; count < min; count++) {
    const { length } = draft.code;
    emit(draft, item);
    // An item without instructions is empty: once is as often as it takes.
    if (draft.code.length === length) return;
  }
  if (isLoop) return emitLoop(draft, item);
  const skips: number[][] = [];
  for (let count = min; count < max; count++) {
    const targets = [draft.code.length + 1];
    skips.push(targets);
    push(draft, { kind: "split", targets });
    emit(draft, item);
  }
  for (const targets of skips) targets.push(draft.code.length);
}

function emitLoop(draft: Draft, item: PatternNode): void {
  const start = draft.code.length;
  const targets = [start + 1];
  push(draft, { kind: "split", targets });
  emit(draft, item);
  push(draft, { kind: "split", targets: [start] });
  targets.push(draft.code.length);
}

function emitCount(draft: Draft, test: CharTest, { min, max }: CountBounds): void {
  const targets: number[] = [];
  if (min === 0) push(draft, { kind: "split", targets });
  targets.push(draft.code.length);
  const counter = draft.counters.push({ min: Math.max(min, 1), max }) - 1;
  if (min > 1 && max !== Number.POSITIVE_INFINITY) spend(draft, Math.ceil(max / countsPerInstruction));
  push(draft, { kind: "enter", counter });
  push(draft, { kind: "count", counter, test });
  targets.push(draft.code.length);
}
