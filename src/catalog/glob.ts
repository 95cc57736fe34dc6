/** The longest pattern that is read, in UTF-16 units. */
export const maxPatternLength = 256;

/** How many patterns a list may hold. */
export const maxPatterns = 1024;

/** An entry as patterns see it: they may fit its id or its wire name. */
export interface Named {
  readonly id: string;
  /** @default the wire name that a tool of this id has, so that a pattern fits resources and tools alike */
  readonly name?: string;
}

/** Finds a pattern of a list that fits, as it was written: one without `*` and `?` before any other. */
export type Matcher = (named: Named) => string | undefined;

/** Whether a text stands for many names, and not for itself alone: `*` is any run of characters, `?` is any one. */
export function isGlob(text: string): boolean {
  return text.includes("*") || text.includes("?");
}

/**
 * Whether a pattern fits a whole text, case-sensitively. Of the stars only the last that was passed is gone back to, so that no
 * pattern takes more steps than the product of both lengths; an expression built from it could take forever (CVE-2026-0621).
 */
export function fitsGlob(pattern: string, text: string): boolean {
  let at = 0;
  let read = 0;
  let star = -1;
  let retry = 0;
  while (read < text.length) {
    const wanted = pattern[at];
    // A star first: the text may hold one too, and it fits that one and any other.
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
 * The pattern itself, and the name in it where it is spelled with the server that it is a tool of, as hosts do:
 * `mcp__server__tool`, `mcp__server__.tool`, `server(tool)`.
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
 * Makes what tells which of these patterns fits an entry, by its id or its name on the wire. Patterns without `*` and `?` cost one
 * look, however many there are. Whoever takes patterns from elsewhere bounds them first.
 *
 * @param server - the server whose name a pattern may spell before a tool's. Left out: none may, as for what is no tool.
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
