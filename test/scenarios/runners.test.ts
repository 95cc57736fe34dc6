import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { bearer, httpHandler, tokenRegistry, type TokenGrant } from "../../src/http/index.ts";
import { createHono, serveHono } from "../http/support/hono.ts";
import { agentKinds, refusalOf, type Agent, type AgentKind } from "./support/clients.ts";
import { createHub, openOperations, type Hub } from "./support/hub-app.ts";
import { endWithTest, serveForTest, type Served } from "./support/serve.ts";

const resource = "https://hub.example/mcp";

type Runner = TokenGrant & { readonly query?: string };

interface RunnerHub extends Hub, Served {
  readonly tokens: ReturnType<typeof tokenRegistry>;
  /** Registers a runner, and connects it by its token. */
  readonly register: (
    kind: AgentKind,
    runner?: Partial<Runner>,
  ) => Promise<{ agent: Agent; tokenId: string; token: string }>;
}

/** A body that is no message: whoever is nobody is told so before it is looked at. */
async function statusOf(url: string, token?: string): Promise<readonly unknown[]> {
  const headers = new Headers({ "content-type": "application/json", accept: "application/json, text/event-stream" });
  if (token !== undefined) headers.set("authorization", `Bearer ${token}`);
  const answer = await fetch(url, { method: "POST", headers, body: "not even JSON" });
  return [answer.status, answer.headers.get("www-authenticate")?.split(" ")[0]];
}

const readWrite = ["runner:read", "runner:write"];

async function serveRunners(): Promise<RunnerHub> {
  const hub = createHub();
  const tokens = tokenRegistry({ resource });
  const auth = bearer({ resource, verify: tokens.verify });
  const served = await serveForTest(hub.app, { auth, rateLimit: false });
  const register: RunnerHub["register"] = async (kind, { query = "", ...grant } = {}) => {
    const minted = await tokens.mint({ id: "runner-1", scopes: readWrite, ...grant });
    return { ...minted, agent: await served.enter(kind, query, { token: minted.token }) };
  };
  return { ...hub, ...served, tokens, register };
}

async function idsOf(agent: Agent): Promise<readonly unknown[]> {
  const { structuredContent } = await agent.call("list");
  return [Object(structuredContent).operations].flat().map((each) => Object(each).tool);
}

async function batchOf(agent: Agent, ...calls: readonly { tool: string; input?: object }[]): Promise<unknown> {
  const { structuredContent } = await agent.call("call", { calls });
  return Object(structuredContent).results;
}

const missing = { success: false, error: { code: "OPERATION_NOT_FOUND" } };

