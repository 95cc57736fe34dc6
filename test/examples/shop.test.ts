import { spawnSync } from "node:child_process";
import type { Exactly, MutatingToolNames, ResourceNames, ToolNames } from "surface-mcp";
import { beforeAll, afterAll, describe, expect, it, vi } from "vitest";
import type { createAgentApp } from "../../examples/shop/mcp.ts";
import { startPartner, type createPartnerApp } from "../../examples/shop/partner.ts";
import { startShop } from "../../examples/shop/server.ts";
import { ada, bob, sam } from "../../examples/shop/users.ts";
import { WebClient } from "../../examples/shop/web-client.ts";
import { root } from "../docs/markdown-snippets.ts";
import { agents, type AgentSetup } from "./tracker-clients.ts";

type Shop = ReturnType<typeof createAgentApp>;
type Partner = ReturnType<typeof createPartnerApp>;

const products = [
  { id: "tea", name: "Green tea", price: 750, stock: 3 },
  { id: "mug", name: "Mug", price: 1200, stock: 5 },
];

const accounts = [
  { id: "bob of the partner", token: "of-bob", shopToken: bob.token },
  { id: "eve", token: "of-eve" },
];

/** Starts the shop and the partner for all tests of one kind of client. */
function serve(connect: (setup: AgentSetup) => ReturnType<(typeof agents)[number]["connect"]>) {
  let shop = { url: "", close: async () => {} };
  let partner = { url: "", close: async () => {} };
  beforeAll(async () => {
    shop = await startShop();
    partner = await startPartner(`${shop.url}/api`, accounts);
  });
  afterAll(async () => {
    await partner.close();
    await shop.close();
  });
  const answered = (answer: AgentSetup["answer"]) => (answer === undefined ? {} : { answer });
  return {
    atShop: (token: string, answer?: AgentSetup["answer"]) =>
      connect({ url: `${shop.url}/mcp`, token, ...answered(answer) }),
    atPartner: (token: string, answer?: AgentSetup["answer"]) =>
      connect({ url: partner.url, token, ...answered(answer) }),
    web: (token: string) => new WebClient(shop.url, token),
  };
}

