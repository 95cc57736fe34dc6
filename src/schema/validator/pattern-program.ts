/** Tests one character, given by its code point. */
type CharTest = (code: number) => boolean;

/** A pattern as a tree. */
type PatternNode =
  | { readonly kind: "char"; readonly test: CharTest }
  | { readonly kind: "sequence"; readonly parts: readonly PatternNode[] }
  | { readonly kind: "choice"; readonly arms: readonly PatternNode[] }
  | { readonly kind: "repeat"; readonly item: PatternNode; readonly min: number; readonly max: number }
  | { readonly kind: "look"; readonly item: PatternNode; readonly isNegative: boolean }
  | { readonly kind: "start" | "end" | "boundary" | "nonBoundary" };

/** An instruction of the machine in `linear-pattern.ts`. `char` reads a character, the others do not. */
export type Instruction =
  | { readonly kind: "char"; readonly test: CharTest }
  | { readonly kind: "split"; readonly targets: readonly number[] }
  | { readonly kind: "look"; readonly bit: number; readonly isNegative: boolean }
  | { readonly kind: "start" | "end" | "boundary" | "nonBoundary" };

/** Instructions. The text matches after the last one. */
export type Program = readonly Instruction[];

/** The programs of one pattern. */
export interface PatternProgram {
  readonly main: Program;
  /** A program for each look-ahead, which reads the text backwards. A look-ahead comes after those within it. */
  readonly looks: readonly Program[];
  /** Nodes visited and instructions written: a measure of the time and memory that the programs took. */
  readonly size: number;
}

/**
 * Compiles a pattern that JavaScript compiles with the flag `u`. Writes a counted repetition out.
 *
 * @throws PatternUnsupported for back references, look-behind and modifiers, which a machine that never goes back cannot have,
 *   and for a pattern that is too large.
 */
export function compileProgram(source: string): PatternProgram {
  const shared: Shared = { size: 0, looks: [], bits: new Map() };
  const main = write(shared, readChoice({ source, index: 0 }), false);
  return { main, looks: shared.looks, size: shared.size };
}

interface Reader {
  readonly source: string;
  index: number;
}

/** Thrown for a pattern that is not supported. The message completes the sentence `The pattern …`. */
export class PatternUnsupported extends Error {}

const quantifierRegExp = /(?:([*+?])|\{(\d+)(?:(,)(\d*))?\})\??/y;
// One character or one class of characters: a pair of surrogates, an escape, a class in brackets, anything else.
const unitRegExp =
  /\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|\\u\{[\da-fA-F]+\}|\\u[\da-fA-F]{4}|\\x[\da-fA-F]{2}|\\c[a-zA-Z]|\\[pP]\{[^}]*\}|\\[^]|\[(?:\\[^]|[^\]\\])*\]|[^]/uy;
const assertions: Readonly<Record<string, "start" | "end" | "boundary" | "nonBoundary">> = {
  "^": "start",
  $: "end",
  [String.raw`\b`]: "boundary",
  [String.raw`\B`]: "nonBoundary",
};

function readChoice(reader: Reader): PatternNode {
  const arms = [readSequence(reader)];
  while (reader.source[reader.index] === "|") {
    reader.index += 1;
    arms.push(readSequence(reader));
  }
  const [only] = arms;
  return only !== undefined && arms.length === 1 ? only : { kind: "choice", arms };
}

function readSequence(reader: Reader): PatternNode {
  const parts: PatternNode[] = [];
  for (;;) {
    const char = reader.source[reader.index];
    if (char === undefined || char === "|" || char === ")") break;
    parts.push(readQuantified(reader, char === "(" ? readGroup(reader) : readUnit(reader)));
  }
  const [only] = parts;
  return only !== undefined && parts.length === 1 ? only : { kind: "sequence", parts };
}

