/**
 * Writes an own property, also for the key `__proto__`, which plain assignment would send to the prototype. Keys come
 * off the wire, so every object that is built from one is built with this.
 */
export function setOwn(target: object, key: string, value: unknown): void {
  if (key === "__proto__") {
    Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
    return;
  }
  // The key is not `__proto__`, so this defines or replaces an own property.
  (target as Record<string, unknown>)[key] = value;
}
