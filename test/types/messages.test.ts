import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { compile, createWorkshop, emitDeclarations, type Diagnostic, type Workshop } from "./compile.ts";

const setting = `
import { z } from "zod";
import {
  cell, collection, defineSurface, event, implementSurface, mcp, mcpResource, mcpTool, procedure, readOnly, stream,
  type Link, type LiveSurface, type MountSource, type Member, type Procedure, type Surface, type ToolNames,
} from "surface-mcp";
import { createTestClient } from "surface-mcp/testing";
import { initTRPC } from "@trpc/server";
import { createRouterClient, os } from "@orpc/server";
import { mcpOrpc } from "surface-mcp/from/orpc";
import { fromTrpc, mcpTrpc } from "surface-mcp/from/trpc";
import { fromOpenApi, type OpenApiDocument } from "surface-mcp/from/openapi";
import type * as petstore from "../../test-d/generated/petstore.ts";
declare const link: Link;
declare const source: MountSource;
declare const prefix: string;
const state = cell({ schema: z.number() });
const log = stream({ output: z.string() });
const stop = procedure({});
const surface = defineSurface("s", { state, log, stop, "node.run": mcpTool(procedure({})) });
const app = mcp(surface);
declare const live: LiveSurface<typeof surface.members>;
const record: Record<string, Member> = {};
const t = initTRPC.create();
const twins = t.router({ a: { b: t.procedure.query(() => 1) }, a_b: t.procedure.query(() => 2) });
const router = t.router({
  orders: t.procedure.query(() => 1),
  order: {
    show: t.procedure.input(z.object({ id: z.string() })).query(() => 1),
    cancel: t.procedure.mutation(() => 1),
  },
});
const options = { context: () => ({}) };
const store = {
  orders: os.handler(() => 1),
  show: os.input(z.object({ id: z.string() })).handler(() => 1),
  ticks: os.handler(async function* () { yield 1; }),
};
const stored = { client: () => createRouterClient(store) };
declare const pets: OpenApiDocument<petstore.paths, petstore.operations>;
const base = { baseUrl: "https://api.example" };
const shop = fromTrpc(router, { orders: "resource" }, options);
export const misspelt = { title: "Stop", titel: "Stop" };
export const open = { stop: "tool", toString: "tool" } as const;
`;

