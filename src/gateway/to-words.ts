const chunks = /[\p{L}\p{N}\p{M}]+/gu;
const capitals = /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u;

/** A word without the ending of its plural, so that one form finds the other. */
export function singular(word: string): string {
  if (word.length < 4 || !word.endsWith("s")) return word;
  if (word.endsWith("ies")) return `${word.slice(0, -3)}y`;
  if (/(?:ss|sh|ch|x|z)es$/.test(word)) return word.slice(0, -2);
  return /[siu]s$/.test(word) ? word : word.slice(0, -1);
}

/** The words of a run of letters and digits by its capitals: `worktreeCreate` has two. */
function toParts(chunk: string): readonly string[] {
  // Most are one word in lower case: ten thousand operations have a quarter of a million of them.
  const parts = chunk === chunk.toLowerCase() ? [chunk] : chunk.split(capitals);
  return parts.map((part) => singular(part.toLowerCase()));
}

/** The words of a text, in lower case and singular, in order: of names, ids and sentences alike. */
export function toWords(text: string): readonly string[] {
  return (text.normalize("NFKC").match(chunks) ?? []).flatMap(toParts);
}

/** All words that a text is found by: its words, and those that are written together or by a sign between them as one. */
export function toIndexWords(text: string): string[] {
  const found: string[] = [];
  for (const run of text.normalize("NFKC").split(/\s+/u)) {
    let before = "";
    for (const chunk of run.match(chunks) ?? []) {
      const parts = toParts(chunk);
      const whole = singular(chunk.toLowerCase());
      found.push(...parts);
      if (parts.length > 1) found.push(whole);
      if (before !== "") found.push(before + whole);
      before = chunk.toLowerCase();
    }
  }
  return found;
}
