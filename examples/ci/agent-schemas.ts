import { z } from "zod";

import { NODE_ID } from "./engine/node-id.ts";
import { Board } from "./pipeline-schemas.ts";

/** Names one node. What is not the id of a node is refused here, before anybody could take it for a path. */
export const AgentNodeId = z.object({
  node: z.string().regex(NODE_ID).describe("The id of a node, as the resource nodes lists it"),
});

/** Where the run stands. */
export const AgentBoard = Board.extend({
  red: z.boolean().describe("Whether a node of this run has failed: the run cannot become green without a rerun"),
});

/** The newest part of a node's log. */
export const AgentLog = z.object({
  node: z.string(),
  text: z.string().describe("At most 64 KB, the newest; lines that begin with [ci] are the coordinator's own"),
  truncated: z.boolean().describe("Whether the beginning has been cut off"),
  source: z.enum(["live", "file"]).describe("file: from the run's file, since the coordinator does not answer"),
});

/** What the tool `run` answers. */
export const Started = z.object({
  run: z.number(),
  since: z.string().describe("Say this as since in the first call of settled, and no verdict of this run is missed"),
});
