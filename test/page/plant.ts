import { z } from "zod";
import { cell, defineSurface, mcpResource, mcpTool, procedure } from "../../src/index.ts";

/** A surface with what agents on the live page need: a value, a long call with progress, and one that is confirmed. */
export const plant = defineSurface("plant", {
  level: mcpResource(cell({ schema: z.int() })),
  fill: mcpTool(
    procedure({ output: z.string(), progress: z.object({ progress: z.int(), total: z.int(), message: z.string() }) }),
  ),
  empty: mcpTool(procedure({ output: z.string() }), { confirm: { message: () => "Empty the tank?" } }),
});
