import { compileProgram, PatternUnsupported } from "./pattern-program.ts";
import type { Instruction, PatternProgram, Program } from "./pattern-program.ts";

/** Tells whether a text has a match, in time that grows with the text's length times the pattern's. */
export type LinearPattern = (text: string, countSteps: CountSteps) => boolean;

/** A compiled pattern, or the reason for refusing it, which completes the sentence `The pattern …`. */
export type CompiledPattern =
  | { readonly matches: LinearPattern; readonly size: number; readonly reason?: never }
  | { readonly reason: string; readonly matches?: never; readonly size?: never };

/**
 * Compiles a JavaScript pattern (flag `u`) to a machine that follows all alternatives at once and never goes back, so
 * that no text makes it take exponential time, as `^(a+)+$` does in the engine of JavaScript. Look-ahead is supported;
 * back references, look-behind and modifiers are not.
 */
export function compileLinearPattern(source: string): CompiledPattern {
  try {
    // The parser relies on a correct pattern.
    RegExp(source, "u");
    const program = compileProgram(source);
    return { matches: (text, countSteps) => runProgram(program, text, countSteps), size: program.size };
  } catch (cause) {
    if (cause instanceof PatternUnsupported) return { reason: cause.message };
    if (cause instanceof SyntaxError) return { reason: 'is not a regular expression of JavaScript with the flag "u"' };
    throw cause;
  }
}

// Memory that is cleared in the time of one step.
const wordsPerStep = 16;
const lastOfOneUnit = 0xff_ff;

/** Counts steps. @throws when there were too many. */
type CountSteps = (steps: number) => void;

/** The text that programs read. */
interface Input {
  readonly text: string;
  readonly countSteps: CountSteps;
  /** A bit for each look-ahead that holds, by index of the text. */
  readonly looks: Uint32Array;
}

/** Tells whether a text has a match. Marks the places where each look-ahead holds first, in one pass backwards. */
function runProgram({ main, looks }: PatternProgram, text: string, countSteps: CountSteps): boolean {
  const input: Input = { text, countSteps, looks: new Uint32Array(looks.length === 0 ? 0 : text.length + 1) };
  for (const [at, program] of looks.entries()) markLook(program, input, 1 << at);
  const machine = new Machine(main, input);
  for (let index = 0; ;) {
    if (machine.begin(index)) return true;
    if (index >= text.length) return false;
    // The index is within the text.
    const code = text.codePointAt(index) ?? 0;
    index += lengthOf(code);
    machine.step(code, index);
  }
}

/** Sets the bit of a look-ahead at each place where it holds: where a match ends for its program, which reads backwards. */
function markLook(program: Program, input: Input, bit: number): void {
  const { text, looks } = input;
  const machine = new Machine(program, input);
  for (let index = text.length; ;) {
    if (machine.begin(index)) looks[index] = (looks[index] ?? 0) | bit;
    if (index === 0) return;
    const code = codeBefore(text, index);
    index -= lengthOf(code);
    machine.step(code, index);
  }
}

/** Returns the number of UTF-16 units of a character. */
function lengthOf(code: number): number {
  return code > lastOfOneUnit ? 2 : 1;
}

function codeBefore(text: string, index: number): number {
  const pair = index > 1 ? (text.codePointAt(index - 2) ?? 0) : 0;
  return pair > lastOfOneUnit ? pair : text.charCodeAt(index - 1);
}

/** Follows the states of one program through a text. */
class Machine {
  readonly #code: Program;
  readonly #input: Input;
  readonly #open: number[] = [];
  /** The place where each state was last added, by number: a new place needs no clearing. */
  readonly #seen: Uint32Array;
  #turn = 1;
  #now: number[] = [];
  #next: number[] = [];
  #isMatched = false;

  constructor(code: Program, input: Input) {
    this.#code = code;
    this.#input = input;
    this.#seen = new Uint32Array(code.length + 1);
    // Short texts by the thousand would otherwise allocate without end.
    input.countSteps(code.length / wordsPerStep);
  }

  /** Begins a match at a place; true when one that has begun there or before ends there. */
  begin(index: number): boolean {
    this.#add(0, index);
    return this.#isMatched;
  }

  /** Reads a character and moves to the place behind it: each state that takes the character goes on. */
  step(code: number, index: number): void {
    const now = this.#now;
    this.#input.countSteps(now.length);
    this.#now = this.#next;
    this.#now.length = 0;
    this.#next = now;
    this.#turn += 1;
    this.#isMatched = false;
    for (const state of now) {
      const instruction = this.#code[state];
      if (instruction?.kind === "char" && instruction.test(code)) this.#add(state + 1, index);
    }
  }

  /** Adds a state, and all that follow it without reading a character. */
  #add(start: number, index: number): void {
    const open = this.#open;
    const seen = this.#seen;
    const turn = this.#turn;
    let steps = 0;
    for (let state: number | undefined = start; state !== undefined; state = open.pop()) {
      steps += 1;
      if (seen[state] === turn) continue;
      seen[state] = turn;
      this.#enter(state, index);
    }
    this.#input.countSteps(steps);
  }

  #enter(state: number, index: number): void {
    const instruction = this.#code[state];
    // Behind the last instruction.
    if (instruction === undefined) {
      this.#isMatched = true;
      return;
    }
    switch (instruction.kind) {
      case "char":
        this.#now.push(state);
        break;
      case "split":
        for (const target of instruction.targets) this.#open.push(target);
        break;
      default:
        if (this.#holds(instruction, index)) this.#open.push(state + 1);
    }
  }

  #holds(instruction: Instruction, index: number): boolean {
    const { text, looks } = this.#input;
    switch (instruction.kind) {
      case "start":
        return index === 0;
      case "end":
        return index === text.length;
      case "boundary":
        return isBoundary(text, index);
      case "nonBoundary":
        return !isBoundary(text, index);
      case "look":
        return (((looks[index] ?? 0) & instruction.bit) !== 0) !== instruction.isNegative;
      default:
        return false;
    }
  }
}

function isBoundary(text: string, index: number): boolean {
  return isWord(text.charCodeAt(index - 1)) !== isWord(text.charCodeAt(index));
}

/** Tests a UTF-16 unit for `\w`. `NaN`, the unit before or after the text, does not match. */
function isWord(unit: number): boolean {
  const isDigit = unit >= 0x30 && unit <= 0x39;
  const lower = unit | 0x20;
  return isDigit || unit === 0x5f || (unit < 0x80 && lower >= 0x61 && lower <= 0x7a);
}
