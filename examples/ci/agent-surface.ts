import { cell, defineSurface, derive, event, mcpResource, mcpTool, procedure, projectSurface } from "surface-mcp";
import { readOnly, stream } from "surface-mcp";

import { AgentBoard, AgentLog, AgentNodeId } from "./agent-schemas.ts";
import { createNovelty } from "./create-novelty.ts";
import { createLogHandler } from "./log-handler.ts";
import { CompilerComplaint, NodeDetail, Repaired, Rerun, RunNumber, RunStart, Verdict } from "./pipeline-schemas.ts";
import { pipeline } from "./pipeline-surface.ts";
import { runsIn } from "./state-dir.ts";

/**
 * What a pipeline offers to agents, and to everybody else who is not its owner. The tags stand beside the members that they
 * expose; `run.start` has none, since the face's own tool `run` is made of it. `run.configure` is not denied here: there is
 * no such member.
 */
export const agent = defineSurface("agent", {
  nodes: mcpResource(
    cell({ schema: AgentBoard, description: "Every node and its status, and whether the run is red" }),
  ),
  log: mcpResource(
    stream({ input: AgentNodeId, output: AgentLog, description: "The newest part of a node's log, 64 KB at most" }),
  ),
  settled: mcpTool(
    event({
      output: Verdict,
      replayLast: true,
      description: "Wait until the run ends, or until its first red node",
    }),
  ),
  "node.rerun": mcpTool(
    procedure({ input: AgentNodeId, output: Rerun, description: "Run a node and everything that needs it again" }),
    { destructive: false },
  ),
  "node.show": readOnly(
    mcpTool(procedure({ input: AgentNodeId, output: NodeDetail, description: "One node in full, with its command" })),
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
});

/**
 * Projects it from the pipeline's own surface. Where the coordinator does not answer, logs come from the files of its last
 * run, in the state directory that is named here.
 */
export function projectAgentSurface(state: string) {
  return projectSurface(pipeline, agent, (client) => ({
    nodes: derive.cell(client.nodes, (board) => ({ ...board, red: board.nodes.some(isRed) })),
    log: createLogHandler(client.log, runsIn(state)),
    settled: derive.event(client.settled, (verdict) => verdict, { filter: createNovelty() }),
    "node.rerun": derive.procedure(client["node.rerun"]),
    "node.show": derive.procedure(client["node.show"]),
    fix: derive.procedure(client.fix),
    "run.start": derive.procedure(client["run.start"]),
  }));
}

function isRed({ status }: { readonly status: string }): boolean {
  return status === "failed";
}
