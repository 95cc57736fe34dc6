/** Returns true for a promise of any realm, and any other object with a `then` method. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  if (value instanceof Promise) return true;
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return false;
  return "then" in value && typeof value.then === "function";
}

/** Calls `fn` with a value: at once, or when a promise resolves with it. An author's thenable is a value like any other. */
export function andThen<TIn, TOut>(
  value: TIn | Promise<TIn>,
  fn: (value: TIn) => TOut | Promise<TOut>,
): TOut | Promise<TOut> {
  return value instanceof Promise ? value.then(fn) : fn(value);
}