describe.each(agentKinds)("a runner by $name", (kind) => {
  it("is not let in without the token that it was given when it registered", async () => {
    const { enter, serving, register, tokens } = await serveRunners();
    const nobody = refusalOf(kind, /401|unauthorized|token/i);
    await expect(enter(kind)).rejects.toThrow(nobody);
    await expect(enter(kind, "", { token: "made-up" })).rejects.toThrow(nobody);
    expect(await statusOf(serving.url)).toEqual([401, "Bearer"]);
    const { agent, token } = await register(kind);
    expect(await agent.tools()).toEqual(["call", "list", "schema", "search"]);
    expect(await statusOf(serving.url, token)).toEqual([400, undefined]);
    expect(JSON.stringify(await tokens.list())).not.toContain(token);
  });

  it("is named by its token in the context of its calls, and in the tree of calls", async () => {
    const { register, askedBy, app } = await serveRunners();
    const { agent } = await register(kind, { id: "runner-7", claims: { host: "build-3" } });
    await batchOf(agent, { tool: "hub.coord.spawn", input: { sessionId: "s", task: "t" } });
    expect(askedBy).toMatchObject([
      { id: "runner-7", isAnonymous: false, scopes: readWrite, claims: { host: "build-3" } },
    ]);
    expect(askedBy[0]?.view?.client).toEqual({ name: "scenario", version: "1" });
    const root = app.calls.roots().at(-1);
    expect(root).toMatchObject({ identity: "runner-7", children: [{ identity: "runner-7", children: [{}] }] });
  });

  it("finds and calls granted operations, and no others", async () => {
    const { register, ran } = await serveRunners();
    const reader = await register(kind, { id: "reader", scopes: ["runner:read"] });
    const writes = ["hub.coord.message", "hub.coord.spawn", "hub.git.worktreeCreate"];
    expect(await idsOf(reader.agent)).toEqual(openOperations.filter((id) => !writes.includes(id)));
    expect(
      await batchOf(reader.agent, { tool: "hub.coord.message", input: { to: "x" } }, { tool: "runner.about" }),
    ).toMatchObject([missing, { success: true }]);
    const pusher = await register(kind, { id: "pusher", scopes: [...readWrite, "git:push"] });
    expect(await idsOf(pusher.agent)).toContain("hub.git.push");
    expect(await batchOf(pusher.agent, { tool: "hub.git.push" })).toMatchObject([{ result: { pushed: true } }]);
    expect(ran).toEqual(["push"]);
  });

  it("acts on the resources in its token, and on no other", async () => {
    const { register, ran } = await serveRunners();
    const { agent } = await register(kind, { resources: { "site:blog": ["deploy"], "site:shop": ["read"] } });
    expect(await idsOf(agent)).toContain("hub.site.deploy");
    const deploy = (site: string): { tool: string; input: object } => ({ tool: "hub.site.deploy", input: { site } });
    const results = await batchOf(agent, deploy("blog"), deploy("shop"), deploy("never"));
    expect(results).toMatchObject([{ result: { site: "blog" } }, { success: false }, { success: false }]);
    const [, shop, never] = [results].flat();
    expect(JSON.stringify(shop).replaceAll("shop", "…")).toBe(JSON.stringify(never).replaceAll("never", "…"));
    expect(ran).toEqual(["deploy blog"]);
  });

  it("is refused after its token is revoked", async () => {
    const { register, tokens, serving } = await serveRunners();
    const [gone, other] = [await register(kind), await register(kind, { id: "runner-2" })];
    expect(await tokens.revoke(gone.tokenId)).toBe(true);
    await expect(gone.agent.tools()).rejects.toThrow(/401|[Uu]nauthorized|token/);
    expect(await other.agent.tools()).toHaveLength(4);
    expect(await statusOf(serving.url, gone.token)).toEqual([401, "Bearer"]);
  });

  it("keeps its grants in whichever view it comes by: a view gives nothing", async () => {
    const { register } = await serveRunners();
    const { agent } = await register(kind, { scopes: ["runner:read"], query: "?surface=direct" });
    const writes = ["hub.coord.message", "hub.coord.spawn", "hub.git.worktreeCreate"];
    const mayCall = openOperations.filter((id) => !writes.includes(id)).map((id) => id.replaceAll(".", "_"));
    expect(await agent.tools()).toEqual(mayCall);
  });

  it("uses a hub that is one route of another server", async () => {
    const handler = httpHandler(createHub().app, { allowAnonymous: true });
    const hono = await createHono();
    hono.all("/mcp", (context) => handler(context.req.raw));
    const server = await serveHono({ fetch: hono.fetch, port: 0, hostname: "127.0.0.1" });
    endWithTest(async () => {
      await handler.close();
      server.close();
    });
    if (!server.listening) await once(server, "listening");
    // A server on a port has an address of this form.
    const { port } = server.address() as AddressInfo;
    const agent = await kind.connect({ url: `http://127.0.0.1:${port}/mcp` });
    endWithTest(() => agent.close());
    expect(await agent.tools()).toEqual(["call", "list", "schema", "search"]);
    expect(await idsOf(agent)).toEqual(openOperations);
  });
});
