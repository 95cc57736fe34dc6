const closers: (() => unknown)[] = [];

/** Registers work for the end of the current test. The last registered runs first. */
export function atEndOfTest(close: () => unknown): void {
  closers.push(close);
}

/** Runs the registered work. */
export async function endTest(): Promise<void> {
  for (const close of closers.splice(0).toReversed()) await close();
}
