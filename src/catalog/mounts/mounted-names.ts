import { SurfaceError } from "../../errors.ts";

// No `_` at the end: one separates the prefix from the name on the wire.
const prefixPattern = /^(?=.{1,32}$)[A-Za-z0-9_]*[A-Za-z0-9]$/;

/** Characters of a path in messages. */
const maxTold = 64;

/** Refuses a prefix that no name can start with. @throws SurfaceError `INVALID_NAME`. */
export function assertPrefix(prefix: unknown): void {
  if (typeof prefix === "string" && prefixPattern.test(prefix)) return;
  const named = typeof prefix === "string" ? `"${prefix.slice(0, 64)}"` : "it";
  throw new SurfaceError(
    "INVALID_NAME",
    `Adding a mount: its prefix comes first, and ${named} must be letters, digits and "_", at most 32 characters, the last no "_"`,
  );
}

/** Returns the id of a mounted operation. The prefix is empty for a source that is all of its app. */
export function mountedId(prefix: string, name: string): string {
  return prefix === "" ? name : `${prefix}.${name}`;
}

/** Returns the id of a mounted resource, which is also the end of its URI. */
export function mountedPath(prefix: string, path: string): string {
  return prefix === "" ? path : `${prefix}/${path}`;
}

/** Returns the name of a mount in messages. */
export function mountOrigin(prefix: string): string {
  return prefix === "" ? "what is mounted" : `mount "${prefix}"`;
}

/** Returns the name of an operation in messages. */
export function operationOrigin(id: string): string {
  return `operation "${id}"`;
}

/** Returns the name of a mounted resource in messages. */
export function mountedResourceOrigin(prefix: string, path: string): string {
  return `resource "${mountedPath(prefix, path.slice(0, maxTold))}"`;
}

/** Whether a name on the wire is reserved for a mount. A mount without a prefix reserves none. */
export function takesName(prefix: string, wireName: string): boolean {
  return prefix !== "" && wireName.startsWith(`${prefix}_`);
}
