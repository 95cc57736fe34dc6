interface Needy {
  readonly id: string;
  readonly needs: readonly string[];
}

/**
 * Finds one cycle among nodes and their needs, as a path whose first and last id are the same; `undefined` when there
 * is none. A need that names no node is passed over. Iterative, so that a long chain cannot exhaust the stack.
 */
export function findCycle(nodes: readonly Needy[]): readonly string[] | undefined {
  const needs = new Map(nodes.map((node) => [node.id, node.needs]));
  const cleared = new Set<string>();
  for (const { id } of nodes) {
    const cycle = cycleFrom(id, needs, cleared);
    if (cycle) return cycle;
  }
  return undefined;
}

function cycleFrom(
  start: string,
  needs: ReadonlyMap<string, readonly string[]>,
  cleared: Set<string>,
): readonly string[] | undefined {
  const path: string[] = [start];
  const onPath = new Set(path);
  const pending: string[][] = [[...(needs.get(start) ?? [])]];
  while (path.length > 0) {
    const next = pending.at(-1)?.pop();
    if (next === undefined) {
      const done = path.pop();
      if (done !== undefined) {
        cleared.add(done);
        onPath.delete(done);
      }
      pending.pop();
    } else if (onPath.has(next)) {
      return [...path.slice(path.indexOf(next)), next];
    } else if (!cleared.has(next)) {
      path.push(next);
      onPath.add(next);
      pending.push([...(needs.get(next) ?? [])]);
    }
  }
  return undefined;
}
