/** How much of a list is told at once, in bytes of its JSON: little enough to be given whole, by us and by most hosts. */
const maxPageBytes = 96 * 1024;

/** A part of a list. */
export interface Page {
  /** The JSON text of its items, joined by commas. */
  readonly text: string;
  readonly count: number;
}

/** The first items of a list: at most so many, and as many as fit; one at least, where there are any. */
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
