/** The namespace of an operation: its id up to the last dot; empty where it has none. */
export function namespaceOf(id: string): string {
  return id.slice(0, Math.max(0, id.lastIndexOf(".")));
}

/** The name of an operation within its namespace: the last segment of its id. */
export function nameOf(id: string): string {
  return id.slice(id.lastIndexOf(".") + 1);
}

/** Whether an operation is in a namespace or in one below it. Everything is in the empty one. */
export function isWithin(id: string, namespace: string): boolean {
  if (namespace === "") return true;
  const own = namespaceOf(id);
  return own === namespace || own.startsWith(`${namespace}.`);
}
