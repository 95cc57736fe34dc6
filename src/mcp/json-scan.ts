import type { FrameLimits } from "./parse-frame.ts";
import { isRequestId, type RequestId } from "./protocol.ts";

// Kinds of characters outside of strings. Plain constants: the scanners compare them a million times.
const OTHER = 0;
const SPACE = 1;
const QUOTE = 2;
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
function markAt(text: string, at: number): number {
  return kinds[text.charCodeAt(at)] ?? OTHER;
}

/** How a mark changes the depth: one down, one up, or none. */
function levelsOf(mark: number): number {
  if (mark === OPEN) return 1;
  return mark === CLOSE ? -1 : 0;
}

const BACKSLASH = 0x5c;

/**
 * Returns the index of the quote that closes the JSON string opened at `open`, or the length of the text. Linear: each run of
 * backslashes is counted once.
 */
function skipString(text: string, open: number): number {
  for (let quote = text.indexOf('"', open + 1); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let first = quote;
    while (text.charCodeAt(first - 1) === BACKSLASH) first -= 1;
    if ((quote - first) % 2 === 0) return quote;
  }
  return text.length;
}

type FrameMeasure = "ok" | "too-deep" | "too-many-elements";

/**
 * Bounds the depth and the elements of JSON text without parsing it, so that a hostile text never becomes objects. Returns the limit
 * that is passed first. Most frames are settled by their length and by their brackets, which native search counts.
 */
export function measureFrame(text: string, limits: FrameLimits): FrameMeasure {
  if (isShort(text, limits.maxElements) && isShallow(text, limits.maxDepth)) return "ok";
  return walk(text, limits);
}

/** An element takes two characters at least: itself and a comma or bracket. */
function isShort(text: string, maxElements: number): boolean {
  return text.length < 2 * maxElements;
}

/** A level takes one opening bracket, so a text with few of them, inside strings or not, cannot be deep. */
function isShallow(text: string, maxDepth: number): boolean {
  let left = maxDepth;
  for (let at = text.indexOf("{"); at !== -1 && left >= 0; at = text.indexOf("{", at + 1)) left -= 1;
  for (let at = text.indexOf("["); at !== -1 && left >= 0; at = text.indexOf("[", at + 1)) left -= 1;
  return left >= 0;
}

function walk(text: string, limits: FrameLimits): FrameMeasure {
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

/** A container with anything in it has one element more than it has commas: the bracket that closes it counts that one. */
function endsElement(mark: number, last: number): boolean {
  return mark === COMMA || (mark === CLOSE && last !== OPEN);
}

interface EnvelopeScan {
  /** The last id at the top level; `null` if none can be echoed. */
  readonly id: RequestId | null;
  readonly isResponse: boolean;
}

/** No key that is looked for is longer with every letter written as an escape of six characters, and its quotes. */
const MAX_KEY = 6 * "method".length + 2;
/** Nor is an id of 1 KiB with every byte written so. */
const MAX_ID = 6 * 1024 + 2;

/** Finds the id of a message that is too large to parse, in one pass: clients write the id first or last. */
export function scanEnvelope(text: string): EnvelopeScan {
  let id: RequestId | null = null;
  const seen = new Set<unknown>();
  for (const [key, valueAt] of topLevelKeys(text)) {
    if (key === "id") id = readId(text, valueAt);
    seen.add(key);
  }
  return { id, isResponse: !seen.has("method") && (seen.has("result") || seen.has("error")) };
}

/** Each short enough key of the outermost object, decoded, with the index at which its value starts. */
function* topLevelKeys(text: string): Generator<readonly [key: unknown, valueAt: number]> {
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const mark = markAt(text, at);
    depth += levelsOf(mark);
    if (mark !== QUOTE) continue;
    const end = skipString(text, at);
    const valueAt = depth === 1 ? findValue(text, end + 1) : undefined;
    if (valueAt !== undefined && end - at < MAX_KEY) yield [decode(text.slice(at, end + 1)), valueAt];
    at = end;
  }
}

/** Where the value starts when the string that ended before `from` is a key, so when a colon follows it. */
function findValue(text: string, from: number): number | undefined {
  const colon = skipSpace(text, from);
  return text[colon] === ":" ? skipSpace(text, colon + 1) : undefined;
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && markAt(text, at) === SPACE) at += 1;
  return at;
}

function readId(text: string, at: number): RequestId | null {
  const head = text.slice(at, at + MAX_ID);
  const token = head.startsWith('"') ? head.slice(0, skipString(head, 0) + 1) : (/^[^\s,}]*/.exec(head)?.[0] ?? "");
  const id = decode(token);
  // A number too small for a double reads as 0, and could not be echoed.
  const isUnderflow = id === 0 && !/^-?0*\.?0*(?:e|$)/i.test(token);
  return isRequestId(id) && !isUnderflow ? id : null;
}

function decode(token: string): unknown {
  try {
    return JSON.parse(token);
  } catch {
    return undefined;
  }
}
