/**
 * The server under test: `npx tsx bench/server.ts [--tools N] [--bridge PATH | --listen PATH]`.
 *
 * A cell `counter`, the tools `echo`, `big` and `bump`, and with `--tools N` that many generated ones. With `--listen` it
 * is no server but the process that owns the surface, and with `--bridge` the server that reaches it there.
 */
import { implementSurface, listenUnixSocket, mcp, unixSocket } from "../src/index.ts";
import type { BespokeTool } from "../src/index.ts";
import { bench, change, handlers } from "./tools/bench-surface.ts";
import { readOptions } from "./tools/read-options.ts";
import { createGeneratedInput, echoShape } from "./tools/tool-schemas.ts";
import { generatedWords } from "./tools/tool-words.ts";

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
