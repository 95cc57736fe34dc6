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
  return `mount "${prefix}"`;
}

/** Whether a name on the wire is one that only a mount may have. */
export function takesName(prefix: string, wireName: string): boolean {
  return wireName.startsWith(`${prefix}_`);
}
