import type { ToolEntry } from "./entry.ts";

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

/** Returns frozen copies, which the author cannot change. */
export function keepNesting(
  { reach, authority }: NestingWords,
  byDefault: readonly string[],
): Pick<ToolEntry, "reach" | "authority"> {
  return {
    ...(reach === undefined ? {} : { reach: Object.freeze([...reach]) }),
    authority: Object.freeze([...(authority ?? byDefault)]),
  };
}
