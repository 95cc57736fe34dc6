// oxlint-disable typescript/no-deprecated -- the low-level server of the SDK 1.x is what is attached to
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import type { ServableApp } from "../../src/index.ts";
import { attach } from "../../src/sdk-v1/attach.ts";

/** An application of somebody else's that has a server of the SDK 1.x a session. Whoever started it closes it. */
export interface HttpSessions {
  readonly url: string;
  readonly sessions: ReadonlyMap<string, StreamableHTTPServerTransport>;
  close(): Promise<void>;
}

/** Starts one, and attaches an app to each session. */
export async function serveSessions(app: ServableApp): Promise<HttpSessions> {
  const sessions = new Map<string, StreamableHTTPServerTransport>();

  async function begin(): Promise<StreamableHTTPServerTransport> {
    const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, transport),
    });
    const server = new Server({ name: "v1", version: "1.0.0" }, { capabilities: {} });
    attach(app, server);
    // As authors do: after they attached, and in the place of whatever is there.
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a server of the SDK's has no other way
    server.onclose = () => void sessions.delete(transport.sessionId ?? "");
    await server.connect(transport);
    return transport;
  }

  const http = createServer((request, response) => {
    const id = request.headers["mcp-session-id"];
    const known = typeof id === "string" ? sessions.get(id) : undefined;
    const serving = known === undefined ? begin() : Promise.resolve(known);
    void serving.then((transport) => transport.handleRequest(request, response));
  });
  await once(http.listen(0, "127.0.0.1"), "listening");
  const address = http.address();
  if (address === null || typeof address === "string") throw new Error("Listening: it has no port");
  return {
    url: `http://127.0.0.1:${address.port}/mcp`,
    sessions,
    async close() {
      for (const transport of sessions.values()) await transport.close();
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}
