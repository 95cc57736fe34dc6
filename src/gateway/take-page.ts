/** Bytes of JSON in a page. Neither this server nor most hosts cut a result of this size. */
const maxPageBytes = 96 * 1024;

/** A part of a list. */
export interface Page {
  /** The JSON text of its items, joined by commas. */
  readonly text: string;
  readonly count: number;
}

/** Returns the first items of a list: at most `limit`, and as many as fit into a page, but always one. */
export function takePage<TItem>(items: readonly TItem[], limit: number, describe: (item: TItem) => object): Page {
  const texts: string[] = [];
  let room = maxPageBytes;
  for (const item of items.slice(0, limit)) {
    const text = JSON.stringify(describe(item));
    room -= Buffer.byteLength(text) + 1;
    if (room < 0 && texts.length > 0) break;
    texts.push(text);
  }
  return { text: texts.join(","), count: texts.length };
}
