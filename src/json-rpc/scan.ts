// Checks of a JSON text before it is parsed: a hostile text must never become objects.

// Kinds of characters outside of strings. Plain constants: the scanners compare them a million times.
const OTHER = 0;
export const SPACE = 1;
export const QUOTE = 2;
const OPEN = 3;
const CLOSE = 4;
const COMMA = 5;

const kinds: Uint8Array = new Uint8Array(128);
for (const [kind, characters] of [
  [SPACE, " \t\r\n"],
  [QUOTE, '"'],
  [OPEN, "{["],
  [CLOSE, "}]"],
  [COMMA, ","],
] as const) {
  for (const character of characters) kinds[character.charCodeAt(0)] = kind;
}

/** Classifies the character at an index; outside the text, {@link OTHER}. */
export function markAt(text: string, at: number): number {
  return kinds[text.charCodeAt(at)] ?? OTHER;
}

/** Returns the change of depth at a mark: 1, -1 or 0. */
export function levelsOf(mark: number): number {
  if (mark === OPEN) return 1;
  return mark === CLOSE ? -1 : 0;
}

const BACKSLASH = 0x5c;

/**
 * Returns the index of the quote that closes the JSON string opened at `open`, or the length of the text. Linear: each run of
 * backslashes is counted once.
 */
export function skipString(text: string, open: number): number {
  for (let quote = text.indexOf('"', open + 1); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let first = quote;
    while (text.charCodeAt(first - 1) === BACKSLASH) first -= 1;
    if ((quote - first) % 2 === 0) return quote;
  }
  return text.length;
}

/** Bounds of a JSON text. */
export interface JsonLimits {
  readonly maxDepth: number;
  readonly maxElements: number;
}

type FrameMeasure = "ok" | "too-deep" | "too-many-elements";

/**
 * Bounds the depth and the elements of a JSON text without parsing it. Returns the first limit that the text exceeds. The length and the
 * number of brackets, which native search counts, settle most texts.
 */
export function measureFrame(text: string, limits: JsonLimits): FrameMeasure {
  if (isShort(text, limits.maxElements) && isShallow(text, limits.maxDepth)) return "ok";
  return walk(text, limits);
}

/** Returns whether the text is too short for more elements: each takes at least two characters, itself and a comma or bracket. */
function isShort(text: string, maxElements: number): boolean {
  return text.length < 2 * maxElements;
}

/** Returns whether the text has too few opening brackets, inside strings or not, to be deep. */
function isShallow(text: string, maxDepth: number): boolean {
  let left = maxDepth;
  for (let at = text.indexOf("{"); at !== -1 && left >= 0; at = text.indexOf("{", at + 1)) left -= 1;
  for (let at = text.indexOf("["); at !== -1 && left >= 0; at = text.indexOf("[", at + 1)) left -= 1;
  return left >= 0;
}

function walk(text: string, limits: JsonLimits): FrameMeasure {
  let depth = 0;
  let elements = 0;
  let last: number = OTHER;
  for (let at = 0; at < text.length; at += 1) {
    const mark = markAt(text, at);
    if (mark === SPACE) continue;
    if (mark === QUOTE) at = skipString(text, at);
    depth += levelsOf(mark);
    if (depth > limits.maxDepth) return "too-deep";
    if (endsElement(mark, last)) elements += 1;
    if (elements > limits.maxElements) return "too-many-elements";
    last = mark;
  }
  return "ok";
}

/** Returns whether a mark ends an element. The bracket that closes a container counts the element after the last comma. */
function endsElement(mark: number, last: number): boolean {
  return mark === COMMA || (mark === CLOSE && last !== OPEN);
}

/** Returns whether a JSON text has at most this many levels. For text that is not JSON the answer is arbitrary. */
export function fitsDepth(text: string, maxDepth: number): boolean {
  return isShallow(text, maxDepth) || walk(text, { maxDepth, maxElements: Number.POSITIVE_INFINITY }) === "ok";
}

/**
 * Returns whether a JSON text has at most this many commas and opening brackets outside of its strings. For text that is not JSON the
 * answer is arbitrary.
 */
export function fitsValues(text: string, maxValues: number): boolean {
  if (text.length <= maxValues) return true;
  let values = 0;
  for (let at = 0; at < text.length && values <= maxValues; at += 1) {
    const mark = markAt(text, at);
    if (mark === QUOTE) at = skipString(text, at);
    else if (mark === COMMA || mark === OPEN) values += 1;
  }
  return values <= maxValues;
}
