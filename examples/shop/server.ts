import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createExpressMiddleware } from "@trpc/server/adapters/express";
import express from "express";
import { httpHandler } from "surface-mcp/http";
import { createAgentApp, signIn } from "./mcp.ts";
import { createRoutes, userOf } from "./rest.ts";
import { createRouter } from "./router.ts";
import { Store } from "./store.ts";

/** Serves the shop on this machine: to its web client at `/trpc`, to agents at `/mcp`, and by REST at `/api`. */
export async function startShop() {
  const router = createRouter(new Store());
  const agents = httpHandler(createAgentApp(router), { auth: signIn });
  const app = express();
  app.use("/trpc", createExpressMiddleware({ router, createContext: ({ req }) => ({ user: userOf(req.headers) }) }));
  app.use("/api", createRoutes(router));
  app.all("/mcp", agents.node);
  const server = app.listen(0, "127.0.0.1");
  await once(server, "listening");
  // A server that listens on a port has an address of this form.
  const { port } = server.address() as AddressInfo;
  const close = async (): Promise<void> => {
    server.close();
    await agents.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${port}`, close };
}
