import * as z from "zod";
import { cell, collection, procedure, stream } from "../../../src/surface/define-members.ts";
import { defineSurface } from "../../../src/surface/define-surface.ts";
import { derive } from "../../../src/surface/derive/derive.ts";
import { projectSurface } from "../../../src/surface/project-surface.ts";
import { mcpResource } from "../../../src/tags/mcp-resource.ts";
import { mcpTool } from "../../../src/tags/mcp-tool.ts";

const Level = z.object({ n: z.number() });

/** What a hostile upstream claims to be. */
export const plant = defineSurface("plant", {
  level: cell({ schema: Level }),
  rooms: collection({ key: z.string(), schema: Level }),
  log: stream({ input: z.object({ node: z.string() }), output: z.object({ line: z.string() }) }),
  act: procedure({ output: z.number() }),
});

/** What agents see of it: narrower than upstream promises, and made by a function that does not take everything. */
export const gauge = projectSurface(
  plant,
  defineSurface("gauge", {
    level: mcpResource(cell({ schema: z.object({ n: z.number().max(100), high: z.boolean() }) })),
    rooms: mcpResource(collection({ key: z.string(), schema: Level })),
    log: mcpResource(stream({ input: z.object({ node: z.string() }), output: z.string() })),
    act: mcpTool(procedure({ output: z.number() })),
  }),
  (client) => ({
    level: derive.cell(client.level, ({ n }) => {
      if (n === 13) throw new Error("s3cr3t of a map");
      return { n, high: n > 10 };
    }),
    rooms: derive.collection(client.rooms, ({ n }) => ({ n })),
    log: derive.stream(client.log, ({ line }) => line),
    act: derive.procedure(client.act),
  }),
);
