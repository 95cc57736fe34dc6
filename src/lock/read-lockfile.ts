import { lstatSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { isObject } from "../options/is-object.ts";
import { invalidOption } from "../options/read-options.ts";
import { toVisibleJson } from "../schema/visible-text.ts";
import type { AppExposure } from "./exposure.ts";
import { lockfileError, maxLockfileLength, parseLockfile } from "./lockfile.ts";

/** Returns the kind of a path that exists and is not a plain file; `undefined` for others. */
export function foreignKind(path: string): string | undefined {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined || stats.isFile()) return undefined;
  return stats.isSymbolicLink() ? "a symbolic link" : stats.isDirectory() ? "a folder" : "not a file";
}

/** Returns the text of a lockfile. @throws Refusal `LOCKFILE` for anything but a file of at most 32 MiB. */
export function readLockfile(path: string): string {
  const kind = foreignKind(path);
  if (kind !== undefined) throw lockfileError(`it is ${kind}; name a file`, ` "${path}"`);
  const size = lstatSync(path, { throwIfNoEntry: false })?.size;
  if (size === undefined) {
    throw lockfileError('it does not exist; run "surface-mcp lock" and commit the file', ` "${path}"`);
  }
  if (size > maxLockfileLength) throw lockfileError(`it is larger than ${maxLockfileLength} bytes`, ` "${path}"`);
  return readFileSync(path, "utf8");
}

function toText(json: object): string {
  try {
    return toVisibleJson(json);
  } catch {
    throw lockfileError("it is not JSON; pass the result of JSON.parse()");
  }
}

/**
 * Returns the exposure of a lockfile.
 *
 * @param lockfile - a path, a `file:` URL, or the parsed JSON.
 * @param doing - starts the message about another value.
 * @throws Refusal `LOCKFILE`, SurfaceError `INVALID_OPTION`.
 */
export function readLocked(lockfile: string | URL | object, doing: string): AppExposure {
  if (typeof lockfile === "string") return parseLockfile(readLockfile(lockfile));
  if (lockfile instanceof URL && lockfile.protocol === "file:") return readLocked(fileURLToPath(lockfile), doing);
  if (lockfile instanceof URL || !isObject(lockfile)) {
    throw invalidOption(doing, "its second argument must be a path, a file: URL or the parsed JSON of a lockfile");
  }
  return parseLockfile(toText(lockfile));
}
