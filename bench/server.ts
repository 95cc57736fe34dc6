/**
 * The server under test: `npx tsx bench/server.ts [--tools N] [--bridge PATH | --listen PATH]`.
 *
 * A cell `counter`, the tools `echo`, `big` and `bump`, and with `--tools N` that many generated ones. With `--listen` it
 * is no server but the process that owns the surface, and with `--bridge` the server that reaches it there.
 */
import {
  cell,
  cellSource,
  defineSurface,
  implementSurface,
  listenUnixSocket,
  mcp,
  mcpResource,
  mcpTool,
  procedure,
  readOnly,
  unixSocket,
} from "../src/index.ts";
import type { BespokeTool, Implementation } from "../src/index.ts";
import { z } from "zod";
import { createRows } from "./tools/create-rows.ts";
import { readOptions } from "./tools/read-options.ts";
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

const handlers: Implementation<typeof bench.members> = {
  counter,
  echo: ({ text }) => ({ text }),
  big: ({ query }) => ({ query: query.text, rows }),
  bump: () => ({ counter: change() }),
};

function change(): number {
  counter.set(counter.get() + 1);
  return counter.get();
}

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

const { tools, bridge, listen } = readOptions();
if (listen === undefined) {
  const app = bridge === undefined ? mcp(bench).implement(handlers) : mcp(bench).bridge(unixSocket(bridge));
  await app.tools(createGeneratedTools(tools)).serve();
} else {
  const live = implementSurface(bench, handlers);
  await listenUnixSocket(live, listen);
  process.stdin.resume().once("end", () => void live.close());
}
// Loaded only where somebody writes from outside: a cold start has nothing to do with it.
if (process.send !== undefined) (await import("./tools/obey-driver.ts")).obeyDriver(change);
