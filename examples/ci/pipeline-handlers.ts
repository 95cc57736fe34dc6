import type { Implementation } from "surface-mcp";

import type { Engine } from "./engine/engine-types.ts";
import { CiError } from "./engine/errors.ts";
import type { Pipeline } from "./engine/pipeline.ts";
import { createPlan } from "./engine/plan.ts";
import type { PipelineSpec } from "./pipeline-surface.ts";
import { refuseCiErrors } from "./refuse-ci-errors.ts";

/** Implements the surface over an engine, which stays its caller's to close. */
export function createPipelineHandlers(pipeline: Pipeline, engine: Engine): Implementation<PipelineSpec> {
  const plan = createPlan(pipeline.nodes);
  return {
    nodes: engine.nodes,
    log: ({ node }, { signal }) => refuseCiErrors(() => engine.watchLog(node, signal)),
    settled: (_none, { signal }) => engine.verdicts(signal),
    "node.rerun": ({ node }) => refuseCiErrors(() => engine.rerun(node)),
    "node.show": ({ node }) =>
      refuseCiErrors(() => {
        const state = engine.nodes.get().find(({ id }) => id === node);
        const { command } = plan.nodes.get(node) ?? {};
        if (!state || !command) throw new CiError("UNKNOWN_NODE", `show "${node}": there is no such node`);
        return { ...state, command, dependents: plan.withDependents(node).filter((id) => id !== node) };
      }),
    "run.configure": ({ parallel }) => refuseCiErrors(() => engine.configure({ parallel })),
  };
}
