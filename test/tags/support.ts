import { expect } from "vitest";
import { SurfaceError, type SurfaceErrorCode } from "../../src/errors.ts";

/** Calls a function as somebody who cast would: its parameter types are not asked. */
export function cast<TResult>(fn: (...args: never[]) => TResult, ...args: readonly unknown[]): TResult {
  // Whatever is passed is what the test is about.
  return fn(...(args as never[]));
}

/** Expects a boot error with this code, and with this in its message. */
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
  // The grammar of messages: what was attempted, a colon, what stands in its way, no full stop.
  expect(String(thrown)).toMatch(/^SurfaceError: [A-Z][^:]*: [^]*[^.]$/);
}
