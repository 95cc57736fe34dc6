/** `npm run demo:shop`: agents enter the shop by two doors, while people use its web client. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { z } from "zod";
import { DemoAgent } from "./demo-agent.ts";
import { startPartner } from "./partner.ts";
import { startShop } from "./server.ts";
import { Order, Product } from "./store.ts";
import { ada, bob, sam } from "./users.ts";
import { WebClient } from "./web-client.ts";

function say(who: string, text: string): void {
  console.log(`  ${who.padEnd(8)} ${text}`);
}

/** Lists what an agent can reach, and returns the names of its tools. */
async function list(agent: DemoAgent): Promise<readonly string[]> {
  const { tools, resources } = await agent.list();
  say("", `${tools.join(", ")},\n${" ".repeat(11)}${resources.join(", ")}`);
  return tools;
}

function toText(value: unknown): string {
  const { id, count, product, customer, state } = Order.parse(value);
  return `${id}: ${count} ${product} for ${customer}, ${state}`;
}

/** Returns the text of a refusal. */
async function refusal(attempt: Promise<unknown>): Promise<string> {
  const outcome = await attempt.catch((error: unknown) => error);
  assert(outcome instanceof Error);
  return outcome.message;
}

async function visitShop(url: string): Promise<void> {
  console.log(`\nDoor 1, tRPC, at ${url}/mcp: Ada's agent signs in with her token and lists`);
  const agent = await DemoAgent.connect(`${url}/mcp`, ada.token);
  assert.deepEqual(await list(agent), ["order_cancel", "order_place", "order_show", "orders", "product_show"]);
  const hidden = await refusal(agent.call("product_restock", { id: "tea", count: 10 }));
  say("agent", `calls product_restock and reads: ${hidden}`);
  assert.match(hidden, /there is no such tool/);

  const placed = await agent.call("order_place", { product: "tea", count: 2 });
  say("agent", `orders tea: ${toText(placed)}`);
  const [seen] = z.array(Order).parse(await new WebClient(url, ada.token).call("orders"));
  say("Ada", `finds the order on the web: ${toText(seen)}`);
  assert.deepEqual(seen, placed);
  const foreign = await new WebClient(url, bob.token).call("order.place", { product: "mug", count: 1 });
  say("Bob", `orders on the web: ${toText(foreign)}`);
  const reason = await refusal(agent.call("order_show", { id: "o2" }));
  say("agent", `asks for o2 and reads: ${reason}`);
  assert.equal(reason, 'NOT_FOUND: you have no order "o2"');

  const stock = "surface://shop/stock";
  const { changed } = await agent.watch(stock);
  say("agent", `watches the stock: ${JSON.stringify(await agent.read(stock))}`);
  await new WebClient(url, sam.token).call("product.restock", { id: "tea", count: 10 });
  say("Sam", "of the staff adds 10 tea on the web");
  await changed;
  const restocked = await agent.read(stock);
  say("agent", `is notified, and reads: ${JSON.stringify(restocked)}`);
  assert.deepEqual(restocked, { tea: 11, mug: 4 });

  const cancelled = await agent.call("order_cancel", { id: "o1" });
  say("Ada", `is asked: ${agent.questions.join().replaceAll("\n", ", ")}. She agrees`);
  say("agent", `cancels ${toText(cancelled)}`);
  assert.equal(agent.questions.length, 1);
  await agent.close();
}

async function visitPartner(shopUrl: string): Promise<void> {
  const account = { id: "bob@partner", token: randomUUID(), shopToken: bob.token };
  const partner = await startPartner(`${shopUrl}/api`, [account]);
  console.log(
    `\nDoor 2, OpenAPI, at ${partner.url} of a partner: Bob's agent signs in with a token of the partner and lists`,
  );
  const agent = await DemoAgent.connect(partner.url, account.token);
  assert.deepEqual(await list(agent), ["shop_cancelOrder", "shop_placeOrder", "shop_showOrder"]);
  const hidden = await refusal(agent.call("shop_restockProduct", { id: "tea", body: { count: 10 } }));
  say("agent", `calls shop_restockProduct and reads: ${hidden}`);
  assert.match(hidden, /there is no such tool/);

  const order = await agent.call("shop_placeOrder", { body: { product: "tea", count: 1 } });
  say("agent", `orders tea: ${toText(order)}`);
  const [tea] = z.array(Product).parse(await agent.read("surface://partner/shop/listProducts"));
  say("agent", `reads the products: ${tea?.stock} tea left`);
  assert.equal(tea?.stock, 12);
  const seen = await new WebClient(shopUrl, bob.token).call("orders");
  assert.deepEqual(seen, [await agent.call("shop_showOrder", { id: "o2" }), order]);
  say("Bob", "finds it on the web");
  const foreign = await refusal(agent.call("shop_showOrder", { id: "o1" }));
  say("agent", `asks for o1 and reads:\n           ${foreign}`);
  assert.match(foreign, /^UPSTREAM_404/);
  const outside = await refusal(agent.call("shop_showOrder", { id: "../products" }));
  say("agent", `asks for ../products and reads:\n           ${outside}`);
  assert.match(outside, /^VALIDATION_ERROR/);
  await agent.close();
  await partner.close();
}

const start = performance.now();
const shop = await startShop();
try {
  console.log(`A shop on Express: a web client calls ${shop.url}/trpc, programs call ${shop.url}/api.`);
  await visitShop(shop.url);
  await visitPartner(shop.url);
} finally {
  await shop.close();
}
console.log(`\nDone in ${((performance.now() - start) / 1000).toFixed(1)} s.`);