// What an author writes by mistake -> the sentence that the compiler's message must hold.
const mistakes: readonly (readonly [string, string])[] = [
  ["mcpTool(state)", "a cell cannot be a tool: tag it with mcpResource()"],
  ["mcpResource(stop)", "a procedure cannot be a resource: tag it with mcpTool()"],
  ["mcpTool(z.object({}))", "this is not a member, or its type does not say how it is tagged"],
  ["mcpTool(() => 1)", "this is not a member, or its type does not say how it is tagged"],
  ["mcpTool(Math.random() > 0.5 ? state : stop)", '"a cell cannot be a tool: tag it with mcpResource()"'],
  ["mcpResource({})", "this is not a member, or its type does not say how it is tagged"],
  ["readOnly(log)", "streams only read, by their kind: readOnly() is for procedures"],
  ["mcpTool(mcpTool(stop))", "this member is tagged already, as a tool: one tag a member"],
  ["mcpTool(mcpResource(log))", "this member is tagged already, as a resource: one tag a member"],
  ["readOnly(mcpTool(stop, { mutates: true }))", "this tool's options say that it mutates: it cannot be read-only"],
  ["mcpTool(readOnly(stop), { mutates: true })", "readOnly() says that this member does not mutate"],
  ["mcpTool(log, { mutates: true })", "stream tools only read, by their kind: they can neither mutate nor destroy"],
  ["mcpTool(stop, { mutates: false, destructive: true })", "a tool that does not mutate cannot be destructive"],
  [
    "mcpTool(event({ input: z.object({ since: z.string() }), output: z.string() }))",
    'the input field "since" has the name of an argument that every event tool already takes: rename it',
  ],
  [
    "mcpResource(stream({ input: z.object({ at: z.array(z.string()) }), output: z.string() }))",
    "the input of a resource must be a scalar or a flat object of scalars: it is spelled in a URI",
  ],
  ["collection({ schema: z.string() })", "a collection needs a key: the schema of its keys, such as z.string()"],
  [
    "collection({ key: z.record(z.string(), z.string()), schema: z.string() })",
    "the key of a collection must be a scalar or a flat object of declared scalars: it is spelled in a URI",
  ],
  [
    'implementSurface(defineSurface("s", { state }), { state: 5 })',
    "it needs a source with get(), such as cellSource(…) or polled(…)",
  ],
  [
    'implementSurface(defineSurface("s", { state }), { state: { read: () => 5 } })',
    "it needs a source with get(), such as cellSource(…) or polled(…)",
  ],
  [
    'implementSurface(defineSurface("s", { rows: collection({ key: z.string(), schema: z.number() }) }), { rows: 5 })',
    "it needs a source with get(), such as cellSource(…) or polled(…), or with keys() or list(page) beside get(key)",
  ],
  ['defineSurface("s", record)', "the keys of this object must be literal: write it inline"],
  ['app.expose({ nope: "tool" })', "is not a member of this surface"],
  ['app.expose({ log: { resource: { titel: "Log" } } })', '"titel" is not an option'],
  ['app.expose({ log: { resource: { list: "items" } } })', "only a collection has a list: leave list out"],
  ['app.expose({ stop: "tol" })', 'expose a member as "tool", "resource", { tool: { … } } or { resource: { … } }'],
  ["app.expose({ stop: true })", 'expose a member as "tool", "resource", { tool: { … } } or { resource: { … } }'],
  ['app.expose({ stop: { tool: { timeoutMs: "x" } } })', '"timeoutMs" is not what this tool option takes'],
  ['mcpTool(procedure({}), { confirm: "yes" })', '"confirm" is not what this option takes'],
  ["mcpTool(procedure({}), { confirm: () => 5 })", '"confirm" is not what this option takes'],
  ['app.expose({ stop: { tool: { confirm: "yes" } } })', '"confirm" is not what this tool option takes'],
  ["app.expose({ stop: { tool: {}, extra: 1 } })", '"extra" does not belong beside "tool"'],
  [
    "app.bridge(link).tools({ run: { mutates: false, destructive: true, handler: () => 1 } })",
    "a tool that does not mutate cannot be destructive",
  ],
  ["app.bridge(link).tools({ run: { titel: 1, handler: () => 1 } })", '"titel" is not an option'],
  ['app.bridge(link).tools({ run: { input: "a", handler: () => 1 } })', "the input must be a Standard Schema"],
  ["app.bridge(link).tools({ run: { output: 1, handler: () => 1 } })", "the output must be a Standard Schema"],
  [
    'app.bridge(link).tools({ run: { canCall: ["node.*"], handler: (_args, { call }) => call("stop") } })',
    '"stop" is not within the "canCall" of this tool',
  ],
  ["app.expose(open)", "is not a member of this surface"],
  ['app.expose({ stop: "resource" })', "a procedure cannot be a resource: tag it with mcpTool()"],
  ['app.expose({ "node.run": "tool" })', "this member is tagged already: expose it in one place"],
  ['app.expose({ log: "tool" }).expose({ log: "tool" })', '"log" is exposed already: expose it in one place'],
  ["app.expose({ stop: { tool: misspelt } })", '"titel" is not an option'],
  [
    'mcp(defineSurface("t", { "a.b": mcpTool(stop), a_b: mcpTool(stop) })).bridge(link)',
    'the tools "a.b" and "a_b" have one name, "a_b": rename one of them',
  ],
  ['mcp(surface, { nam: "x" })', "'nam' does not exist in type 'McpOptions'"],
  ["app.serve()", "serve() needs a link: call .bridge(link) or .implement(handlers) first"],
  ["createTestClient(app)", "serve() needs a link: call .bridge(link) or .implement(handlers) first"],
  ["app.replay()", "replay() needs a link: call .bridge(link) or .implement(handlers) first"],
  ["app.bridge(live)", "bridge() takes a link; wrap the live surface: inProcess(live)"],
  ["app.tools({})", "tools() needs a link: call .bridge(link) or .implement(handlers) first"],
  ["app.bridge(link).bridge(link)", "this app is linked already: one bridge() or implement() an app"],
  ["app.bridge(link).tools({ node_run: { handler: () => 1 } })", 'the tool name "node_run" is taken by another tool'],
  [
    'app.bridge(link).tools({ stop: { handler: () => 1 } }).expose({ stop: "tool" })',
    'the name "stop" is taken by another tool',
  ],
  ["app.pull().pull()", 'the tool name "read_resource" is taken: by another tool, or by pull() before'],
  [
    "app.bridge(link).tools({ wait_for_change: { handler: () => 1 } }).pull()",
    'the tool name "wait_for_change" is taken: by another tool, or by pull() before',
  ],
  ['app.mount("git", source)', "mount() needs a link: call .bridge(link) or .implement(handlers) first"],
  ["app.bridge(link).mount(prefix, source)", "the prefix of a mount must be a literal: write it inline"],
  ['app.bridge(link).mount("node", source)', 'the prefix "node" is taken by the tool "node_run"'],
  [
    'app.bridge(link).mount("git", source).tools({ git_x: { handler: () => 1 } })',
    'the tool name "git_x" is taken by another tool',
  ],
  [
    'app.bridge(link).mount("shop", shop).tools({ shop_x: { handler: () => 1 } })',
    'the tool name "shop_x" is taken by another tool',
  ],
  ['mcpTrpc(router, { "order.shw": "tool" }, options)', '"order.shw" is not a procedure of this router'],
  [
    'const map = { order: "tool" } as const; mcpTrpc(router, map, options)',
    '"order" is not a procedure of this router',
  ],
  [
    'mcpTrpc(router, { "order.cancel": "resource" }, options)',
    'a mutation cannot be a resource, which only reads: expose it as "tool"',
  ],
  [
    'mcpTrpc(router, { "order.show": "resource" }, options)',
    'a procedure with a required input cannot be a resource: expose it as "tool"',
  ],
  [
    'mcpTrpc(router, { "order.cancel": { tool: { mutates: false } } }, options)',
    '"mutates" is not an option of this kind of procedure',
  ],
  [
    'mcpTrpc(router, { "order.show": { tool: { destructive: true } } }, options)',
    '"destructive" is not an option of this kind of procedure',
  ],
  ["mcpTrpc(router, { orders: { tool: {}, resource: {} } }, options)", '"tool" does not belong beside "resource"'],
  ["mcpTrpc(router, { orders: { toll: {} } }, options)", 'expose a procedure as "tool", "resource", { tool: { … } }'],
  ['mcpTrpc(twins, { "a.b": "tool", a_b: "tool" }, options)', 'the name "a_b" is taken by another key of this object'],
  ['mcpOrpc(store, { "order.shw": "read" }, stored)', '"order.shw" is not a procedure of this router'],
  ['mcpOrpc(store, { orders: "tool" }, stored)', 'say the kind: "read", "write" or "stream", alone or as in'],
  ['mcpOrpc(store, { orders: { read: "tool", write: "tool" } }, stored)', 'say the kind: "read", "write" or "stream"'],
  ['mcpOrpc(store, { orders: { write: "resource" } }, stored)', "a mutation cannot be a resource, which only reads"],
  ['mcpOrpc(store, { show: { read: "resource" } }, stored)', "a procedure with a required input cannot be a resource"],
  [
    "mcpOrpc(store, { orders: { write: { tool: { mutates: false } } } }, stored)",
    '"mutates" is not an option of this kind of procedure',
  ],
  [
    'mcpOrpc(store, { orders: "stream" }, stored)',
    'this procedure returns no event iterator: expose it as "read" or "write"',
  ],
  ['mcpOrpc(store, { ticks: "read" }, stored)', 'this procedure returns an event iterator: expose it as "stream"'],
  ['fromOpenApi(pets, { listPetz: "read" }, base)', '"listPetz" is not an operation of this document'],
  ['fromOpenApi(pets, { "PUT /pets": "write" }, base)', '"PUT /pets" is not an operation of this document'],
  ['fromOpenApi(pets, { "*": "read" }, base)', '"*" is not an operation of this document'],
  ['fromOpenApi(pets, { createPet: "read" }, base)', 'this operation may change something: expose it as "write"'],
  [
    'fromOpenApi(pets, { "DELETE /pets/{petId}": { resource: {} } }, base)',
    'this operation may change something: expose it as "write"',
  ],
  [
    'fromOpenApi(pets, { showPet: "resource" }, base)',
    'only a GET without required inputs can be a resource: expose it as "read"',
  ],
  ["app.views({ a: {} })", "views() needs a link: call .bridge(link) or .implement(handlers) first"],
  ["app.bridge(link).views({ a: {} }).views({ a: {} })", "views() was called already: call it once an app"],
  ["app.bridge(link).views({})", "there must be a view: name one, or leave views() out"],
  ['app.bridge(link).views({ a: { allow: ["node_rum"] } })', 'this app has no tool, resource or prompt "node_rum"'],
  ["app.bridge(link).views({ a: { allow: [prefix] } })", "the patterns of a view must be literal"],
  ['app.bridge(link).views({ a: { deny: "b", allow: ["*"] } })', "a view that denies says why, and nothing else"],
  ["const view = { readOnly: true, alow: 1 }; app.bridge(link).views({ a: view })", 'a view has no "alow"'],
  [
    'app.bridge(link).tools({ list: { handler: () => 1 } }).views({ a: { face: "gateway" } })',
    'the tool name "list" is taken by another tool: a gateway needs it',
  ],
  [
    "app.bridge(link).tools({ replay: { handler: () => 1 } }).views({ a: {} }, { replay: true })",
    'the tool name "replay" is taken by another tool',
  ],
  [
    'const name: ToolNames<typeof app> = "stop"; export { name }',
    "this app has no link yet: ask once it can be served",
  ],
  ['const name: ToolNames<any> = "stop"; export { name }', "this is not an app: pass typeof app"],
];

