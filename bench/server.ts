/**
 * The server under test: `npx tsx bench/server.ts [--tools N]`.
 *
 * A cell `counter`, the tools `echo`, `big` and `bump`, and with `--tools N` that many generated ones.
 */
import { cell, cellSource, defineSurface, mcp, mcpResource, mcpTool, procedure, readOnly } from "../src/index.ts";
import type { BespokeTool } from "../src/index.ts";
import { z } from "zod";
import { createRows } from "./tools/create-rows.ts";
import { readToolCount } from "./tools/read-tool-count.ts";
import { bigInput, bigOutput, bumpOutput, createGeneratedInput, echoShape } from "./tools/tool-schemas.ts";
import { generatedWords, words } from "./tools/tool-words.ts";

const bench = defineSurface("bench", {
  counter: mcpResource(cell({ schema: z.int(), description: words.counter })),
  echo: readOnly(mcpTool(procedure({ input: echoShape, output: echoShape, description: words.echo }))),
  big: readOnly(mcpTool(procedure({ input: bigInput, output: bigOutput, description: words.big }))),
  bump: mcpTool(procedure({ output: bumpOutput, description: words.bump })),
});

const counter = cellSource(0);
const rows = createRows();

const app = mcp(bench).implement({
  counter,
  echo: ({ text }) => ({ text }),
  big: ({ query }) => ({ query: query.text, rows }),
  bump: () => {
    counter.set(counter.get() + 1);
    return { counter: counter.get() };
  },
});

type GeneratedTool = BespokeTool<ReturnType<typeof createGeneratedInput>, unknown>;

function createGeneratedTools(count: number): Record<never, never> {
  const tools = Array.from({ length: count }, (_, index): [string, GeneratedTool] => {
    const { name, description } = generatedWords(index);
    return [
      name,
      {
        description,
        mutates: false,
        input: createGeneratedInput(),
        output: echoShape,
        handler: ({ id }) => ({ text: id }),
      },
    ];
  });
  // Names that are known at run time only are refused by the compiler, as they should be: typed as none.
  return Object.fromEntries(tools) as Record<never, never>;
}

await app.tools(createGeneratedTools(readToolCount())).serve();
