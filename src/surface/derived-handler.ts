const derived = new WeakSet<object>();

/**
 * Marks a handler as one use of another surface and nothing besides: what that use fails with is what the handler fails
 * with, and nobody's `this` is in it. Returns it.
 */
export function markDerived<THandler extends object>(handler: THandler): THandler {
  derived.add(handler);
  return handler;
}

/** Whether a handler was made by `derive`, and is handed over as it was made: one that calls such a one is its author's. */
export function isDerived(handler: object): boolean {
  return derived.has(handler);
}
