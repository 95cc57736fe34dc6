import { mcp } from "surface-mcp";
import { z } from "zod";

import { fixScratch } from "./fix-scratch.ts";
import type { FixSite } from "./fix-scratch.ts";
import { createPipelineHandlers } from "./pipeline-handlers.ts";
import { CompilerComplaint, Repaired, Started } from "./pipeline-schemas.ts";
import { pipeline } from "./pipeline-surface.ts";
import { refuseCiErrors, rethrowAsRefusal } from "./refuse-ci-errors.ts";

/** The agent's face of a pipeline: the tagged members of the surface, and two tools that are no members of it. */
export function createPipelineApp(site: FixSite) {
  return mcp(pipeline, {
    name: "ci-pipeline",
    version: "1.0.0",
    instructions: "A CI pipeline. Start a run, wait with settled, read the log of what is red, mend it, rerun it.",
  })
    .implement(createPipelineHandlers(site.pipeline, site.engine))
    .tools({
      run: {
        description: "Start a run of every node and return once it is live",
        input: z.object({ strict: z.boolean().default(true).describe("Start nothing new once a node is red") }),
        output: Started,
        destructive: false,
        // The cursor is taken before the run begins, so that even a run that ends at once cannot be missed.
        handler: async ({ strict }, { client }) => {
          const { cursor: since } = await client.settled.recent();
          return { ...refuseCiErrors(() => site.engine.start({ strict })), since };
        },
      },
      fix: {
        description: "Repair a misspelt name in the scratch copy, as the compiler proposes in a node's log",
        input: CompilerComplaint,
        output: Repaired,
        destructive: false,
        handler: (complaint) => fixScratch(site, complaint).catch(rethrowAsRefusal),
      },
    });
}
