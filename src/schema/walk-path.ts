import { SurfaceError } from "../errors.ts";
import { clipText } from "./clip-text.ts";
import type { JsonValue } from "./json.ts";

// Cycles are looked for below this depth only: ordinary values are never that deep, so they never pay for it.
const cycleCheckDepth = 32;
const maxDepth = 512;
const maxPathBytes = 128;

/** Writes an instance of a class as JSON; `undefined` refuses it. */
export type EncodeInstance = (value: object, path: WalkPath) => JsonValue | undefined;

/** Position of an encoding walk: errors name it, and it stops the walk in a cycle. */
export interface WalkPath {
  readonly keys: (string | number)[];
  readonly ancestors: object[];
  /** Asked before `toJSON` of an instance. @default refuses all that have no `toJSON` */
  readonly encodeInstance: EncodeInstance | undefined;
}

/** Starts a walk. */
export function createWalkPath(encodeInstance?: EncodeInstance): WalkPath {
  return { keys: [], ancestors: [], encodeInstance };
}

/**
 * Enters a container; the caller pops `ancestors` when it leaves. Errors: `UNSERIALISABLE` for a cycle, or for more
 * than 512 levels.
 */
export function enter(path: WalkPath, container: object): void {
  const { ancestors } = path;
  if (ancestors.length > cycleCheckDepth) {
    const start = ancestors.lastIndexOf(container);
    if (start !== -1) throw cycleError(path, ancestors.length - start);
    if (ancestors.length > maxDepth) throw unserialisable(path, `more than ${maxDepth} levels deep`);
  }
  ancestors.push(container);
}

/** Builds the `UNSERIALISABLE` error for the place where the walk stands. */
export function unserialisable(path: WalkPath, found: string): SurfaceError {
  const where = path.keys.length === 0 ? "(root)" : clipText(path.keys.join("."), maxPathBytes);
  return new SurfaceError("UNSERIALISABLE", `cannot write "${where}" as JSON: found ${found}, need a JSON value`);
}

// The walk has gone round several times before it noticed: report the first place where the cycle closes.
function cycleError(path: WalkPath, length: number): SurfaceError {
  const { ancestors, keys } = path;
  const start = ancestors.findIndex((ancestor, index) => ancestor === ancestors[index + length]);
  const end = start === -1 ? keys.length : start + length;
  return unserialisable({ ...path, keys: keys.slice(0, end) }, "a cycle");
}