// Whole messages, for a reader: these are what an author sees first, and most.
const shown: readonly string[] = [
  "mcpTool(state)",
  "mcpTool(stop) as Procedure",
  "const member: Procedure = mcpTool(stop); export { member }",
  'const fewer: Surface<{ stop: typeof stop }> = defineSurface("s", { stop, log }); export { fewer }',
  'app.expose({ nope: "tool" })',
  "app.serve()",
  "app.bridge(link).tools({ node_run: { handler: () => 1 } })",
];

let workshop: Workshop;
let diagnostics: readonly Diagnostic[];

function messagesOf(file: string): readonly string[] {
  return diagnostics
    .filter((diagnostic) => diagnostic.file === file)
    .map(({ message }) => message.replaceAll('\\"', '"'));
}

describe("the compiler's messages", () => {
  beforeAll(async () => {
    workshop = createWorkshop("messages");
    await emitDeclarations(workshop);
    for (const [index, [code]] of mistakes.entries()) workshop.write(`mistake-${index}.ts`, `${setting}\n${code};\n`);
    for (const [index, code] of shown.entries()) workshop.write(`shown-${index}.ts`, `${setting}\n${code};\n`);
    workshop.write("right.ts", `${setting}\napp.expose({ stop: "tool" }).bridge(link).serve();\n`);
    diagnostics = compile(workshop, ["*.ts"]);
  }, 120_000);

  afterAll(() => workshop.remove());

  it("the setting compiles when nothing is wrong", () => {
    expect(messagesOf("right.ts")).toEqual([]);
  });

  it.each(mistakes.map(([code, sentence], index) => [code, sentence, index] as const))(
    "%s is refused in a sentence: %s",
    (_code, sentence, index) => {
      expect(messagesOf(`mistake-${index}.ts`).join("\n")).toContain(sentence);
    },
  );

  it.each(shown.map((code, index) => [code, index] as const))("%s reads like this", (_code, index) => {
    expect(messagesOf(`shown-${index}.ts`).join("\n")).toMatchSnapshot();
  });
});
