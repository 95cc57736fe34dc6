import type { Implementation } from "surface-mcp";

import { createBoardSource } from "./board-source.ts";
import { CiError } from "./engine/errors.ts";
import { createPlan } from "./engine/plan.ts";
import type { Verdict } from "./engine/verdict.ts";
import { fixScratch } from "./fix-scratch.ts";
import type { FixSite } from "./fix-scratch.ts";
import type { PipelineSpec } from "./pipeline-surface.ts";
import { refuseCiErrors, rethrowAsRefusal } from "./refuse-ci-errors.ts";

/** What the surface is implemented over. */
export interface PipelineSite extends FixSite {
  /** Verdicts of the run from before this process: told first, so that who waited then does not wait for ever. */
  readonly earlier?: readonly Verdict[];
  /** Resolves once what was cut short goes on, before which nothing is begun. Default: nothing was. */
  readonly ready?: Promise<void>;
}

/** Implements the surface over an engine, which stays its caller's to close. */
export function createPipelineHandlers(site: PipelineSite): Implementation<PipelineSpec> {
  const { pipeline, engine } = site;
  const plan = createPlan(pipeline.nodes);
  const untold = [...(site.earlier ?? [])];
  const begin = async <TResult>(work: () => TResult): Promise<TResult> => {
    await site.ready;
    return refuseCiErrors(work);
  };
  return {
    nodes: createBoardSource(engine),
    current: engine.current,
    log: ({ node }, { signal }) => refuseCiErrors(() => engine.watchLog(node, signal)),
    settled: async function* (_none, { signal }) {
      // Subscribed before the past is told, so that nothing falls in between.
      const later = engine.verdicts(signal);
      yield* untold.splice(0);
      yield* later;
    },
    fix: (complaint) => fixScratch(site, complaint).catch(rethrowAsRefusal),
    "node.rerun": ({ node }) => begin(() => engine.rerun(node)),
    "node.show": ({ node }) =>
      refuseCiErrors(() => {
        const state = engine.nodes.get().find(({ id }) => id === node);
        const { command } = plan.nodes.get(node) ?? {};
        if (!state || !command) throw new CiError("UNKNOWN_NODE", `show "${node}": there is no such node`);
        return { ...state, command, dependents: plan.withDependents(node).filter((id) => id !== node) };
      }),
    "run.start": ({ strict }) => begin(() => engine.start({ strict })),
    "run.configure": ({ parallel }) => begin(() => engine.configure({ parallel })),
  };
}
