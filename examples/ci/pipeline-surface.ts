import { cell, defineSurface, event, procedure, stream } from "surface-mcp";

import { Board, CompilerComplaint, LogTail, NodeDetail, NodeId, Repaired } from "./pipeline-schemas.ts";
import { Rerun, RunConfig, RunNumber, RunStart, RunState, Verdict } from "./pipeline-schemas.ts";

/**
 * Everything that a CI pipeline offers to the programs of its owner, `run.configure` included, which decides how much of
 * the machine a run takes. It knows of no agent: what one may touch is `agent-surface.ts`.
 */
export const pipeline = defineSurface("pipeline", {
  nodes: cell({ schema: Board, description: "Every node and its status, and the run that this is of" }),
  current: cell({ schema: RunState, description: "The run that is in progress, or the last one" }),
  log: stream({ input: NodeId, output: LogTail, description: "The newest part of a node's log" }),
  settled: event({
    output: Verdict,
    replayLast: true,
    description: "The run has ended, or a first node of it is red",
  }),
  "node.rerun": procedure({
    input: NodeId,
    output: Rerun,
    description: "Run a node and everything that needs it again",
  }),
  "node.show": procedure({ input: NodeId, output: NodeDetail, description: "One node in full, with its command" }),
  fix: procedure({
    input: CompilerComplaint,
    output: Repaired,
    description: "Repair a misspelt name in the scratch copy, as the compiler proposes in a node's log",
  }),
  "run.start": procedure({ input: RunStart, output: RunNumber, description: "Start a run of every node" }),
  "run.configure": procedure({
    input: RunConfig,
    output: RunConfig,
    description: "Set how many commands run at once",
  }),
});

/** The members of {@link pipeline}. */
export type PipelineSpec = typeof pipeline.members;
