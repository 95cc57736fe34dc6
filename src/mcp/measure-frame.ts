import { CLOSE, COMMA, OPEN, OTHER, QUOTE, SPACE, levelsOf, markAt } from "./json-marks.ts";
import type { FrameLimits } from "./limits.ts";
import { skipString } from "./skip-string.ts";

/** What {@link measureFrame} found. */
export type FrameMeasure = "ok" | "too-deep" | "too-many-elements";

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
