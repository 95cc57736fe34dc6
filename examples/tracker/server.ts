import { once } from "node:events";
import type { AddressInfo } from "node:net";
import express from "express";
import { httpHandler } from "surface-mcp/http";
import { type Database, openDatabase } from "./database.ts";
import { createAgentApp, signIn } from "./mcp.ts";
import { createRoutes } from "./rest.ts";

export interface TrackerServer {
  readonly url: string;
  readonly db: Database;
  close(): Promise<void>;
}

/** Opens the database and serves it on this machine: to people at `/api`, to agents at `/mcp`. */
export async function startServer(options: {
  databaseUrl?: string | undefined;
  port?: number;
}): Promise<TrackerServer> {
  const db = await openDatabase(options.databaseUrl);
  const agents = httpHandler(createAgentApp(db), { auth: signIn(db) });
  const app = express();
  app.use("/api", createRoutes(db));
  app.all("/mcp", agents.node);
  const server = app.listen(options.port ?? 0, "127.0.0.1");
  const close = async (): Promise<void> => {
    server.close();
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
  return { url: `http://127.0.0.1:${port}`, db, close };
}
