import { expectError, expectType } from "tsd";
import {
  defineSurface,
  mcpTool,
  procedure,
  serveSurfaceAsMcp,
  stdio,
  stream,
  type Link,
  type Serving,
} from "surface-mcp";
import { z } from "zod";

declare const link: Link;

const surface = defineSurface("s", {
  "node.run": mcpTool(procedure({ output: z.number() })),
  log: stream({ output: z.string() }),
  plain: procedure({}),
});

// The chain in one call: the same options, the same handlers' arguments.
expectType<Promise<Serving>>(serveSurfaceAsMcp({ surface, link }));
serveSurfaceAsMcp({ surface, link, target: stdio(), name: "server", instructions: "Use it" });
serveSurfaceAsMcp({
  surface,
  link,
  expose: { log: "resource", plain: { tool: { mutates: false } } },
  tools: {
    run: {
      input: z.object({ strict: z.boolean().default(true) }),
      handler: async (args, { client }) => {
        expectType<{ strict: boolean }>(args);
        expectType<number>(await client["node.run"].call());
      },
    },
  },
});

// And the same refusals.
expectError(serveSurfaceAsMcp({ surface }));
expectError(serveSurfaceAsMcp({ link }));
expectError(serveSurfaceAsMcp({ surface, link, nope: 1 }));
expectError(serveSurfaceAsMcp({ surface, link, pageSize: "10" }));
expectError(serveSurfaceAsMcp({ surface, link, expose: { nope: "tool" } }));
expectError(serveSurfaceAsMcp({ surface, link, expose: { toString: "tool" } }));
expectError(serveSurfaceAsMcp({ surface, link, expose: { plain: "resource" } }));
expectError(serveSurfaceAsMcp({ surface, link, expose: { "node.run": "tool" } }));
expectError(serveSurfaceAsMcp({ surface, link, expose: { plain: { tool: { nope: 1 } } } }));
expectError(serveSurfaceAsMcp({ surface, link, expose: open() }));
expectError(serveSurfaceAsMcp({ surface, link, tools: { node_run: { handler: () => 1 } } }));
expectError(serveSurfaceAsMcp({ surface, link, expose: { plain: "tool" }, tools: { plain: { handler: () => 1 } } }));
expectError(serveSurfaceAsMcp({ surface, link, tools: { run: {} } }));
expectError(serveSurfaceAsMcp({ surface, link, tools: openTools() }));
expectError(serveSurfaceAsMcp({ surface, link, pull: true }));
expectError(serveSurfaceAsMcp({ surface, link, mounts: {} }));

declare function open(): Record<string, "tool">;
declare function openTools(): Record<string, { handler(): number }>;
