import type { FrameLimits } from "./limits.ts";
import { skipString } from "./skip-string.ts";

/** What {@link measureFrame} found. */
export type FrameMeasure = "ok" | "too-deep" | "too-many-elements";

const OTHER = 0;
const SPACE = 1;
const QUOTE = 2;
const OPEN = 3;
const CLOSE = 4;
const COMMA = 5;

const kinds = new Uint8Array(128).fill(OTHER);
for (const space of " \t\r\n") kinds[space.charCodeAt(0)] = SPACE;
kinds['"'.charCodeAt(0)] = QUOTE;
for (const open of "{[") kinds[open.charCodeAt(0)] = OPEN;
for (const close of "}]") kinds[close.charCodeAt(0)] = CLOSE;
kinds[",".charCodeAt(0)] = COMMA;

/**
 * Bounds the depth and the number of elements of a JSON text without parsing it, so that a hostile text is refused
 * before it becomes objects. Whichever limit is passed first, reading from the left, is named. For text that is not
 * JSON the answer is arbitrary, but still found in one pass.
 *
 * Most frames are settled by their length or by the number of their brackets, which native search counts; only the
 * others are walked.
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
  let last = OTHER;
  for (let at = 0; at < text.length; at += 1) {
    const kind = kinds[text.charCodeAt(at)] ?? OTHER;
    if (kind === SPACE) continue;
    if (kind === QUOTE) at = skipString(text, at);
    depth += levelsOf(kind);
    if (depth > limits.maxDepth) return "too-deep";
    if (endsElement(kind, last)) elements += 1;
    if (elements > limits.maxElements) return "too-many-elements";
    last = kind;
  }
  return "ok";
}

function levelsOf(kind: number): number {
  if (kind === OPEN) return 1;
  return kind === CLOSE ? -1 : 0;
}

/** A container with anything in it has one element more than it has commas: the bracket that closes it counts that one. */
function endsElement(kind: number, last: number): boolean {
  return kind === COMMA || (kind === CLOSE && last !== OPEN);
}
