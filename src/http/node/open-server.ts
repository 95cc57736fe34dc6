import { once } from "node:events";
import { createServer, STATUS_CODES, type Server } from "node:http";
import { Server as NetServer, type AddressInfo, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { codeOf, SurfaceError } from "../../errors.ts";
import type { Budget } from "../../spine/budget.ts";
import { systemClock } from "../../surface/system-clock.ts";
import { networkOf } from "../admission.ts";
import type { HttpBudgets } from "../budgets.ts";
import type { HttpServe } from "../message.ts";
import type { ResolvedServer } from "../resolve-options.ts";
import { Connections } from "./connections.ts";
import { toNodeListener, type NodeListener } from "./node-request.ts";

const statuses: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/** Answers what is no HTTP, or was too slow, and closes the connection. Nothing of what came is said again. */
function refuseConnection(error: Error, socket: Duplex, connections: Connections): void {
  const code = codeOf(error);
  if (code === "ERR_HTTP_REQUEST_TIMEOUT" && connections.find(socket)?.late() === true) return;
  // The client would take the refusal for the answer to a request that was answered already, or is being answered.
  if (!socket.writable || code === "ECONNRESET" || connections.find(socket)?.isAnswering === true) {
    // Answers of this turn go out first.
    return void setImmediate(() => socket.destroy());
  }
  const status = statuses[code] ?? 400;
  const text = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`;
  socket.end(text, () => socket.destroy());
}

/** A server that listens. Whoever opened it closes it. */
export interface OpenServer {
  readonly port: number;
  /** Takes no new connections, and closes those that nothing is answered on. */
  leave(): void;
  /** Resolves once every answer that was given is with the system, or its connection is closed. */
  sent(): Promise<void>;
  /** Closes every connection. Resolves when all are closed. Callable twice. */
  close(): Promise<void>;
}

/** Clients that know no other hint leave a connection for some seconds: one that we close first may be in use by then. */
const keepAliveTimeout = 65_000;
const longestCheckingMs = 1000;

function createListener(listener: NodeListener, connections: Connections, options: ResolvedServer): Server {
  const { headersTimeoutMs: headersTimeout, requestTimeoutMs: requestTimeout } = options;
  const connectionsCheckingInterval = Math.max(10, Math.min(longestCheckingMs, Math.floor(headersTimeout / 5)));
  const times = { headersTimeout, requestTimeout, connectionsCheckingInterval, keepAliveTimeout };
  // What is wrong with the head is said where everything else about it is.
  const server = createServer({ ...times, requireHostHeader: false });
  server.on("request", listener);
  // Whoever waits to be told to go on is told so once somebody wants the body.
  server.on("checkContinue", listener);
  server.on("clientError", (error, socket) => refuseConnection(error, socket, connections));
  return server;
}

async function bind(server: Server, { host, port }: ResolvedServer): Promise<number> {
  const where = `Serving over HTTP at "${host}:${port}"`;
  server.listen({ host, port });
  try {
    await once(server, "listening");
  } catch (cause) {
    const code = codeOf(cause);
    if (code === "EADDRINUSE")
      throw new SurfaceError("SOCKET_IN_USE", `${where}: another process listens there`, { cause });
    throw new SurfaceError("UNAVAILABLE", `${where}: the system refused it with "${code}"`, { cause });
  }
  // A connection that could not be accepted, for want of file descriptors, is tried again: no reason to end.
  server.on("error", () => {});
  // A server on a port has an address of this form.
  return (server.address() as AddressInfo).port;
}

/**
 * Finds the connections that nothing has come on yet: Node takes them for those that a request is coming on. Bun counts no
 * bytes, so a request counts as well.
 */
function createUntouched(server: Server, connections: Connections): () => readonly Socket[] {
  const open = new Set<Socket>();
  server.on("connection", (socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
  });
  return () => [...open].filter((socket) => socket.bytesRead === 0 && connections.find(socket) === undefined);
}

/**
 * Bounds the connections of a server. A new connection replaces one on which nothing is being answered: the oldest without a
 * request, else the one whose last request is the oldest.
 */
function boundConnections(server: Server, connections: Connections, budget: Budget): void {
  server.prependListener("connection", (socket: Socket) => {
    const { remoteAddress } = socket;
    const place = budget.open(remoteAddress === undefined ? undefined : networkOf(remoteAddress), (_excess, what) => {
      if (what === "spare" || connections.find(socket)?.isBusy === true) return;
      socket.destroy();
      place.release();
    });
    place.eviction = "first";
    if (place.take(1) !== undefined) return void socket.destroy();
    connections.bound(socket, place);
    socket.once("close", () => place.release());
  });
}

/**
 * Stops listening, and leaves every connection open. `http.Server.close()` of Node also drops idle connections, and treats one as
 * idle while the client still reads its response: so only the listener is closed. Other runtimes have servers of `node:http`
 * that extend no `net.Server`, and are closed by their own method.
 */
export function stopListening(server: { close(): unknown }): void {
  if (server instanceof NetServer) NetServer.prototype.close.call(server);
  else server.close();
}

/**
 * Listens for HTTP.
 *
 * @throws SurfaceError `SOCKET_IN_USE` where another process listens on the port, `UNAVAILABLE` for whatever the system
 * refuses.
 */
export async function openServer(
  serve: HttpServe,
  options: ResolvedServer,
  { unreadBytes: unread, connections: places }: HttpBudgets,
): Promise<OpenServer> {
  const connections = new Connections({ clock: systemClock, stallMs: options.stallMs, unread, delaysAnswers: true });
  const listener = toNodeListener(serve, connections);
  const server = createListener(listener, connections, options);
  boundConnections(server, connections, places);
  const untouched = createUntouched(server, connections);
  const port = await bind(server, options);
  const closed = once(server, "close");
  return {
    port,
    leave: () => {
      connections.isLeaving = true;
      stopListening(server);
      for (const socket of untouched()) socket.destroy();
      void connections.sent().then(() => server.closeIdleConnections());
    },
    sent: () => connections.sent(),
    close: async () => {
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
