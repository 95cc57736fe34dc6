import { parsePattern, PatternUnsupported } from "./parse-pattern.ts";
import { writeProgram } from "./pattern-program.ts";
import { runProgram, type Spend } from "./run-program.ts";

/** Tells whether a text has a match, in time that grows with the text's length times the pattern's. */
export type LinearPattern = (text: string, spend: Spend) => boolean;

/** A compiled pattern, or the reason why there is none: it completes the sentence `The pattern …`. */
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
    const program = writeProgram(parsePattern(source));
    return { matches: (text, spend) => runProgram(program, text, spend), size: program.size };
  } catch (cause) {
    if (cause instanceof PatternUnsupported) return { reason: cause.message };
    if (cause instanceof SyntaxError) return { reason: 'is not a regular expression of JavaScript with the flag "u"' };
    throw cause;
  }
}
