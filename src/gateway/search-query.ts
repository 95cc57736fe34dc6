import { misfit } from "./read-argument.ts";
import { toChunks, type Chunk } from "./to-words.ts";

const maxLength = 256;
const maxWords = 16;

/** What is looked for. */
export interface SearchQuery {
  /** All of it, in lower case. */
  readonly text: string;
  /** Each once; none: everything is found. */
  readonly chunks: readonly Chunk[];
}

/** How many words have to be found: those of a chunk that is made of several are looked up one by one. */
function countWords(chunks: readonly Chunk[]): number {
  return new Set(chunks.flatMap(({ whole, parts }) => (parts.length === 0 ? [whole] : parts))).size;
}

/**
 * Reads what somebody looks for. Without a letter or digit it is everything.
 *
 * @throws SurfaceError `VALIDATION_ERROR`, for more than 256 characters or 16 words, however they are written together.
 */
export function toSearchQuery(q: string): SearchQuery {
  // Of UTF-16 units; a character may be two of them.
  if (q.length > maxLength * 2 || Array.from(q).length > maxLength)
    throw misfit("q", `expected at most ${maxLength} characters`);
  const chunks = [...new Map(toChunks(q).map((chunk) => [chunk.whole, chunk])).values()];
  if (chunks.length > maxWords || countWords(chunks) > maxWords)
    throw misfit("q", `expected at most ${maxWords} words`);
  return { text: q.normalize("NFKC").trim().toLowerCase(), chunks };
}
