import { invalidArgument } from "../catalog/tool-schemas.ts";
import { SurfaceError } from "../errors.ts";

const chunks = /[\p{L}\p{N}\p{M}]+/gu;
const capitals = /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u;

/** Returns a word without its plural ending, so that one form finds the other. */
function singular(word: string): string {
  if (word.length < 4 || !word.endsWith("s")) return word;
  if (word.endsWith("ies")) return `${word.slice(0, -3)}y`;
  if (/(?:ss|sh|ch|x|z)es$/.test(word)) return word.slice(0, -2);
  return /[siu]s$/.test(word) ? word : word.slice(0, -1);
}

/** Splits a run of letters and digits at its capitals: `worktreeCreate` has two words. */
function toParts(chunk: string): readonly string[] {
  // Faster for one word in lower case: 10,000 operations have 250,000 of them.
  const parts = chunk === chunk.toLowerCase() ? [chunk] : chunk.split(capitals);
  return parts.map((part) => singular(part.toLowerCase()));
}

/** Returns the words of a name, id or sentence in order, in lower case and singular. */
function toWords(text: string): readonly string[] {
  return (text.normalize("NFKC").match(chunks) ?? []).flatMap(toParts);
}

/** Returns the words of a text for the index, with each compound, such as `roll-back` and `rollBack`, as one word too. */
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

const maxLength = 256;
const maxWords = 16;

/** Words that are optional beside others. */
const stopWords: ReadonlySet<string> = new Set(
  toWords(
    "a an and are at by can do does for from how i in is it me my now of on or our please right that the this to up want was we what which with you your",
  ),
);

/** The query of a search. */
export interface SearchQuery {
  /** The whole query, in lower case. */
  readonly text: string;
  /** The words to find, each once. Without words, all operations match. */
  readonly words: readonly string[];
  /** Optional words, which raise the rank. */
  readonly stopWords: readonly string[];
  /** Pairs of neighbours, which other texts may have as one word: `roll back` and `rollback`. */
  readonly pairs: readonly (readonly [left: string, right: string])[];
  /** Whether the query is the name of an operation: its words are searched in ids only, and all must match. */
  readonly isName: boolean;
}

/** Reads a query. @throws SurfaceError `VALIDATION_ERROR` for more than 256 characters or 16 words. */
export function toSearchQuery(q: string): SearchQuery {
  // A character may be two UTF-16 units.
  if (q.length > maxLength * 2 || Array.from(q).length > maxLength) {
    throw invalidArgument("q", `expected at most ${maxLength} characters`);
  }
  const all = toWords(q);
  const unique = [...new Set(all)];
  if (unique.length > maxWords) throw invalidArgument("q", `expected at most ${maxWords} words`);
  const required = unique.filter((word) => !stopWords.has(word));
  const words = required.length === 0 ? unique : required;
  const pairs = new Map(
    all.slice(1).map((right, index) => [`${all[index]} ${right}`, [all[index] ?? "", right] as const]),
  );
  return {
    text: q.normalize("NFKC").trim().toLowerCase(),
    words,
    stopWords: unique.filter((word) => !words.includes(word)),
    pairs: [...pairs.values()].slice(0, maxWords),
    isName: false,
  };
}

/** Returns the query for operations with a similar name; `undefined` for a text without words or too long. */
export function toNameQuery(name: string): SearchQuery | undefined {
  try {
    const query = toSearchQuery(name);
    // A batch may have 50 names, so only words are looked up.
    return query.words.length === 0 ? undefined : { ...query, stopWords: [], pairs: [], isName: true };
  } catch (cause) {
    if (cause instanceof SurfaceError) return undefined;
    throw cause;
  }
}
