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
import type { ResolvedServer } from "../options.ts";
import { Connections } from "./connections.ts";
import { createNodeListener, type NodeListener } from "./node-request.ts";

const statuses: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/** Answers input that is no HTTP or was too slow, without quoting it, and closes the connection. */
function refuseConnection(error: Error, socket: Duplex, connections: Connections): void {
  const code = codeOf(error);
  if (code === "ERR_HTTP_REQUEST_TIMEOUT" && connections.find(socket)?.late() === true) return;
  // The client would take the refusal for the answer to an earlier request.
  if (!socket.writable || code === "ECONNRESET" || connections.find(socket)?.isAnswering === true) {
    // Answers of this turn go out first.
    return void setImmediate(() => socket.destroy());
  }
  const status = statuses[code] ?? 400;
  const text = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`;
  socket.end(text, () => socket.destroy());
}

/** A listening server. Call `close()` when done. */
export interface OpenServer {
  readonly port: number;
  /** Accepts no new connections, and closes those without an answer under way. */
  leave(): void;
  /** Resolves once the system has every answer, or its connection is closed. */
  sent(): Promise<void>;
  /** Closes every connection. Resolves when all are closed. Callable twice. */
  close(): Promise<void>;
}

/** Milliseconds. Longer than most clients keep an idle connection: one that the server closes first may just be in use. */
const keepAliveTimeout = 65_000;
const maxCheckingMs = 1000;

/** Address and times of a listener. */
export interface ListenOptions extends Pick<
  ResolvedServer,
  "host" | "port" | "headersTimeoutMs" | "requestTimeoutMs" | "stallMs"
> {
  /** The option that sets the port, for errors. @default "port" */
  readonly portOption?: string;
}

function createListener(listener: NodeListener, connections: Connections, options: ListenOptions): Server {
  const { headersTimeoutMs: headersTimeout, requestTimeoutMs: requestTimeout } = options;
  const connectionsCheckingInterval = Math.max(10, Math.min(maxCheckingMs, Math.floor(headersTimeout / 5)));
  const times = { headersTimeout, requestTimeout, connectionsCheckingInterval, keepAliveTimeout };
  // The pipeline checks the Host, as it checks the rest of the head.
  const server = createServer({ ...times, requireHostHeader: false });
  server.on("request", listener);
  // Sent "100 Continue" when the body is read.
  server.on("checkContinue", listener);
  server.on("clientError", (error, socket) => refuseConnection(error, socket, connections));
  return server;
}

async function bind(server: Server, { host, port, portOption = "port" }: ListenOptions): Promise<number> {
  const doing = `Cannot serve over HTTP at "${host}:${port}"`;
  server.listen({ host, port });
  try {
    await once(server, "listening");
  } catch (cause) {
    const code = codeOf(cause);
    if (code === "EADDRINUSE")
      throw new SurfaceError(
        "SOCKET_IN_USE",
        `${doing}: another process listens there; choose another "${portOption}"`,
        {
          cause,
        },
      );
    throw new SurfaceError("UNAVAILABLE", `${doing}: the system refused it with "${code}"`, { cause });
  }
  // Node retries a connection that it could not accept, for example without file descriptors.
  server.on("error", () => {});
  // A server on a port has an address of this form.
  return (server.address() as AddressInfo).port;
}

/**
 * Returns a function that finds connections without input, which Node takes for connections with a request. Bun counts no bytes, so a
 * request counts as well.
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
 * Bounds the connections of a server. A new connection replaces one without a request in progress: the oldest that never had one, else
 * the one whose last request is the oldest.
 */
function boundConnections(server: Server, connections: Connections, budget: Budget): void {
  server.prependListener("connection", (socket: Socket) => {
    const { remoteAddress } = socket;
    const share = budget.open(remoteAddress === undefined ? undefined : networkOf(remoteAddress), (_excess, what) => {
      if (what === "spare" || connections.find(socket)?.isBusy === true) return;
      socket.destroy();
      share.release();
    });
    share.eviction = "first";
    if (share.take(1) !== undefined) return void socket.destroy();
    connections.bound(socket, share);
    socket.once("close", () => share.release());
  });
}

/**
 * Closes the listener only. `http.Server.close()` of Node also drops idle connections, and treats one as idle while the client still
 * reads its response. The servers of other runtimes do not extend `net.Server`, and are closed by their own method.
 */
export function stopListening(server: { close(): unknown }): void {
  if (server instanceof NetServer) NetServer.prototype.close.call(server);
  else server.close();
}

/**
 * Listens for HTTP.
 *
 * @throws SurfaceError `SOCKET_IN_USE` if another process listens on the port, `UNAVAILABLE` if the system refuses the port.
 */
export async function openServer(
  serve: HttpServe,
  options: ListenOptions,
  { unreadBytes: unread, connections: bound }: Pick<HttpBudgets, "unreadBytes" | "connections">,
): Promise<OpenServer> {
  const connections = new Connections({ clock: systemClock, stallMs: options.stallMs, unread, delaysAnswers: true });
  const listener = createNodeListener(serve, connections);
  const server = createListener(listener, connections, options);
  boundConnections(server, connections, bound);
  const untouched = createUntouched(server, connections);
  const port = await bind(server, options);
  // once() rejects at the first error, such as that of a connection which the system refuses.
  const closed = new Promise((resolve) => server.once("close", resolve));
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
