/** Returns the namespace of an operation: its id up to the last dot; empty if there is none. */
export function namespaceOf(id: string): string {
  return id.slice(0, Math.max(0, id.lastIndexOf(".")));
}

/** Returns the name of an operation within its namespace: the last segment of its id. */
export function nameOf(id: string): string {
  return id.slice(id.lastIndexOf(".") + 1);
}

/** Returns true if a namespace is another one or below it. Every namespace is below the empty one. */
export function isBelow(namespace: string, above: string): boolean {
  return above === "" || namespace === above || namespace.startsWith(`${above}.`);
}
