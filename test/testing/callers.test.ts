import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { mcp } from "../../src/builder/mcp.ts";
import type { Caller } from "../../src/catalog/caller.ts";
import { cell } from "../../src/surface/cell.ts";
import { defineSurface } from "../../src/surface/define-surface.ts";
import { cellSource } from "../../src/surface/source.ts";
import { mcpResource } from "../../src/tags/mcp-resource.ts";
import { createTestClient, type TestClientOptions } from "../../src/testing/test-client.ts";

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
    .tools({ who: { mutates: false, scopes: ["who"], handler: (_args, { caller }) => caller } });
  const client = createTestClient(app, options);
  opened.push(client);
  return client;
}

const ada: Caller = { id: "ada", isAnonymous: false, scopes: ["desk:read", "who", "audit"], clientId: "cli" };
const bob: Caller = { id: "bob", isAnonymous: false, scopes: ["desk:read"] };

describe("createTestClient() and callers", () => {
  it("asks as nobody who is known when it is told of none", async () => {
    const client = open();
    expect(await client.tools.who()).toMatchObject({ structured: { id: "anonymous", isAnonymous: true } });
    expect(await client.read("state")).toBe("open");
  });

  it("asks as who it is made for, and as who one call names", async () => {
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
