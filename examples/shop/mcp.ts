/** The first door for agents: the procedures that a map names, with the middleware that the web client passes. */
import { mcpTrpc } from "surface-mcp/from/trpc";
import { bearer } from "surface-mcp/http";
import type { ShopRouter } from "./router.ts";
import { findUser } from "./users.ts";

export function createAgentApp(router: ShopRouter) {
  return mcpTrpc(
    router,
    {
      products: "resource",
      stock: "resource", // a subscription: clients are notified of each change
      "product.show": "tool",
      orders: "tool",
      "order.show": "tool",
      "order.place": "tool",
      "order.cancel": { tool: { confirm: true } }, // the customer is asked first
      // product.restock is left out: no agent can reach it
    },
    { name: "shop", context: (caller) => ({ user: findUser("id", caller.id) }) },
  );
}

const resource = "http://localhost/mcp";

/** Lets agents sign in with the token of their user. */
export const signIn = bearer({
  resource,
  async verify(token) {
    const user = findUser("token", token);
    return user && { id: user.id, scopes: ["shop:read", "shop:write"], resource };
  },
});
