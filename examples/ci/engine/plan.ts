import type { NodeStatus } from "./node-state.ts";
import type { PipelineNode } from "./pipeline.ts";

type StatusOf = (id: string) => NodeStatus | undefined;

/** What follows from the needs of a pipeline. Knows no state: every question brings the statuses it asks about. */
export interface Plan {
  readonly nodes: ReadonlyMap<string, PipelineNode>;
  /** The node and everything that needs it, directly or through others; needs come before what needs them. */
  withDependents(id: string): readonly string[];
  /** Waiting nodes that can start: all their needs have passed. In file order. */
  ready(statusOf: StatusOf): readonly string[];
  /** Waiting nodes that can never start, each with the need that is to blame. */
  blocked(statusOf: StatusOf): ReadonlyMap<string, string>;
  /** Skipped nodes that could run once `queued` has passed: no other need stands in their way. */
  resumable(queued: ReadonlySet<string>, statusOf: StatusOf): readonly string[];
  /** The first direct need of a node that did not pass and will not by itself. */
  redNeed(id: string, statusOf: StatusOf): string | undefined;
}

/** Makes the plan of checked nodes (every need exists, no cycle). */
export function createPlan(list: readonly PipelineNode[]): Plan {
  const nodes = new Map(list.map((node) => [node.id, node]));
  const ordered = inOrder(list);
  const needsOf = (id: string): readonly string[] => nodes.get(id)?.needs ?? [];
  return {
    nodes,
    withDependents: (id) => spread(ordered, new Set([id])),
    ready: (statusOf) =>
      list
        .filter((node) => statusOf(node.id) === "waiting" && node.needs.every((need) => statusOf(need) === "passed"))
        .map((node) => node.id),
    blocked(statusOf) {
      const found = new Map<string, string>();
      for (const node of ordered) {
        if (statusOf(node.id) !== "waiting") continue;
        const need = node.needs.find((id) => found.has(id) || isRed(statusOf(id)));
        if (need !== undefined) found.set(node.id, need);
      }
      return found;
    },
    resumable(queued, statusOf) {
      const open = new Set(queued);
      const isOpen = (id: string): boolean => open.has(id) || !isRed(statusOf(id));
      for (const node of ordered) {
        if (statusOf(node.id) === "skipped" && node.needs.every(isOpen)) open.add(node.id);
      }
      return [...open].filter((id) => !queued.has(id));
    },
    redNeed: (id, statusOf) => needsOf(id).find((need) => isRed(statusOf(need))),
  };
}

function isRed(status: NodeStatus | undefined): boolean {
  return status === "failed" || status === "skipped" || status === "cancelled";
}

/** Orders nodes so that needs come first, keeping file order where needs leave a choice. */
function inOrder(list: readonly PipelineNode[]): readonly PipelineNode[] {
  const placed = new Set<string>();
  const ordered: PipelineNode[] = [];
  while (ordered.length < list.length) {
    const next = list.filter((node) => !placed.has(node.id) && node.needs.every((need) => placed.has(need)));
    // Cannot happen for a checked pipeline; without it a cycle would hang here.
    if (next.length === 0) break;
    for (const node of next) placed.add(node.id);
    ordered.push(...next);
  }
  return ordered;
}

function spread(ordered: readonly PipelineNode[], reached: Set<string>): readonly string[] {
  for (const node of ordered) {
    if (node.needs.some((need) => reached.has(need))) reached.add(node.id);
  }
  return ordered.filter((node) => reached.has(node.id)).map((node) => node.id);
}
