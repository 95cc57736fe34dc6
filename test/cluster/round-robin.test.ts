import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { http, type HttpServing } from "../../src/http/http.ts";
import { cell, cellSource, defineSurface, mcp, mcpResource, mcpTool, procedure } from "../../src/index.ts";
import { memoryHub } from "./memory-hub.ts";

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

const text = Array.from({ length: 40_000 }, (_, line) => `line ${line}\n`).join("");

/** Serves three replicas of one app whose state is in one place, and connects a client whose requests go to each in turn. */
async function connect() {
  const hub = memoryHub();
  const database = { paid: 0 };
  const start = async (): Promise<HttpServing> => {
    const surface = defineSurface("shop", {
      paid: mcpResource(cell({ schema: z.number() })),
      book: mcpResource(cell({ schema: z.string() })),
      pay: mcpTool(procedure({ output: z.number() }), { confirm: true }),
    });
    const told = new Set<() => void>();
    const paid = {
      get: () => database.paid,
      subscribe: (listener: () => void) => (told.add(listener), () => told.delete(listener)),
    };
    const pay = (): number => {
      database.paid += 1;
      for (const listener of told) listener();
      return database.paid;
    };
    const app = mcp(surface, { maxResourceBytes: 65_536 }).implement({ paid, pay, book: cellSource(text) });
    const serving = await app.serve(http({ cluster: hub.join(), exit: false }));
    closing.push(() => serving.close());
    return serving;
  };
  const servers = [await start(), await start(), await start()];
  let turn = 0;
  const client = new Client(
    { name: "round-robin", version: "1.0.0" },
    { capabilities: { elicitation: {} }, versionNegotiation: { mode: { pin: "2026-07-28" } } },
  );
  client.setRequestHandler("elicitation/create", () => ({ action: "accept", content: {} }));
  const next = (): string => servers[(turn += 1) % servers.length]?.url ?? "";
  const spread: typeof fetch = (_url, init) => fetch(next(), init);
  await client.connect(new StreamableHTTPClientTransport(new URL(next()), { fetch: spread }));
  closing.push(() => client.close());
  return { hub, client, servers };
}

const read = async (client: Client, uri: string): Promise<string> => {
  const { contents } = await client.readResource({ uri });
  return contents.map((content) => ("text" in content ? content.text : "")).join("");
};

describe("a client whose requests go to another replica each time", () => {
  it("confirms a call on another replica than the one that asked", async () => {
    const { client } = await connect();
    for (let paid = 1; paid <= 4; paid += 1) {
      const { structuredContent } = await client.callTool({ name: "pay", arguments: {} });
      expect(structuredContent).toEqual({ value: paid });
    }
  });

  it("reads a large value to its end", async () => {
    const { client } = await connect();
    let part = JSON.parse(await read(client, "surface://shop/book"));
    let whole: string = part.excerpt;
    while (part.next !== undefined) {
      part = JSON.parse(await read(client, part.next));
      whole += part.text;
    }
    expect(JSON.parse(whole)).toBe(text);
  });

  it("is told of each last change, whichever replica made it", async () => {
    const { client } = await connect();
    let updates = 0;
    client.setNotificationHandler("notifications/resources/updated", () => void (updates += 1));
    await client.listen({ resourceSubscriptions: ["surface://shop/paid"] });
    for (let paid = 1; paid <= 6; paid += 1) {
      const before = updates;
      await client.callTool({ name: "pay", arguments: {} });
      await expect.poll(() => updates).toBeGreaterThan(before);
      expect(await read(client, "surface://shop/paid")).toBe(String(paid));
    }
  });

  it("is served while the store is away, except for questions, and again afterwards", async () => {
    const { hub, client, servers } = await connect();
    const ready = async (): Promise<unknown> =>
      (await fetch((servers[0]?.url ?? "").replace("/mcp", "/readyz"))).json();
    expect(await ready()).toMatchObject({ status: "ok", cluster: "ok" });
    hub.setAvailable(false);
    expect(await ready()).toMatchObject({ status: "ok", cluster: "unavailable" });
    expect(await read(client, "surface://shop/paid")).toBe("0");
    await expect(client.callTool({ name: "pay", arguments: {} })).rejects.toThrow(/Server busy/);
    expect(await read(client, "surface://shop/paid")).toBe("0");
    hub.setAvailable(true);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect((await client.callTool({ name: "pay", arguments: {} })).structuredContent).toEqual({ value: 1 });
  });
});
