import { expectError, expectType } from "tsd";
import {
  cell,
  defineSurface,
  mcp,
  mcpResource,
  mcpTool,
  operationRegistry,
  procedure,
  type CallEvent,
  type CallNode,
  type Calls,
  type JsonObject,
  type JsonValue,
  type Link,
  type MountContext,
  type ProgressReport,
  type ToolContext,
} from "surface-mcp";
import { z } from "zod";

declare const link: Link;
declare const calls: Calls;
declare const patterns: readonly string[];
declare const anyId: string;
declare function callsGit(args: undefined, context: ToolContext<typeof surface.members>): Promise<JsonValue>;

const surface = defineSurface("s", {
  state: mcpResource(cell({ schema: z.number() })),
  "node.run": mcpTool(procedure({}), { scopes: ["s:run"], scopesAny: ["a", "b"] }),
});
const app = mcp(surface).bridge(link);

// A tool says what it may call, and with what; an id is any text, as what is mounted is known only at run time.
app.tools({
  all: {
    input: z.object({ nodes: z.array(z.string()), repo: z.string() }),
    canCall: ["node.*", "hub.git.?"],
    callScopes: ["s:read", "s:write"],
    scopes: ["admin"],
    scopesAny: ["x", "y"],
    resource: { type: "repo", action: "write", argument: "repo" },
    handler: async ({ nodes }, { call }) => {
      expectType<Promise<JsonValue>>(call("node.run"));
      expectType<JsonValue>(await call("node.run", { node: nodes[0] ?? "" }));
      await call("hub.git.x", {}, { onAbort: "continue-running", timeoutMs: 1000 });
      await call("node.run", {}, { onProgress: (report) => expectType<ProgressReport>(report) });
      expectError(call());
      expectError(call(1));
      expectError(call("node.run", "text"));
      expectError(call("node.run", {}, { onAbort: "never" }));
      expectError(call("node.run", {}, { timeout: 1 }));
    },
  },
});
expectError(app.tools({ x: { canCall: "node.*", handler: () => 1 } }));

// A literal id is within a literal reach, by id or by name on the wire.
app.tools({
  named: { canCall: ["node.run"], handler: (_args, { call }) => call("node_run") },
  wired: { canCall: ["node_run"], handler: (_args, { call }) => call("node.run") },
  open: { canCall: patterns, handler: (_args, { call }) => call("git.push") },
  later: { canCall: ["node.run"], handler: (_args, { call }) => call(anyId) },
  apart: { canCall: ["node.run"], handler: callsGit },
  silent: { handler: (_args, { call }) => call("node.run") },
});
app.tools({
  named: {
    canCall: ["node.run"],
    handler: (_args, { call }) => {
      expectError(call("node.stop"));
      return call("node.run");
    },
  },
  matched: {
    input: z.object({ at: z.string() }),
    canCall: ["node.*", "hub.git.?"],
    handler: ({ at }, { call }) => {
      expectError(call("git.push", { at }));
      return call("hub.git.x");
    },
  },
});
expectError(app.tools({ x: { canCall: [1], handler: () => 1 } }));
expectError(app.tools({ x: { callScopes: "s:read", handler: () => 1 } }));
expectError(app.tools({ x: { scopesAny: "a", handler: () => 1 } }));
expectError(app.tools({ x: { resource: { type: "repo" }, handler: () => 1 } }));
expectError(app.tools({ x: { resource: { type: "repo", action: "write", arg: "x" }, handler: () => 1 } }));
// Members are somebody else's code: they declare what they ask of callers, and call nothing.
expectError(mcpTool(procedure({}), { canCall: ["*"] }));
expectError(mcpTool(procedure({}), { resource: { type: "repo" } }));
mcpTool(procedure({}), { resource: { type: "repo", action: "read" } });

// What is mounted calls in the same way.
const hub = operationRegistry();
hub.register(
  { name: "git.all", inputSchema: z.object({ at: z.int() }), outputSchema: z.number(), canCall: ["node.*"] },
  async ({ at }, context) => {
    expectType<number>(at);
    expectType<MountContext>(context);
    expectType<JsonValue>(await context.call("node.run", { at }));
    return at;
  },
);
const unregister = hub.register({ name: "ping" }, () => "pong");
expectType<() => void>(unregister);
expectError(hub.register({ name: "bad", outputSchema: z.number() }, () => "text"));
expectError(hub.register({ name: "bad", type: "read" }, () => 1));
expectError(hub.register({ name: "bad", nope: 1 }, () => 1));
expectError(hub.register({ type: "query" }, () => 1));
app.mount("hub", hub);

// What was called can be looked at, and followed.
expectType<readonly CallNode[]>(calls.roots());
expectType<CallNode | undefined>(calls.find("id"));
expectType<() => void>(calls.subscribe((event) => expectType<CallEvent>(event)));
for (const { requestId, children, state } of calls.roots()) {
  expectType<string>(requestId);
  expectType<readonly CallNode[]>(children);
  expectType<"requested" | "running" | "completed" | "error" | "aborted">(state);
}
expectError(calls.roots().push);
calls.subscribe(({ input }) => expectType<JsonObject | undefined>(input));
