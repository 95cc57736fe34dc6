/** How messages name an operation: by its id, or by its name where it is not mounted. */
export function operationOrigin(id: string): string {
  return `operation "${id}"`;
}
