/** UTF-16 units of the longest pattern. */
export const maxPatternLength = 256;

/** Patterns in a list. */
export const maxPatterns = 1024;

/** An entry, as patterns see it: they may match its id or its wire name. */
export interface Named {
  readonly id: string;
  /** @default the wire name of a tool with this id, so that a pattern matches resources and tools alike */
  readonly name?: string;
}

/** Returns a matching pattern of a list, as it was written: one without `*` and `?` before any other. */
export type Matcher = (named: Named) => string | undefined;

/** Returns whether a text is a pattern: `*` matches any run of characters, `?` any one. */
export function isGlob(text: string): boolean {
  return text.includes("*") || text.includes("?");
}

/**
 * Returns whether a pattern matches a whole text, case-sensitively. It goes back to the last star only, so it takes no more steps than
 * the product of both lengths. A regular expression built from the pattern could take forever (CVE-2026-0621).
 */
export function fitsGlob(pattern: string, text: string): boolean {
  let at = 0;
  let read = 0;
  let star = -1;
  let retry = 0;
  while (read < text.length) {
    const wanted = pattern[at];
    // A star first: the text may contain a star, too.
    if (wanted === "*") {
      star = at++;
      retry = read;
    } else if (wanted === "?" || wanted === text[read]) {
      at++;
      read++;
    } else if (star === -1) {
      return false;
    } else {
      at = star + 1;
      read = ++retry;
    }
  }
  while (pattern[at] === "*") at++;
  return at === pattern.length;
}

/**
 * Returns the pattern, and the tool name in it if it is written with the name of the server, as hosts do: `mcp__server__tool`,
 * `mcp__server__.tool`, `server(tool)`.
 */
function spellingsOf(pattern: string, server: string | undefined): readonly string[] {
  if (server === undefined) return [pattern];
  const hosted = `mcp__${server}__`;
  if (pattern.startsWith(hosted)) {
    const tool = pattern.slice(hosted.length);
    return [pattern, tool.startsWith(".") ? tool.slice(1) : tool];
  }
  const called = `${server}(`;
  if (pattern.startsWith(called) && pattern.endsWith(")")) return [pattern, pattern.slice(called.length, -1)];
  return [pattern];
}

/** A pattern as it was written, with one of its spellings. */
interface Spelled {
  readonly pattern: string;
  readonly glob: string;
}

/**
 * Creates the function that finds a matching pattern of an entry, by its id or its wire name. All patterns without `*` and `?` together
 * cost one lookup. The caller bounds the list.
 *
 * @param server - the name of the server, which a pattern may contain before the name of a tool. Left out for patterns of resources.
 */
export function toMatcher(patterns: readonly string[], server?: string): Matcher {
  const exact = new Map<string, string>();
  const globs: Spelled[] = [];
  for (const pattern of patterns) {
    for (const glob of spellingsOf(pattern, server)) {
      if (isGlob(glob)) globs.push({ pattern, glob: glob.replaceAll(/\*{2,}/g, "*") });
      else if (!exact.has(glob)) exact.set(glob, pattern);
    }
  }
  const find = (text: string): string | undefined =>
    exact.get(text) ?? globs.find(({ glob }) => fitsGlob(glob, text))?.pattern;
  return ({ id, name = id.replaceAll(".", "_") }) => find(id) ?? (name === id ? undefined : find(name));
}
