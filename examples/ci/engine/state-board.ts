import type { NodeState, NodeStatus } from "./node-state.ts";
import type { PipelineNode } from "./pipeline.ts";
import { createSource } from "./source.ts";
import type { Source } from "./source.ts";

/** The states of all nodes of a pipeline, in file order, written in batches. */
export interface StateBoard {
  /** A new frozen array with each change; states of nodes that did not change are the same objects. */
  readonly source: Source<readonly NodeState[]>;
  readonly statusOf: (id: string) => NodeStatus | undefined;
  /** Replaces the state of each named node by what `change` makes of it, and announces all of them as one change. */
  update(ids: Iterable<string>, change: (state: NodeState) => NodeState): void;
}

/** Makes a board on which every node is idle. */
export function createStateBoard(nodes: readonly PipelineNode[]): StateBoard {
  const initial = nodes.map((node) => freezeState({ id: node.id, status: "idle", needs: [...node.needs], attempt: 0 }));
  const source = createSource<readonly NodeState[]>(Object.freeze(initial));
  return {
    source,
    statusOf: (id) => source.get().find((state) => state.id === id)?.status,
    update(ids, change) {
      const touched = new Set(ids);
      if (touched.size === 0) return;
      const next = source.get().map((state) => (touched.has(state.id) ? freezeState(change(state)) : state));
      source.set(Object.freeze(next));
    },
  };
}

function freezeState(state: NodeState): NodeState {
  Object.freeze(state.needs);
  return Object.freeze(state);
}
