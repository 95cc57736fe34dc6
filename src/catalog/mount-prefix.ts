import { SurfaceError } from "../errors.ts";

// No `_` at its end: what follows it on the wire is one.
const prefixPattern = /^(?=.{1,32}$)[A-Za-z0-9_]*[A-Za-z0-9]$/;

/**
 * Refuses what no names can begin with.
 *
 * @throws SurfaceError `INVALID_NAME`.
 */
export function assertPrefix(prefix: unknown): void {
  if (typeof prefix === "string" && prefixPattern.test(prefix)) return;
  const named = typeof prefix === "string" ? `"${prefix.slice(0, 64)}"` : "it";
  throw new SurfaceError(
    "INVALID_NAME",
    `Adding a mount: its prefix comes first, and ${named} must be letters, digits and "_", at most 32 characters, the last no "_"`,
  );
}

/** How messages name a mount. */
export function mountOrigin(prefix: string): string {
  return prefix === "" ? "what is mounted" : `mount "${prefix}"`;
}

/** The id of something mounted. The empty prefix is that of a source which is all that its app has. */
export function mountedId(prefix: string, name: string): string {
  return prefix === "" ? name : `${prefix}.${name}`;
}

/** The id of something mounted that is read, and what its URI has behind what all have. */
export function mountedPath(prefix: string, path: string): string {
  return prefix === "" ? path : `${prefix}/${path}`;
}

/** Whether a name on the wire is one that only a mount may have. One without a prefix gives way to whatever else there is. */
export function takesName(prefix: string, wireName: string): boolean {
  return prefix !== "" && wireName.startsWith(`${prefix}_`);
}
