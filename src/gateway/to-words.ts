/** Part of a text between two signs that are neither letters nor digits, in lower case. */
export interface Chunk {
  readonly whole: string;
  /** The words that it is made of by its capitals: `worktreeCreate` is `worktree` and `create`. Empty where it is one. */
  readonly parts: readonly string[];
}

const chunk = /[\p{L}\p{N}\p{M}]+/gu;
const capitals = /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u;
const noParts: readonly string[] = [];

function toChunk(text: string): Chunk {
  const whole = text.toLowerCase();
  // Most are: ten thousand operations have a quarter of a million of them.
  if (whole === text) return { whole, parts: noParts };
  const parts = text.split(capitals);
  return { whole, parts: parts.length === 1 ? noParts : parts.map((part) => part.toLowerCase()) };
}

/** The chunks of a text, in their order: what is said in names, ids and sentences alike. */
export function toChunks(text: string): readonly Chunk[] {
  return (text.normalize("NFKC").match(chunk) ?? []).map(toChunk);
}

/** All words that a text is found by: its chunks, whole and in parts. */
export function toWords(text: string): string[] {
  return toChunks(text).flatMap(({ whole, parts }) => [whole, ...parts]);
}
