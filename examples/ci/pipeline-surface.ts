import { cell, defineSurface, event, mcpResource, mcpTool, procedure, readOnly, stream } from "surface-mcp";

import { CompilerComplaint, LogTail, NodeDetail, NodeId, Nodes, Repaired } from "./pipeline-schemas.ts";
import { Rerun, RunConfig, RunNumber, RunStart, RunState, Verdict } from "./pipeline-schemas.ts";

/**
 * A CI pipeline as a surface. The tags stand beside the members they expose, and what has no tag no agent can reach:
 * `run.configure` decides how much of the machine a run takes, which is its owner's to say, and `run.start` is what the
 * face's own tool `run` is made of.
 */
export const pipeline = defineSurface("pipeline", {
  nodes: mcpResource(cell({ schema: Nodes, default: [], description: "Every node and its status" })),
  current: mcpResource(cell({ schema: RunState, description: "The run that is in progress, or the last one" })),
  log: mcpResource(stream({ input: NodeId, output: LogTail, description: "The newest part of a node's log" })),
  settled: mcpTool(
    event({
      output: Verdict,
      replayLast: true,
      description: "Wait until the run ends, or until its first red node",
    }),
  ),
  "node.rerun": mcpTool(
    procedure({ input: NodeId, output: Rerun, description: "Run a node and everything that needs it again" }),
    { destructive: false },
  ),
  "node.show": readOnly(
    mcpTool(procedure({ input: NodeId, output: NodeDetail, description: "One node in full, with its command" })),
  ),
  fix: mcpTool(
    procedure({
      input: CompilerComplaint,
      output: Repaired,
      description: "Repair a misspelt name in the scratch copy, as the compiler proposes in a node's log",
    }),
    { destructive: false },
  ),
  "run.start": procedure({ input: RunStart, output: RunNumber, description: "Start a run of every node" }),
  "run.configure": procedure({
    input: RunConfig,
    output: RunConfig,
    description: "Set how many commands run at once",
  }),
});

/** The members of {@link pipeline}. */
export type PipelineSpec = typeof pipeline.members;
