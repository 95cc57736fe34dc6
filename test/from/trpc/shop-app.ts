import { mcpTrpc } from "../../../src/builder/mcp-trpc.ts";
import type { ServableApp } from "../../../src/mcp/servable-app.ts";
import { createShop, shopContext } from "./shop.ts";
import { versions } from "./versions.ts";

/** Creates the app of a shop that is served to real clients. Its tool `ended` returns the names of subscriptions that were ended. */
export function createShopApp(version: string | undefined): ServableApp {
  const { router } = createShop(versions.find((each) => each.version === version)?.trpc);
  return mcpTrpc(
    router,
    {
      "order.show": "tool",
      "order.cancel": "tool",
      fail: "tool",
      strict: "tool",
      throws: "tool",
      broken: "tool",
      ended: "tool",
      deaf: "tool",
      ticks: "resource",
      observed: { tool: {} },
      orders: "resource",
    },
    { context: shopContext, onFault: () => {}, changeWindowMs: 0 },
  );
}
