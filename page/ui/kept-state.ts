const kept = new Map<string, unknown>();
let draw = (): void => {};

/** Sets the function that draws the page when kept state changes. */
export function onKeptChange(changed: () => void): void {
  draw = changed;
}

/** Draws the page. */
export const drawKept = (): void => draw();

/** State of the page itself, such as a filter. It outlives the panel that shows it. One type belongs to one key. */
export function keep<T>(key: string, initial: T): [value: T, set: (value: T) => void] {
  // Only the setters write the map, and a key belongs to one type.
  const value = (kept.get(key) as T | undefined) ?? initial;
  const set = (next: T): void => {
    kept.set(key, next);
    draw();
  };
  return [value, set];
}
