import { mcp } from "surface-mcp";
import type { Link, McpOptions } from "surface-mcp";
import { z } from "zod";

import { Started } from "./pipeline-schemas.ts";
import { pipeline } from "./pipeline-surface.ts";

/**
 * The agent's face of a pipeline that runs elsewhere: the tagged members of the surface, one tool that is no member of it,
 * and the tools with which an agent waits.
 */
export function createPipelineApp(link: Link, options: Pick<McpOptions, "onFault"> = {}) {
  return mcp(pipeline, {
    ...options,
    name: "ci-pipeline",
    version: "1.0.0",
    instructions: "A CI pipeline. Start a run, wait with settled, read the log of what is red, mend it, rerun it.",
  })
    .bridge(link)
    .tools({
      run: {
        description: "Start a run of every node and return once it is live",
        input: z.object({ strict: z.boolean().default(true).describe("Start nothing new once a node is red") }),
        output: Started,
        destructive: false,
        // The cursor is taken before the run begins, so that even a run that ends at once cannot be missed.
        handler: async ({ strict }, { client, signal }) => {
          const { cursor: since } = await client.settled.recent(undefined, { signal });
          return { ...(await client["run.start"].call({ strict }, { signal })), since };
        },
      },
    })
    .pull();
}
