import type { Engine, RunState } from "./engine/engine-types.ts";
import type { NodeState } from "./engine/node-state.ts";
import type { Source } from "./engine/source.ts";

/** All nodes and the run that they are of. */
export interface Board extends RunState {
  readonly nodes: readonly NodeState[];
}

/**
 * Joins what an engine has in two places. It writes both in one step, one after the other: a listener is told at the end of
 * that step, and so never of the nodes of one run beside the number of another.
 */
export function createBoardSource({ nodes, current }: Pick<Engine, "nodes" | "current">): Source<Board> {
  const join = (): Board => Object.freeze({ ...current.get(), nodes: nodes.get() });
  let made = { board: join(), nodes: nodes.get(), current: current.get() };
  const get = (): Board => {
    if (made.nodes !== nodes.get() || made.current !== current.get()) {
      made = { board: join(), nodes: nodes.get(), current: current.get() };
    }
    return made.board;
  };
  return {
    get,
    subscribe(listener) {
      let state: "quiet" | "told" | "ended" = "quiet";
      const tell = (): void => {
        if (state !== "told") return;
        state = "quiet";
        listener(get());
      };
      const hear = (): void => {
        if (state !== "quiet") return;
        state = "told";
        queueMicrotask(tell);
      };
      const stops = [nodes.subscribe(hear), current.subscribe(hear)];
      return () => {
        state = "ended";
        for (const stop of stops) stop();
      };
    },
  };
}
