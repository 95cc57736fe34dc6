import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { mcpOrpc } from "../../../src/builder/mcp-orpc.ts";
import { http, type HttpServing } from "../../../src/http/http.ts";
import type { ServableApp } from "../../../src/mcp/servable-app.ts";
import { httpClients, type HttpClient } from "../../http/support/http-clients.ts";
import { createNextStore } from "./next-store.ts";
import { createStore } from "./store.ts";

const map = {
  "order.show": "read",
  "order.cancel": "write",
  throws: "read",
  deaf: "stream",
  orders: { read: "resource" },
} as const;
const onFault = (): void => {};

interface Store {
  readonly version: string;
  readonly create: () => { readonly app: ServableApp; readonly ended: readonly string[] };
}

const stores: readonly Store[] = [
  {
    version: "1",
    create: () => {
      const { router, client, log } = createStore();
      return { app: mcpOrpc(router, map, { client, onFault }), ended: log.ended };
    },
  },
  {
    version: "2",
    create: () => {
      const { router, client, log } = createNextStore();
      return { app: mcpOrpc(router, map, { client, onFault }), ended: log.ended };
    },
  },
];

const ways = stores.flatMap((store) => httpClients.map((entry) => ({ ...store, ...entry })));

describe.each(ways)("a router of oRPC $version and $name", { timeout: 30_000 }, ({ create, connect }) => {
  const { app, ended } = create();
  let serving: HttpServing;
  let client: HttpClient;
  beforeAll(async () => {
    serving = await http({ port: 0, exit: false }).serve(app);
    client = await connect({ url: serving.url });
  });
  afterAll(async () => {
    await client.close();
    await serving.close();
  });

  it("list it, call it and read it", async () => {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(["deaf", "order_cancel", "order_show", "throws"]);
    expect(tools).toMatchObject([
      { outputSchema: { properties: { items: { items: { required: ["tick"] } } } } },
      {},
      { description: "One order", annotations: { readOnlyHint: true }, inputSchema: { required: ["id"] } },
      {},
    ]);
    const shown = await client.callTool({ name: "order_show", arguments: { id: "o1" } });
    expect(shown).toMatchObject({ structuredContent: { id: "o1 of anonymous" } });
    expect(shown["structuredContent"]).not.toHaveProperty("secret");
    expect(await client.readResource({ uri: "surface://orpc/orders" })).toMatchObject({
      contents: [{ mimeType: "application/json", text: expect.stringContaining('"id":"o1"') }],
    });
  });

  it("answer bad input, defined errors and faults as results", async () => {
    const bad = await client.callTool({ name: "order_show", arguments: { id: "o" } });
    expect(bad).toMatchObject({ isError: true, content: [{ text: expect.stringContaining("VALIDATION_ERROR") }] });
    const shipped = await client.callTool({ name: "order_cancel", arguments: { id: "shipped" } });
    expect(shipped).toMatchObject({ isError: true, content: [{ text: /^SHIPPED: it is on its way/ }] });
    const masked = JSON.stringify(await client.callTool({ name: "throws", arguments: {} }));
    expect(masked).toContain("INTERNAL");
    expect(masked).not.toContain("secret");
  });

  it("pull items, and abort a call in mid-stream, after which its finally runs", async () => {
    const pulled = await client.callTool({ name: "deaf", arguments: { max_items: 2 } });
    expect(pulled).toMatchObject({ structuredContent: { items: [{ tick: 1 }, { tick: 2 }], ended: false } });
    await expect.poll(() => ended.length).toBe(1);
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 100);
    const call = client.callTool(
      { name: "deaf", arguments: { wait_ms: 60_000, max_items: 1000 } },
      { signal: controller.signal },
    );
    await expect(call).rejects.toThrow(/abort/i);
    await expect.poll(() => ended.length).toBe(2);
  });
});
