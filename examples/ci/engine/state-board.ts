import type { NodeState, NodeStatus } from "./node-state.ts";
import type { PipelineNode } from "./pipeline.ts";
import { createSource } from "./source.ts";
import type { Source } from "./source.ts";

/** The states of all nodes of a pipeline, in file order, written in batches. */
export interface StateBoard {
  /** A new frozen array with each change; states of nodes that did not change are the same objects. */
  readonly source: Source<readonly NodeState[]>;
  readonly statusOf: (id: string) => NodeStatus | undefined;
  /** Ids of the nodes that have a status, in file order. */
  readonly idsOf: (status: NodeStatus) => readonly string[];
  /** Replaces the state of each named node by what `change` makes of it, and announces all of them as one change. */
  update(ids: Iterable<string>, change: (state: NodeState) => NodeState, record?: StateRecorder): void;
}

/** Told the new states of the nodes that change, before anybody else is. */
export type StateRecorder = (states: readonly NodeState[]) => void;

/** What a board begins with. */
export interface BoardSetting {
  /** States to go on from; every other node is idle. */
  readonly restored: readonly NodeState[];
  /** Told of each change for which `update` names nobody else. */
  readonly record: StateRecorder;
}

/** Makes the board of a pipeline's nodes. */
export function createStateBoard(nodes: readonly PipelineNode[], { restored, record }: BoardSetting): StateBoard {
  const known = new Map(restored.map((state) => [state.id, state]));
  const initial = nodes.map(({ id, needs }) => {
    const idle: NodeState = { id, status: "idle", needs, attempt: 0, starts: 0 };
    return freezeState({ ...(known.get(id) ?? idle), needs: [...needs] });
  });
  const source = createSource<readonly NodeState[]>(Object.freeze(initial));
  return {
    source,
    statusOf: (id) => source.get().find((state) => state.id === id)?.status,
    idsOf: (status) =>
      source
        .get()
        .filter((state) => state.status === status)
        .map(({ id }) => id),
    update(ids, change, tell = record) {
      const touched = new Set(ids);
      if (touched.size === 0) return;
      const next = source.get().map((state) => (touched.has(state.id) ? freezeState(change(state)) : state));
      tell(next.filter(({ id }) => touched.has(id)));
      source.set(Object.freeze(next));
    },
  };
}

function freezeState(state: NodeState): NodeState {
  Object.freeze(state.needs);
  return Object.freeze(state);
}
