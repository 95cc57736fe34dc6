/** The agent's face of a pipeline, as an MCP host starts it: `tsx examples/ci/mcp.ts --state DIR [--pipeline FILE]`. */
import { mcp, projected, unixSocket, type Link } from "surface-mcp";
import { z } from "zod";

import { Started } from "./agent-schemas.ts";
import { projectAgentSurface } from "./agent-surface.ts";
import { bringUp } from "./bring-up.ts";
import { readCoordinatorOptions, type CoordinatorOptions } from "./read-options.ts";
import { reportFault } from "./report-fault.ts";
import { runProgram } from "./run-program.ts";
import { startRun } from "./start-run.ts";
import { socketIn } from "./state-dir.ts";

/** Everything that an agent is offered: the tagged members of the projection, one tool beside them, and those to wait with. */
export function createFace(site: CoordinatorOptions, link: Link = unixSocket(socketIn(site.state))) {
  const agentSurface = projectAgentSurface(site.state);
  return mcp(agentSurface, {
    name: "ci-pipeline",
    version: "1.0.0",
    onFault: reportFault,
    instructions: "A CI pipeline. Start a run, wait with settled, read the log of what is red, mend it, rerun it.",
  })
    .bridge(projected(agentSurface, link))
    .tools({
      run: {
        description: "Start a run of every node, and the coordinator where there is none, and return once it is live",
        input: z.object({ strict: z.boolean().default(true).describe("Start nothing new once a node is red") }),
        output: Started,
        destructive: false,
        handler: async ({ strict }, { client, signal }) => {
          await bringUp(site, signal);
          return startRun(client, strict, signal);
        },
      },
    })
    .pull();
}

await runProgram(import.meta.url, (args) => createFace(readCoordinatorOptions(args)).serve());
