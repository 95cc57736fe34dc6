// A dot, a slash, and what somebody strips behind dots: as they are, or as what decoding makes them, however often.
const dot = String.raw`(?:\.|%(?:25)*2e)`;
const slash = String.raw`(?:[/\\]|%(?:25)*(?:2f|5c))`;
const stripped = String.raw`(?:[. ]|%(?:25)*2[e0])*`;

const climbing = new RegExp(`(?:^|${slash})${dot}{2}${stripped}(?:$|${slash})`, "i");

/**
 * Whether a text has a segment that leads out of the folder that it is read in, also where whoever has it decodes it once
 * more than it was encoded (CWE-22, CWE-174). Takes time in proportion to the length of the text.
 */
export function isClimbing(text: string): boolean {
  return climbing.test(text);
}
