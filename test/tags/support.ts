import { expect } from "vitest";
import { SurfaceError, type SurfaceErrorCode } from "../../src/errors.ts";

/** Calls a function without its parameter types, as a caller who casts does. */
export function cast<TResult>(fn: (...args: never[]) => TResult, ...args: readonly unknown[]): TResult {
  // The test passes wrong types on purpose.
  return fn(...(args as never[]));
}

/** Expects an error with this code, and with this text in its message. */
export function expectRefusal(run: () => unknown, code: SurfaceErrorCode, sentence: string): void {
  let thrown: unknown;
  try {
    run();
  } catch (cause) {
    thrown = cause;
  }
  expect(thrown).toBeInstanceOf(SurfaceError);
  expect(thrown).toMatchObject({ code });
  expect(String(thrown)).toContain(sentence);
  // The form of messages: the failed action, a colon, the problem, no full stop.
  expect(String(thrown)).toMatch(/^SurfaceError: [A-Z][^:]*: [^]*[^.]$/);
}
