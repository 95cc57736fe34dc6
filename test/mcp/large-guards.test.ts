import { afterEach, expect, it } from "vitest";
import * as z from "zod";
import type { Caller } from "../../src/surface/caller.ts";
import {
  cell,
  cellSource,
  defineSurface,
  mcp,
  mcpResource,
  mcpTool,
  operationRegistry,
  procedure,
  readOnly,
  type ViewRule,
} from "../../src/index.ts";
import type { JsonObject } from "../../src/schema/json.ts";
import { createTestClient, type TestClient } from "../../src/testing/index.ts";

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

const secret = "SECRET ".repeat(5000);
const options = { onFault: () => {}, maxResultBytes: 8192, maxResourceBytes: 8192 };

/** What is asked of a client here: frames. */
type Client = Pick<TestClient<never, never>, "request" | "close">;

function kept(client: Client): Client {
  closing.push(() => client.close());
  return client;
}

const known = (scopes: readonly string[], resources: Caller["resources"] = {}): Caller => ({
  id: "u",
  isAnonymous: false,
  scopes,
  resources,
});

/** Calls a tool whose answer is too large, and says where its second part is. */
async function partOf(client: Client, params: JsonObject, caller?: Caller): Promise<string> {
  const answer: unknown = await client.request("tools/call", params, caller === undefined ? {} : { caller });
  const marked = z.object({ _meta: z.object({ "surface-mcp/truncated": z.object({ next: z.string() }) }) });
  const { _meta: meta } = marked.parse(answer);
  return meta["surface-mcp/truncated"].next;
}

const isReadable = (client: Client, uri: string, caller?: Caller): Promise<boolean> =>
  client.request("resources/read", { uri }, caller === undefined ? {} : { caller }).then(
    () => true,
    () => false,
  );

const surface = defineSurface("ci", {
  big: mcpResource(cell({ schema: z.string() }), { scopes: ["ci:admin"] }),
  dump: readOnly(
    mcpTool(procedure({ input: z.object({ repo: z.string() }) }), {
      resource: { type: "repo", action: "read", argument: "repo" },
    }),
  ),
});

const app = (rules: ViewRule[] | ReturnType<typeof cellSource<readonly ViewRule[]>>) => {
  const registry = operationRegistry();
  registry.register({ name: "dump", type: "query" }, () => ({ text: secret }));
  return mcp(surface, options)
    .implement({ big: cellSource(secret), dump: ({ repo }) => `${repo} `.repeat(5000) })
    .mount("hub", registry)
    .pull()
    .views(rules);
};

const gateway = { kind: "tool_surface", face: "gateway" } as const;

it("Parts of an operation's answer behind a gateway can be read by the same rules of the view only", async () => {
  const rules = cellSource<readonly ViewRule[]>([{ verdict: gateway }]);
  const client = kept(createTestClient(app(rules)));
  const next = await partOf(client, { name: "call", arguments: { calls: [{ tool: "hub.dump" }] } });
  expect(await isReadable(client, next)).toBe(true);
  rules.set([{ verdict: { ...gateway, disallow: ["hub.*"] } }]);
  expect(await isReadable(client, next)).toBe(false);
  // The same rules, which show the same: every replica identifies them by what they decide.
  rules.set([{ verdict: gateway }]);
  expect(await isReadable(client, next)).toBe(true);
});

it("Parts of a tool's reading can be read as long as the resource is shown", async () => {
  const rules = cellSource<readonly ViewRule[]>([{ verdict: { kind: "tool_surface" } }]);
  const client = kept(createTestClient(app(rules)));
  const admin = known(["ci:read", "ci:admin"]);
  const next = await partOf(client, { name: "read_resource", arguments: { uri: "surface://ci/big" } }, admin);
  expect(await isReadable(client, next, admin)).toBe(true);
  rules.set([{ verdict: { kind: "tool_surface", disallow: ["big"] } }]);
  expect(await isReadable(client, next, admin)).toBe(false);
});

it("Parts of a reading by read_resource behind a gateway can be read as long as both are shown", async () => {
  const rules = cellSource<readonly ViewRule[]>([{ verdict: gateway }]);
  const client = kept(createTestClient(app(rules)));
  const admin = known(["ci:read", "ci:admin"]);
  const calls = [{ tool: "read_resource", input: { uri: "surface://ci/big" } }];
  const next = await partOf(client, { name: "call", arguments: { calls } }, admin);
  expect(await isReadable(client, next, admin)).toBe(true);
  rules.set([{ verdict: { ...gateway, disallow: ["big"] } }]);
  expect(await isReadable(client, next, admin)).toBe(false);
  rules.set([{ verdict: { ...gateway, disallow: ["read_resource"] } }]);
  expect(await isReadable(client, next, admin)).toBe(false);
});

it("Parts can be read with the same grants, and not by the same caller with fewer", async () => {
  const client = kept(createTestClient(app([{ verdict: { kind: "tool_surface" } }])));
  const admin = known(["ci:read", "ci:admin"]);
  const next = await partOf(client, { name: "read_resource", arguments: { uri: "surface://ci/big" } }, admin);
  expect(await isReadable(client, next, known(["ci:admin", "ci:read"]))).toBe(true);
  expect(await isReadable(client, next, known(["ci:read"]))).toBe(false);
  expect(await isReadable(client, next, known(["ci:read", "ci:admin", "ci:write"]))).toBe(false);
});

it("Parts of an answer about one resource cannot be read with a token for another", async () => {
  const client = kept(createTestClient(app([{ verdict: { kind: "tool_surface" } }])));
  const [one, other] = ["a", "b"].map((repo) => known(["ci:read"], { [`repo:${repo}`]: ["read"] }));
  const next = await partOf(client, { name: "dump", arguments: { repo: "a" } }, one);
  expect(await isReadable(client, next, one)).toBe(true);
  expect(await isReadable(client, next, other)).toBe(false);
});

it("Parts of a tool's own answer made by tools for tools only can be read", async () => {
  const registry = operationRegistry();
  registry.register({ name: "dump", visibility: "internal" }, () => ({ text: secret }));
  const made = mcp(surface, options)
    .implement({ big: cellSource(""), dump: ({ repo }) => repo })
    .tools({ outer: { canCall: ["hub.dump"], handler: (_input: unknown, { call }) => call("hub.dump") } })
    .mount("hub", registry);
  const client = kept(createTestClient(made));
  const next = await partOf(client, { name: "outer", arguments: {} });
  expect(await isReadable(client, next)).toBe(true);
});
