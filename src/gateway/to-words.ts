/** Part of a text between two signs that are neither letters nor digits, in lower case. */
export interface Chunk {
  readonly whole: string;
  /** The words that it is made of by its capitals: `worktreeCreate` is `worktree` and `create`. Empty where it is one. */
  readonly parts: readonly string[];
}

const signs = /[^\p{L}\p{N}\p{M}]+/u;
const capitals = /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u;

function toChunk(text: string): Chunk {
  const parts = text.split(capitals).map((part) => part.toLowerCase());
  return { whole: text.toLowerCase(), parts: parts.length === 1 ? [] : parts };
}

/** The chunks of a text, in their order: what is said in names, ids and sentences alike. */
export function toChunks(text: string): readonly Chunk[] {
  return text
    .normalize("NFKC")
    .split(signs)
    .filter((part) => part !== "")
    .map(toChunk);
}

/** All words that a text is found by: its chunks, whole and in parts. */
export function toWords(text: string): string[] {
  return toChunks(text).flatMap(({ whole, parts }) => [whole, ...parts]);
}
