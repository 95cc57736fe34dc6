import { SurfaceError } from "../errors.ts";
import { misfit } from "./read-argument.ts";
import { toWords } from "./to-words.ts";

const maxLength = 256;
const maxWords = 16;

/** Words that say little of an operation, where there are others. */
const stopWords: ReadonlySet<string> = new Set(
  toWords(
    "a an and are at by can do does for from how i in is it me my now of on or our please right that the this to up want was we what which with you your",
  ),
);

/** What a caller looks for. */
export interface SearchQuery {
  /** The whole query, in lower case. */
  readonly text: string;
  /** The words that count, each once; empty: everything is found. */
  readonly words: readonly string[];
  /** The others: an operation may lack them, and is better with them. */
  readonly stopWords: readonly string[];
  /** Pairs of neighbours, which may be one word elsewhere: `roll back` and `rollback`. */
  readonly pairs: readonly (readonly [left: string, right: string])[];
  /** Whether the query is an operation's name: its words are searched in ids alone, and only whole matches are results. */
  readonly isName: boolean;
}

/**
 * Reads a query. One without a letter or digit finds everything.
 *
 * @throws SurfaceError `VALIDATION_ERROR`, for more than 256 characters or 16 words, however they are written together.
 */
export function toSearchQuery(q: string): SearchQuery {
  // Of UTF-16 units; a character may be two of them.
  if (q.length > maxLength * 2 || Array.from(q).length > maxLength)
    throw misfit("q", `expected at most ${maxLength} characters`);
  const all = toWords(q);
  const unique = [...new Set(all)];
  if (unique.length > maxWords) throw misfit("q", `expected at most ${maxWords} words`);
  const telling = unique.filter((word) => !stopWords.has(word));
  const words = telling.length === 0 ? unique : telling;
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

/** Returns the query for operations named like this; `undefined` for a text without words, or too long for a query. */
export function toNameQuery(name: string): SearchQuery | undefined {
  try {
    const query = toSearchQuery(name);
    // A name may be one of fifty in a batch: only its words are looked up.
    return query.words.length === 0 ? undefined : { ...query, stopWords: [], pairs: [], isName: true };
  } catch (cause) {
    if (cause instanceof SurfaceError) return undefined;
    throw cause;
  }
}
