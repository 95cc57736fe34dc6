/** Returns true for an object, also an array; not for a function. */
export function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** Returns true for an object that is not an array. */
export function isRecord(value: unknown): value is object {
  return isObject(value) && !Array.isArray(value);
}

/** Returns true for a function. */
export function isFunction(value: unknown): value is (...args: readonly unknown[]) => unknown {
  return typeof value === "function";
}

/** Returns true for an object or a function: both can have own methods. */
export function isObjectOrFunction(value: unknown): value is object {
  return isObject(value) || typeof value === "function";
}
