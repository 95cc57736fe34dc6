import { cell, defineSurface, event, mcpResource, mcpTool, procedure, readOnly, stream } from "surface-mcp";

import { LogTail, NodeDetail, NodeId, Nodes, Rerun, RunConfig, Verdict } from "./pipeline-schemas.ts";

/**
 * A CI pipeline as a surface. The tags stand beside the members they expose, and what has no tag no agent can reach:
 * `run.configure` decides how much of the machine a run takes, which is its owner's to say.
 */
export const pipeline = defineSurface("pipeline", {
  nodes: mcpResource(cell({ schema: Nodes, default: [], description: "Every node and its status" })),
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
  "run.configure": procedure({
    input: RunConfig,
    output: RunConfig,
    description: "Set how many commands run at once",
  }),
});

/** The members of {@link pipeline}. */
export type PipelineSpec = typeof pipeline.members;
