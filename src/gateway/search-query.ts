import { misfit } from "./read-argument.ts";
import { toChunks, type Chunk } from "./to-words.ts";

const maxLength = 256;
const maxChunks = 16;

/** What is looked for. */
export interface SearchQuery {
  /** All of it, in lower case. */
  readonly text: string;
  /** Each once; none: everything is found. */
  readonly chunks: readonly Chunk[];
}

/**
 * Reads what somebody looks for. Without a letter or digit it is everything.
 *
 * @throws SurfaceError `VALIDATION_ERROR`, for more than 256 characters or 16 words.
 */
export function toSearchQuery(q: string): SearchQuery {
  // Of UTF-16 units; a character may be two of them.
  if (q.length > maxLength * 2 || Array.from(q).length > maxLength)
    throw misfit("q", `expected at most ${maxLength} characters`);
  const chunks = [...new Map(toChunks(q).map((chunk) => [chunk.whole, chunk])).values()];
  if (chunks.length > maxChunks) throw misfit("q", `expected at most ${maxChunks} words`);
  return { text: q.normalize("NFKC").trim().toLowerCase(), chunks };
}
