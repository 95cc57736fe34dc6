import { SurfaceError } from "../errors.ts";
import { assertScopes } from "../tags/scopes.ts";
import type { ToolEntry } from "./entry.ts";
import { maxPatternLength, maxPatterns } from "./glob.ts";

/** What a tool says of the calls that it makes of others. */
export interface NestingWords {
  /**
   * The tools that its handler may call by `context.call`: their ids or names on the wire, as patterns with `*` and `?`. What views
   * hide from callers is not hidden from it. Of a tool of `.tools()`, a name without `*` and `?` must be one of the app, or may come
   * from a mount: otherwise the app does not open. Default: none.
   */
  readonly reach?: readonly string[];
  /**
   * The scopes that it calls them with, whatever its own caller was granted. Default: those that it takes itself by default,
   * and for one that may change something also what reading takes.
   */
  readonly authority?: readonly string[];
}

function isPattern(pattern: unknown): boolean {
  return typeof pattern === "string" && pattern !== "" && pattern.length <= maxPatternLength;
}

/**
 * Refuses a reach or an authority that could not be.
 *
 * @param attempt - what the author was doing, as messages begin: `Adding tool "run"`.
 * @throws SurfaceError `INVALID_OPTION`.
 */
export function assertNesting({ reach, authority }: NestingWords, attempt: string): void {
  assertScopes(authority, attempt, "authority");
  if (reach === undefined) return;
  // A copy, in which a hole is looked at too.
  if (Array.isArray(reach) && reach.length <= maxPatterns && Array.from<unknown>(reach).every(isPattern)) return;
  throw new SurfaceError(
    "INVALID_OPTION",
    `${attempt}: "reach" must be a list of at most ${maxPatterns} patterns, each 1 to ${maxPatternLength} characters`,
  );
}

/** The same as it is now, whatever becomes of the author's lists: frozen copies. */
export function keepNesting(
  { reach, authority }: NestingWords,
  byDefault: readonly string[],
): Pick<ToolEntry, "reach" | "authority"> {
  return {
    ...(reach === undefined ? {} : { reach: Object.freeze([...reach]) }),
    authority: Object.freeze([...(authority ?? byDefault)]),
  };
}