function readQuantified(reader: Reader, item: PatternNode): PatternNode {
  quantifierRegExp.lastIndex = reader.index;
  const match = quantifierRegExp.exec(reader.source);
  if (match === null) return item;
  reader.index = quantifierRegExp.lastIndex;
  const [, sign, least, comma, most] = match;
  if (sign !== undefined) {
    return { kind: "repeat", item, min: sign === "+" ? 1 : 0, max: sign === "?" ? 1 : Number.POSITIVE_INFINITY };
  }
  const min = Number(least);
  if (comma === undefined) return { kind: "repeat", item, min, max: min };
  return { kind: "repeat", item, min, max: most === "" ? Number.POSITIVE_INFINITY : Number(most) };
}

function readGroup(reader: Reader): PatternNode {
  const opening = /\((?:\?(?:[:=!]|<(?![=!])[^>]*>))?(?!\?)/y;
  opening.lastIndex = reader.index;
  const [found] = opening.exec(reader.source) ?? [];
  if (found === undefined) {
    const isLookBehind = reader.source.startsWith("(?<", reader.index);
    throw new PatternUnsupported(`has ${isLookBehind ? "a look-behind" : 'a modifier such as "(?i:"'}, not supported`);
  }
  reader.index += found.length;
  const item = readChoice(reader);
  // The closing parenthesis: JavaScript has compiled the pattern, so it is there.
  reader.index += 1;
  return found === "(?=" || found === "(?!" ? { kind: "look", item, isNegative: found === "(?!" } : item;
}

function readUnit(reader: Reader): PatternNode {
  unitRegExp.lastIndex = reader.index;
  const [unit = ""] = unitRegExp.exec(reader.source) ?? [];
  if (/^\\[1-9k]/.test(unit)) throw new PatternUnsupported("has a back reference, not supported");
  reader.index += unit.length;
  const assertion = assertions[unit];
  if (assertion !== undefined) return { kind: assertion };
  const isLiteral = unit !== "." && !unit.startsWith("\\") && !unit.startsWith("[");
  return { kind: "char", test: isLiteral ? toLiteralTest(unit) : toClassTest(unit) };
}

function toLiteralTest(char: string): CharTest {
  const literal = char.codePointAt(0);
  return (code) => code === literal;
}

/** Tests a class with the engine of JavaScript, an ASCII character once: a call of `RegExp.test` takes 20 table look-ups. */
function toClassTest(unit: string): CharTest {
  const regExp = new RegExp(`^${unit}$`, "u");
  const known = new Int8Array(128);
  return (code) => {
    if (code >= known.length) return regExp.test(String.fromCodePoint(code));
    if (known[code] === 0) known[code] = regExp.test(String.fromCodePoint(code)) ? 1 : -1;
    return known[code] === 1;
  };
}

/** State shared by the programs of one pattern. */
interface Shared {
  size: number;
  readonly looks: Program[];
  /** The bit of each look-ahead. One that a repetition writes out again has the same program. */
  readonly bits: Map<PatternNode, number>;
}

interface Draft {
  readonly code: Instruction[];
  readonly isReversed: boolean;
  readonly shared: Shared;
}

// Repetitions are written out: `(?:(?:ab){1000}){1000}` would be two million instructions. A pattern and its look-aheads share one
// bound, or nested ones would multiply.
const maxSize = 50_000;
// One bit of a number each.
const maxLooks = 32;

function write(shared: Shared, node: PatternNode, isReversed: boolean): Program {
  const draft: Draft = { code: [], isReversed, shared };
  emit(draft, node);
  return draft.code;
}

function countSize({ shared }: Draft, size: number): void {
  shared.size += size;
  if (shared.size > maxSize) {
    throw new PatternUnsupported(`is too large: its repetitions, written out, take more than ${maxSize} instructions`);
  }
}

function push(draft: Draft, instruction: Instruction): void {
  countSize(draft, 1);
  draft.code.push(instruction);
}

function emit(draft: Draft, node: PatternNode): void {
  countSize(draft, 1);
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
