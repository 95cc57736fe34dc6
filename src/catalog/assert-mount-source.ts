import { SurfaceError } from "../errors.ts";
import type { MountSource } from "./mount.ts";

const methods = ["list", "subscribe", "invoke"] as const;
const optionalMethods = ["look", "resources", "read", "watch"] as const;

/**
 * Refuses a source of mounted operations that the compiler would have refused, for callers who cast.
 *
 * @param attempt - what is done with it, as messages begin.
 * @throws SurfaceError `INVALID_OPTION`.
 */
export function assertMountSource(source: MountSource, attempt: string): void {
  const fail = (must: string): never => {
    throw new SurfaceError("INVALID_OPTION", `${attempt}: its source must have ${must}`);
  };
  if (methods.some((method) => typeof source?.[method] !== "function")) {
    fail("the methods list(), subscribe() and invoke()");
  }
  for (const method of optionalMethods) {
    const given: unknown = source[method];
    if (given !== undefined && typeof given !== "function") fail(`a method ${method}(), or nothing of that name`);
  }
  if (source.resources !== undefined && source.read === undefined) {
    fail("a method read() where it has the method resources()");
  }
}
