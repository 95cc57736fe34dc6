import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { mcpTrpc } from "../../../src/builder/mcp-trpc.ts";
import type { HttpServing } from "../../../src/http/http.ts";
import { http } from "../../../src/http/http.ts";
import type { ServableApp } from "../../../src/mcp/servable-app.ts";
import { httpClients, type HttpClient } from "../../http/support/http-clients.ts";
import { createLegacyShop } from "./legacy-shop.ts";
import { createShop, shopContext } from "./shop.ts";

const map = {
  "order.show": "tool",
  "order.cancel": "tool",
  orders: "resource",
  ticks: "tool",
} as const;
const options = { context: shopContext, onFault: () => {}, changeWindowMs: 0 };

interface Shop {
  readonly version: string;
  readonly create: () => { readonly app: ServableApp; readonly ended: readonly string[] };
}

const shops: readonly Shop[] = [
  {
    version: "11",
    create: () => {
      const { router, log } = createShop();
      return { app: mcpTrpc(router, { ...map, deaf: "tool" }, options), ended: log.ended };
    },
  },
  {
    version: "10",
    create: () => {
      const { router, ended } = createLegacyShop();
      return { app: mcpTrpc(router, map, options), ended };
    },
  },
];

const ways = shops.flatMap((shop) => httpClients.map((entry) => ({ ...shop, ...entry })));

describe.each(ways)("a router of tRPC $version and $name", { timeout: 30_000 }, ({ version, create, connect }) => {
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

  it("list the same, call it and read it", async () => {
    const { tools } = await client.listTools();
    const names = tools.map(({ name }) => name).filter((name) => name !== "deaf");
    expect(names).toEqual(["order_cancel", "order_show", "ticks"]);
    const shown = await client.callTool({ name: "order_show", arguments: { id: "o1" } });
    expect(shown).toMatchObject({ structuredContent: { id: "o1 of anonymous" } });
    expect(shown["structuredContent"]).not.toHaveProperty("secret");
    expect(await client.readResource({ uri: "surface://trpc/orders" })).toMatchObject({
      contents: [{ mimeType: "application/json", text: expect.stringContaining('"id":"o1"') }],
    });
  });

  it("answer bad input, refusals and faults as results", async () => {
    const bad = await client.callTool({ name: "order_show", arguments: { id: "o" } });
    expect(bad).toMatchObject({ isError: true, content: [{ text: expect.stringContaining("VALIDATION_ERROR") }] });
    if (version === "11") return;
    const cancel = (id: string, reason = "late"): Promise<unknown> =>
      client.callTool({ name: "order_cancel", arguments: { id, reason } });
    expect(await cancel("o1")).toMatchObject({ structuredContent: { cancelled: "o1", because: "late" } });
    expect(await cancel("o1", "none")).toMatchObject({
      isError: true,
      content: [{ text: "VALIDATION_ERROR: the arguments do not fit\n- reason: must be a reason" }],
    });
    expect(await cancel("gone")).toMatchObject({ content: [{ text: "NOT_FOUND: there is no such order" }] });
    const masked = JSON.stringify(await cancel("broken"));
    expect(masked).toContain("INTERNAL");
    expect(masked).not.toContain("secret");
  });

  it("pull items, and end the subscription", async () => {
    const before = ended.length;
    const pulled = await client.callTool({ name: "ticks", arguments: { max_items: 2 } });
    expect(pulled).toMatchObject({ structuredContent: { items: [{ tick: 1 }, { tick: 2 }], ended: false } });
    await expect.poll(() => ended.length).toBe(before + 1);
  });

  it("abort a call in mid-subscription, after which its finally runs", async () => {
    const [before, name] = [ended.length, version === "11" ? "deaf" : "ticks"];
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 100);
    const call = client.callTool(
      { name, arguments: { wait_ms: 60_000, max_items: 1000 } },
      { signal: controller.signal },
    );
    await expect(call).rejects.toThrow(/abort/i);
    await expect.poll(() => ended.length, { timeout: 10_000 }).toBe(before + 1);
  });
});
