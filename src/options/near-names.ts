/** How many edits apart two names are that one may have been meant for the other; of longer ones, how much of the beginning is the same. */
const maxEdits = 2;
const sharedLength = 3;

/** How many names are looked at, and told. */
const maxLooked = 2000;
const maxTold = 5;

/** The row of distances after one more character of a name. Counts in whole edits: one character put in, left out or replaced. */
function nextRow(row: readonly number[], character: string | undefined, wanted: string): readonly number[] {
  const next = [(row[0] ?? 0) + 1];
  for (let index = 0; index < wanted.length; index++) {
    const replaced = (row[index] ?? 0) + (wanted[index] === character ? 0 : 1);
    next.push(Math.min(replaced, (row[index + 1] ?? 0) + 1, (next[index] ?? 0) + 1));
  }
  return next;
}

/** Returns whether two names are at most so many edits apart. */
export function isNear(name: string, wanted: string, edits: number = maxEdits): boolean {
  if (Math.abs(name.length - wanted.length) > edits) return false;
  let row: readonly number[] = Array.from({ length: wanted.length + 1 }, (_, index) => index);
  for (const character of name) {
    row = nextRow(row, character, wanted);
    if (Math.min(...row) > edits) return false;
  }
  return (row.at(-1) ?? 0) <= edits;
}

/** The characters that a pattern fits for themselves alone, up to the first that stands for many. */
export function headOf(pattern: string): string {
  return pattern.slice(0, Math.max(0, `${pattern}*`.search(/[*?]/)));
}

/**
 * Names that may have been meant by a pattern that fits none: two edits off, or that begin alike. At most five, and looks at a
 * bounded number.
 */
export function nearNames(pattern: string, names: readonly string[]): readonly string[] {
  const head = headOf(pattern);
  const begins = head.length >= sharedLength ? head.slice(0, sharedLength) : undefined;
  const near = names.slice(0, maxLooked).filter((name) => {
    if (begins !== undefined && name.startsWith(begins)) return true;
    return isNear(name, pattern) || (begins !== undefined && isNear(name.slice(0, head.length), head));
  });
  return near.slice(0, maxTold);
}
