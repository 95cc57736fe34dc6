/**
 * What the server under test is compared with over HTTP: the same tools and the same resource, written by hand on the
 * SDK, one era at a time, which spares it finding out whose a request is: `npx tsx bench/http-hand-written.ts [--era ERA]`.
 *
 * Modern: `createMcpHandler()`, a `Server` a request. Legacy: a `Server` and a `NodeStreamableHTTPServerTransport` a session.
 */
import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import {
  localhostHostValidation,
  localhostOriginValidation,
  NodeStreamableHTTPServerTransport,
  toNodeHandler,
} from "@modelcontextprotocol/node";
import { createMcpHandler } from "@modelcontextprotocol/server";
import { HandWritten } from "./tools/hand-written-server.ts";
import { obeyDriver } from "./tools/obey-driver.ts";
import { readHttpOptions } from "./tools/read-http-options.ts";

type NodeHandler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

const { era, most } = readHttpOptions();
const written = new HandWritten();
const isHostFit = localhostHostValidation();
const isOriginFit = localhostOriginValidation();

function serveModern(): NodeHandler {
  const handler = createMcpHandler(() => written.createServer(), {
    legacy: "reject",
    ...(most === undefined ? {} : { maxSubscriptions: most }),
  });
  written.announce = () => handler.notify.resourceUpdated(written.uri);
  // Made for Node's own requests, whose types it words without those that are there and undefined.
  return toNodeHandler(handler) as NodeHandler;
}

function serveLegacy(): NodeHandler {
  const sessions = new Map<string, NodeStreamableHTTPServerTransport>();
  const watching = new Map<string, () => void>();
  written.announce = () => {
    for (const tell of watching.values()) tell();
  };
  const open = async (): Promise<NodeStreamableHTTPServerTransport> => {
    const id = randomUUID();
    const transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      onsessioninitialized: () => void sessions.set(id, transport),
      onsessionclosed: () => {
        sessions.delete(id);
        watching.delete(id);
      },
    });
    const server = written.createServer((isWatched) => {
      if (isWatched) watching.set(id, () => void server.sendResourceUpdated({ uri: written.uri }));
      else watching.delete(id);
    });
    await server.connect(transport);
    return transport;
  };
  return async (request, response) => {
    const id = request.headers["mcp-session-id"];
    const session = typeof id === "string" ? sessions.get(id) : undefined;
    await (session ?? (await open())).handleRequest(request, response);
  };
}

const serve = era === "modern" ? serveModern() : serveLegacy();
// A connection waits for its turn to be measured for longer than Node lets it be idle by itself.
const server = createServer({ keepAliveTimeout: 65_000 }, (request, response) => {
  if (isHostFit(request, response) && isOriginFit(request, response)) void serve(request, response);
});
server.listen(0, "127.0.0.1", () => {
  // A server on a port has an address of this form.
  const { port } = server.address() as AddressInfo;
  if (process.send === undefined) process.stderr.write(`http://127.0.0.1:${port}/mcp\n`);
  else obeyDriver(() => written.change(), { port });
});
process.stdin.resume().once("end", () => {
  server.close();
  server.closeAllConnections();
});
