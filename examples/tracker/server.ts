import { once } from "node:events";
import type { AddressInfo } from "node:net";
import express from "express";
import { redactSecrets } from "surface-mcp";
import { httpHandler, inspectorHandler, type InspectorHandler } from "surface-mcp/http";
import { type Database, openDatabase } from "./database.ts";
import { createAgentApp, signIn } from "./mcp.ts";
import { createRoutes } from "./rest.ts";

export interface TrackerServer {
  readonly url: string;
  readonly db: Database;
  /** Opens the live page, and returns the link to it. */
  inspect(): Promise<string>;
  close(): Promise<void>;
}

/** Opens the database and serves it on this machine: to people at `/api`, to agents at `/mcp`. */
export async function startServer(options: {
  databaseUrl?: string | undefined;
  port?: number;
}): Promise<TrackerServer> {
  const db = await openDatabase(options.databaseUrl);
  const agentApp = createAgentApp(db);
  const agents = httpHandler(agentApp, { auth: signIn(db) });
  const app = express();
  app.use("/api", createRoutes(db));
  app.all("/mcp", agents.node);
  const server = app.listen(options.port ?? 0, "127.0.0.1");
  let page: InspectorHandler | undefined;
  const close = async (): Promise<void> => {
    server.close();
    await page?.close();
    await agents.close();
    server.closeAllConnections();
    await db.close();
  };
  try {
    await once(server, "listening");
  } catch (error) {
    await close();
    throw error;
  }
  // A server that listens on a port has an address of this form.
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  const inspect = async (): Promise<string> => {
    page = await inspectorHandler(agentApp, { url: `${url}/inspect/`, values: redactSecrets(), approve: true });
    app.all("/inspect/{*path}", page.node);
    return page.link();
  };
  return { url, db, inspect, close };
}
