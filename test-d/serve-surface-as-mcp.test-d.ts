import { expectError, expectType } from "tsd";
import {
  defineSurface,
  mcpTool,
  procedure,
  serveSurfaceAsMcp,
  stdio,
  stream,
  type Link,
  type MountSource,
  type NamedViews,
  type Serving,
  type ViewRule,
} from "surface-mcp";
import { z } from "zod";

declare const link: Link;
declare const source: MountSource;
declare const anyViews: NamedViews;
declare const anyRules: readonly ViewRule[];

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
serveSurfaceAsMcp({
  surface,
  link,
  expose: { log: "resource" },
  pull: true,
  tools: { fix: { input: z.object({ a: z.string() }), handler: ({ a }) => expectType<string>(a) } },
  prompts: { ask: { handler: () => "a" } },
  resources: { page: { read: () => 1 } },
  mounts: { git: source, hub: source },
  views: {
    readonly: {
      readOnly: true,
      allow: ["node_run", "node.run", "fix", "log", "ask", "page", "read_resource", "replay"],
    },
    mounted: { allow: ["git_status", "hub.any"], face: "gateway" },
    locked: { deny: "closed for now" },
  },
  replay: true,
});
serveSurfaceAsMcp({ surface, link, mounts: {}, views: anyRules });
serveSurfaceAsMcp({ surface, link, views: [{ when: { surface: "a" }, verdict: { kind: "deny", reason: "no" } }] });

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
expectError(serveSurfaceAsMcp({ surface, link, mounts: { node: source } }));
expectError(serveSurfaceAsMcp({ surface, link, mounts: { git: source, git_hub: source } }));
expectError(serveSurfaceAsMcp({ surface, link, mounts: { git: {} } }));
expectError(serveSurfaceAsMcp({ surface, link, mounts: openMounts() }));
expectError(serveSurfaceAsMcp({ surface, link, mounts: { git: source }, tools: { git_push: { handler: () => 1 } } }));
expectError(serveSurfaceAsMcp({ surface, link, mounts: { read: source }, pull: true }));
expectError(serveSurfaceAsMcp({ surface, link, views: {} }));
expectError(serveSurfaceAsMcp({ surface, link, views: anyViews }));
expectError(serveSurfaceAsMcp({ surface, link, views: { a: { allow: ["nope"] } } }));
expectError(serveSurfaceAsMcp({ surface, link, views: { a: { allow: ["plain"] } } }));
expectError(serveSurfaceAsMcp({ surface, link, views: { a: { allow: ["replay"] } } }));
expectError(serveSurfaceAsMcp({ surface, link, views: { a: { nope: true } } }));
expectError(serveSurfaceAsMcp({ surface, link, views: { a: { deny: "no", readOnly: true } } }));
expectError(
  serveSurfaceAsMcp({ surface, link, tools: { search: { handler: () => 1 } }, views: { a: { face: "gateway" } } }),
);
expectError(serveSurfaceAsMcp({ surface, link, mounts: { git: source }, views: { a: { allow: ["hub_x"] } } }));
expectError(serveSurfaceAsMcp({ surface, link, replay: true }));
expectError(
  serveSurfaceAsMcp({ surface, link, tools: { replay: { handler: () => 1 } }, views: { a: {} }, replay: true }),
);
serveSurfaceAsMcp({ surface, link, tools: { replay: { handler: () => 1 } }, views: { a: {} } });

declare function openMounts(): Record<string, MountSource>;
declare function open(): Record<string, "tool">;
declare function openTools(): Record<string, { handler(): number }>;
