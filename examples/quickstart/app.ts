import { cell, cellSource, defineSurface, mcp, mcpResource, mcpTool, procedure } from "surface-mcp";
import { z } from "zod";

const counter = defineSurface("counter", {
  value: mcpResource(cell({ schema: z.number(), description: "The count now" })),
  bump: mcpTool(
    procedure({
      description: "Add to the count and return it",
      input: z.object({ by: z.number().default(1) }),
      output: z.number(),
    }),
  ),
  reset: procedure({ description: "Back to zero" }), // untagged: no agent can reach it
});

const value = cellSource(0);

export const app = mcp(counter).implement({
  value,
  bump: ({ by }) => {
    value.set(value.get() + by);
    return value.get();
  },
  reset: () => value.set(0),
});
