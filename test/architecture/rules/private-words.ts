// Spelled in two halves, so that this file does not hold what it looks for.
const halves: readonly (readonly [string, string])[] = [
  ["/wor", "k/"],
  ["shared/", "reference"],
  ["shared/", "design"],
  ["type-", "sketch.ts"],
];

/** Places on the machine of whoever wrote a line. */
export const privateWords: readonly string[] = halves.map(([head, tail]) => head + tail);

/** Lines that name a place on their author's machine: it means nothing to a reader elsewhere. */
export function findPrivateWords(path: string, text: string): string[] {
  return text.split("\n").flatMap((line, index) => {
    const hit = privateWords.find((word) => line.includes(word));
    return hit === undefined ? [] : [`${path}:${index + 1} names "${hit}"`];
  });
}