describe.each(agents)("the shop, by $name", ({ connect }) => {
  const { atShop, atPartner, web } = serve(connect);

  it("serves by tRPC the procedures of the map, as their customer, and no others", async () => {
    const agent = await atShop(ada.token);
    expect(await agent.tools()).toEqual(["order_cancel", "order_place", "order_show", "orders", "product_show"]);
    expect(await agent.resources()).toEqual(["surface://shop/products", "surface://shop/stock"]);
    expect(await agent.read("surface://shop/products")).toEqual(products);
    expect((await agent.call("product_show", { id: "mug" })).value).toEqual(products[1]);
    await expect(agent.call("product_restock", { id: "mug", count: 1 })).rejects.toThrow("there is no such tool");

    const { value: placed } = await agent.call("order_place", { product: "mug", count: 1 });
    expect(placed).toEqual({ id: "o1", customer: "ada", product: "mug", count: 1, state: "placed" });
    expect(await web(ada.token).call("orders")).toEqual([placed]);
    await web(bob.token).call("order.place", { product: "mug", count: 1 });
    expect((await agent.call("orders")).value).toEqual({ value: [placed] });
    for (const name of ["order_show", "order_cancel"]) {
      const answering = await atShop(ada.token, () => "accept");
      expect(await answering.call(name, { id: "o2" })).toMatchObject({
        isError: true,
        text: 'NOT_FOUND: you have no order "o2"',
      });
    }
    expect((await agent.call("order_place", { product: "mug", count: 9 })).text).toBe("CONFLICT: only 3 left");
    expect((await agent.call("order_place", { product: "mug", count: 0 })).text).toMatch(
      /^VALIDATION_ERROR: .*\n- count/,
    );
  });

  it("notifies by tRPC of a change that the web client made", async () => {
    const agent = await atShop(ada.token);
    const seen = await agent.watch("surface://shop/stock");
    const before = Object(await agent.read("surface://shop/stock"));
    await expect(web(ada.token).call("product.restock", { id: "tea", count: 1 })).rejects.toThrow("only staff");
    await web(sam.token).call("product.restock", { id: "tea", count: 1 });
    await vi.waitFor(() => expect(seen.changed).toBeGreaterThan(0), { timeout: 20_000, interval: 20 });
    expect(await agent.read("surface://shop/stock")).toEqual({ ...before, tea: before.tea + 1 });
  });

  it("serves by OpenAPI the operations of the map, as the linked customer, and no others", async () => {
    const agent = await atPartner("of-bob");
    expect(await agent.tools()).toEqual(["shop_cancelOrder", "shop_placeOrder", "shop_showOrder"]);
    expect(await agent.resources()).toEqual(["surface://partner/shop/listProducts"]);
    expect(await agent.read("surface://partner/shop/listProducts")).toEqual(await web(bob.token).call("products"));
    const restock = agent.call("shop_restockProduct", { id: "tea", body: { count: 1 } });
    await expect(restock).rejects.toThrow("there is no such tool");

    const { value: placed } = await agent.call("shop_placeOrder", { body: { product: "tea", count: 1 } });
    expect(placed).toMatchObject({ customer: "bob", product: "tea", count: 1, state: "placed" });
    const { id } = Object(placed);
    expect((await agent.call("shop_showOrder", { id })).value).toEqual(placed);
    expect(await web(bob.token).call("orders")).toContainEqual(placed);
    const foreign: unknown = await web(ada.token).call("order.place", { product: "tea", count: 1 });
    expect((await agent.call("shop_showOrder", { id: Object(foreign).id })).text).toBe(
      "UPSTREAM_404: the API refused the request with status 404: You have no such order; " +
        `it says {"error":"you have no order \\"${Object(foreign).id}\\""}`,
    );
    expect((await agent.call("shop_placeOrder", { body: { product: "tea", count: 99 } })).text).toMatch(
      /^UPSTREAM_409: the API refused the request with status 409: Too few are left; it says {"error":"only \d+ left"}$/,
    );
  });

  it.each(["", ".", "..", "../products", "%2e%2e", "o1/../../openapi.json"])("refuses %j in a path", async (id) => {
    const agent = await atPartner("of-bob");
    expect((await agent.call("shop_showOrder", { id })).text).toMatch(/^VALIDATION_ERROR: the argument "id"/);
  });

  it("cancels nothing through either door until the customer agrees", async () => {
    const placed: unknown = await web(bob.token).call("order.place", { product: "mug", count: 1 });
    const { id } = Object(placed);
    const asked: string[] = [];
    const declines = (question: string) => (asked.push(question), "decline" as const);
    const [first, second] = [await atShop(bob.token, declines), await atPartner("of-bob", declines)];
    expect((await first.call("order_cancel", { id })).text).toMatch(/^DECLINED/);
    expect((await second.call("shop_cancelOrder", { id })).text).toMatch(/^DECLINED/);
    expect(asked).toHaveLength(2);
    expect(await web(bob.token).call("orders")).toContainEqual(placed);
    const accepting = await atPartner("of-bob", () => "accept");
    expect((await accepting.call("shop_cancelOrder", { id })).value).toMatchObject({ id, state: "cancelled" });
  });

  it("lets in nobody without a token, and no user without a link", async () => {
    await expect(web("wrong").call("orders")).rejects.toThrow("sign in first");
    await expect(atShop("wrong")).rejects.toThrow(/401|token is not valid/);
    // A token of the shop is none of the partner, and the reverse.
    await expect(atPartner(bob.token)).rejects.toThrow(/401|token is not valid/);
    await expect(atShop("of-bob")).rejects.toThrow(/401|token is not valid/);
    const eve = await atPartner("of-eve");
    expect((await eve.call("shop_showOrder", { id: "o1" })).text).toBe(
      "NOT_LINKED: link your account at the shop first",
    );
  });
});

it("types exactly what agents can reach", () => {
  const shop: [
    Exactly<ToolNames<Shop>, "product_show" | "orders" | "order_show" | "order_place" | "order_cancel">,
    Exactly<MutatingToolNames<Shop>, "order_place" | "order_cancel">,
    Exactly<ResourceNames<Shop>, "products" | "stock">,
  ] = [true, true, true];
  const partner: [
    Exactly<ToolNames<Partner>, "shop_showOrder" | "shop_placeOrder" | "shop_cancelOrder">,
    Exactly<MutatingToolNames<Partner>, "shop_placeOrder" | "shop_cancelOrder">,
    Exactly<ResourceNames<Partner>, "shop/listProducts">,
  ] = [true, true, true];
  expect([shop, partner]).toHaveLength(2);
});

it("the demo finds what it asserts at both doors, and ends", { timeout: 90_000 }, () => {
  const run = spawnSync(process.execPath, ["--import", import.meta.resolve("tsx"), "examples/shop/demo.ts"], {
    cwd: root,
    encoding: "utf8",
    timeout: 80_000,
  });
  expect(run.stderr).toBe("");
  expect(run.status).toBe(0);
  expect(run.stdout).toContain('is notified, and reads: {"tea":11,"mug":4}\n');
  expect(run.stdout).toMatch(/^Done in \d+\.\d s\.\n$/m);
});
