import { cell, cellSource, defineSurface, mcpResource, mcpTool, procedure, readOnly } from "../../src/index.ts";
import type { Implementation } from "../../src/index.ts";
import { z } from "zod";
import { createRows } from "./create-rows.ts";
import { bigInput, bigOutput, bumpOutput, echoShape } from "./tool-schemas.ts";
import { words } from "./tool-words.ts";

/** A cell `counter`, and the tools `echo`, `big` and `bump`. */
export const bench = defineSurface("bench", {
  counter: mcpResource(cell({ schema: z.int(), description: words.counter })),
  echo: readOnly(mcpTool(procedure({ input: echoShape, output: echoShape, description: words.echo }))),
  big: readOnly(mcpTool(procedure({ input: bigInput, output: bigOutput, description: words.big }))),
  bump: mcpTool(procedure({ output: bumpOutput, description: words.bump })),
});

const counter = cellSource(0);
const rows = createRows();

/** Writes the next value of the counter, and returns it. */
export function change(): number {
  counter.set(counter.get() + 1);
  return counter.get();
}

/** What stands behind the surface. */
export const handlers: Implementation<typeof bench.members> = {
  counter,
  echo: ({ text }) => ({ text }),
  big: ({ query }) => ({ query: query.text, rows }),
  bump: () => ({ counter: change() }),
};
