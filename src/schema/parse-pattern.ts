/** Tests one character, given by its code point. */
export type CharTest = (code: number) => boolean;

/** A pattern as a tree. */
export type PatternNode =
  | { readonly kind: "char"; readonly test: CharTest }
  | { readonly kind: "sequence"; readonly parts: readonly PatternNode[] }
  | { readonly kind: "choice"; readonly arms: readonly PatternNode[] }
  | { readonly kind: "repeat"; readonly item: PatternNode; readonly min: number; readonly max: number }
  | { readonly kind: "look"; readonly item: PatternNode; readonly isNegative: boolean }
  | { readonly kind: "start" | "end" | "boundary" | "nonBoundary" };

interface Reader {
  readonly source: string;
  index: number;
}

/** Thrown for a pattern that cannot be checked. The message completes the sentence `The pattern …`. */
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

/**
 * Parses a pattern that JavaScript compiles with the flag `u`.
 *
 * @throws PatternUnsupported for back references, look-behind and modifiers: a machine that never goes back has none.
 */
export function parsePattern(source: string): PatternNode {
  return readChoice({ source, index: 0 });
}

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
