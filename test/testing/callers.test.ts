import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { mcp } from "../../src/builder/mcp.ts";
import type { Caller } from "../../src/surface/caller.ts";
import { cell } from "../../src/surface/define-members.ts";
import { defineSurface } from "../../src/surface/define-surface.ts";
import { cellSource } from "../../src/surface/source.ts";
import { mcpResource } from "../../src/tags/mcp-resource.ts";
import { createTestClient, type TestClientOptions } from "../../src/testing/index.ts";

const surface = defineSurface("desk", {
  state: mcpResource(cell({ schema: z.string() }), { scopes: ["audit"] }),
});

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const client of opened.splice(0)) await client.close();
});

function open(options?: TestClientOptions) {
  const app = mcp(surface)
    .implement({ state: cellSource("open") })
    .tools({
      who: { mutates: false, scopes: ["who"], handler: (_args, { caller }) => caller },
      me: { mutates: false, handler: (_args, { caller }) => caller },
    })
    .views({ narrow: { disallow: ["who"] }, locked: { deny: "not today" } });
  const client = createTestClient(app, options);
  opened.push(client);
  return client;
}

const ada: Caller = { id: "ada", isAnonymous: false, scopes: ["desk:read", "who", "audit"], clientId: "cli" };
const bob: Caller = { id: "bob", isAnonymous: false, scopes: ["desk:read"] };

describe("createTestClient() and callers", () => {
  it("is anonymous by default", async () => {
    const client = open();
    expect(await client.tools.me()).toMatchObject({ structured: { id: "anonymous", isAnonymous: true } });
    await expect(client.tools.who()).rejects.toMatchObject({ code: -32602, scopes: undefined });
    await expect(client.read("state")).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  it("uses the given view for any caller", async () => {
    const client = open({ view: "narrow", project: "p", caller: ada });
    expect(await client.toolNames()).toEqual(["me"]);
    expect((await client.listTools()).map(({ name }) => name)).toEqual(["me"]);
    const view = { surface: "narrow", project: "p" };
    expect(await client.tools.me({}, { caller: bob })).toMatchObject({ structured: { ...bob, view } });
    await expect(client.tools.who()).rejects.toMatchObject({ code: -32602 });
    const denied = { code: -32603, message: "tool surface denied: not today" };
    await expect(open({ view: "locked" }).toolNames()).rejects.toMatchObject(denied);
    await expect(open({ view: "other" }).tools.me()).rejects.toMatchObject({ code: -32603 });
  });

  it("uses its caller, and the caller of a single call", async () => {
    const client = open({ caller: bob });
    expect(await client.tools.who({}, { caller: ada })).toMatchObject({ structured: ada });
    await expect(client.tools.who()).rejects.toMatchObject({ scopes: ["desk:read", "who"] });
  });

  it("says which scopes the caller lacked", async () => {
    const client = open({ caller: bob });
    const failure = { name: "RpcFailure", code: -32011, message: "Insufficient scope: this takes desk:read who" };
    await expect(client.tools.who()).rejects.toMatchObject(failure);
    await expect(client.request("resources/read", { uri: "surface://desk/state" })).rejects.toMatchObject({
      scopes: ["desk:read", "audit"],
    });
    await expect(client.request("tools/call", { name: "none" })).rejects.toMatchObject({ scopes: undefined });
  });
});
