import * as z from "zod";
import { cell, event, procedure } from "../../../src/surface/define-members.ts";
import { defineSurface } from "../../../src/surface/define-surface.ts";
import { implementSurface } from "../../../src/surface/implement-surface.ts";
import { cellSource } from "../../../src/surface/source.ts";
import { mcpResource } from "../../../src/tags/mcp-resource.ts";
import { mcpTool } from "../../../src/tags/mcp-tool.ts";
import { readOnly } from "../../../src/tags/read-only.ts";

/** One of two siblings. */
export const pipeline = defineSurface("pipeline", {
  nodes: mcpResource(cell({ schema: z.number() })),
  "node.rerun": mcpTool(procedure({ input: z.object({ node: z.string() }), output: z.string() })),
  hidden: procedure({ output: z.string() }),
});

/** The other one: a member of the same key, and one that takes its time. */
export const notes = defineSurface("notes", {
  nodes: mcpResource(cell({ schema: z.string() })),
  bump: mcpTool(procedure({ output: z.number() })),
  slow: mcpTool(procedure({})),
  look: readOnly(mcpTool(procedure({}))),
  rung: event({ output: z.string() }),
});

/** A live {@link pipeline}. */
export function startPipeline() {
  const nodes = cellSource(1);
  const live = implementSurface(pipeline, {
    nodes,
    "node.rerun": ({ node }) => `again ${node}`,
    hidden: () => "secret",
  });
  return { live, nodes };
}

/** A live {@link notes}. */
export function startNotes() {
  const nodes = cellSource("one");
  const state = { calls: 0, bumps: 0 };
  const untilAborted = (signal: AbortSignal): Promise<never> => {
    state.calls += 1;
    return new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  };
  const live = implementSurface(
    notes,
    {
      nodes,
      bump: () => (state.bumps += 1),
      slow: (_input, { signal }) => untilAborted(signal),
      look: (_input, { signal }) => untilAborted(signal),
      async *rung(_input, { signal }) {
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        yield* [];
      },
    },
    { onFault: () => {} },
  );
  return { live, nodes, state };
}
