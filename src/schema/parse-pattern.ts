/** A pattern as a tree. A `char` tests one character, by JavaScript's own engine where it is a class. */
export type PatternNode =
  | { readonly kind: "char"; readonly test: (char: string) => boolean }
  | { readonly kind: "sequence"; readonly parts: readonly PatternNode[] }
  | { readonly kind: "choice"; readonly arms: readonly PatternNode[] }
  | { readonly kind: "repeat"; readonly item: PatternNode; readonly min: number; readonly max: number }
  | { readonly kind: "look"; readonly item: PatternNode; readonly isNegative: boolean }
  | { readonly kind: "start" | "end" | "boundary" | "nonBoundary" };

interface Reader {
  readonly source: string;
  index: number;
}

/** What has no place in a machine that never goes back. */
class Unsupported extends Error {}

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

/** Parses a pattern that JavaScript compiles with the flag `u`; undefined for back references, look-behind and modifiers. */
export function parsePattern(source: string): PatternNode | undefined {
  const reader: Reader = { source, index: 0 };
  try {
    return readChoice(reader);
  } catch (cause) {
    if (cause instanceof Unsupported) return undefined;
    throw cause;
  }
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
    if (char === undefined || char === "|" || char === ")") return { kind: "sequence", parts };
    parts.push(readQuantified(reader, char === "(" ? readGroup(reader) : readUnit(reader)));
  }
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
  if (found === undefined) throw new Unsupported();
  reader.index += found.length;
  const item = readChoice(reader);
  // The closing parenthesis: JavaScript has compiled the pattern, so it is there.
  reader.index += 1;
  return found === "(?=" || found === "(?!" ? { kind: "look", item, isNegative: found === "(?!" } : item;
}

function readUnit(reader: Reader): PatternNode {
  unitRegExp.lastIndex = reader.index;
  const [unit = ""] = unitRegExp.exec(reader.source) ?? [];
  if (unit === "" || /^\\[1-9k]/.test(unit)) throw new Unsupported();
  reader.index += unit.length;
  const assertion = assertions[unit];
  if (assertion !== undefined) return { kind: assertion };
  if (unit !== "." && !unit.startsWith("\\") && !unit.startsWith("[")) {
    return { kind: "char", test: (char) => char === unit };
  }
  const regExp = new RegExp(`^${unit}$`, "u");
  return { kind: "char", test: (char) => regExp.test(char) };
}
