import { createHash, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, STATUS_CODES, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { WebSocketServer } from "ws";
import { codeOf, SurfaceError } from "../../errors.ts";
import type { Share } from "../../spine/budget.ts";
import type { Scope } from "../../spine/scope.ts";
import type { Served } from "../../surface/implement-surface.ts";
import { Peers, startListening, type PeerOptions, type WebListening } from "../listening.ts";
import { maxFrameBytes } from "../transport/base-transport.ts";
import { createWebSocketTransport } from "./web-socket-transport.ts";

interface UpgradeRules {
  readonly path: string;
  /** Allowed host names, in lower case, without a port. */
  readonly hosts: ReadonlySet<string>;
  /** Origins of web pages that may connect. */
  readonly origins: ReadonlySet<string>;
  readonly token: string | undefined;
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

function nameOf(host: string | undefined): string {
  return /^(\[[0-9a-f:.]+\]|[^:[\]]+)(?::[0-9]+)?$/i.exec(host ?? "")?.[1]?.toLowerCase() ?? "";
}

function isAuthorised(header: string | undefined, token: string): boolean {
  // Digests have one length, so the time shows neither the length nor where the texts differ.
  return timingSafeEqual(digest(header ?? ""), digest(`Bearer ${token}`));
}

/** Returns the status that refuses a request. Checks the host and the origin: web pages connect everywhere, also by names of their own. */
function judgeUpgrade(request: IncomingMessage, rules: UpgradeRules): 401 | 403 | 404 | undefined {
  const { host, origin, authorization } = request.headers;
  if (!rules.hosts.has(nameOf(host))) return 403;
  if (origin !== undefined && !rules.origins.has(origin)) return 403;
  if (request.url?.split("?")[0] !== rules.path) return 404;
  if (rules.token !== undefined && !isAuthorised(authorization, rules.token)) return 401;
  return undefined;
}

/** Options of {@link openWebListener}. */
export interface WebListenerOptions extends PeerOptions {
  readonly live: Served;
  readonly port: number;
  readonly host: string;
  readonly rules: UpgradeRules;
}

const openingMs = 5000;
const checkingMs = 1000;

function refuse(socket: Duplex, status: number): void {
  socket.on("error", () => {});
  const text = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`;
  socket.end(text, () => socket.destroy());
}

function accept(peers: Peers, rules: UpgradeRules): Server {
  const opener = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: maxFrameBytes,
    perMessageDeflate: false,
  });
  const times = { headersTimeout: openingMs, requestTimeout: openingMs, connectionsCheckingInterval: checkingMs };
  const server = createServer(times, (_request, response) => {
    response.writeHead(426, { Connection: "close", Upgrade: "websocket" }).end();
  });
  const places = new WeakMap<Duplex, Share>();
  server.on("connection", (socket: Socket) => {
    const place = peers.budgets.handshakes.open(undefined, (_excess, what) => {
      if (what === "spare") return;
      socket.destroy();
      place.release();
    });
    place.add(1);
    places.set(socket, place);
    socket.once("close", () => place.release());
  });
  server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const status = judgeUpgrade(request, rules);
    if (status !== undefined) return refuse(socket, status);
    // It counts as a peer from now on.
    places.get(socket)?.release();
    opener.handleUpgrade(request, socket, head, (opened) =>
      peers.add(createWebSocketTransport(opened, true, request.socket)),
    );
  });
  return server;
}

async function bind(server: Server, { host, port }: WebListenerOptions): Promise<number> {
  server.listen({ host, port });
  try {
    await once(server, "listening");
  } catch (cause) {
    if (codeOf(cause) !== "EADDRINUSE") throw cause;
    throw new SurfaceError(
      "SOCKET_IN_USE",
      `Cannot listen on "${host}:${port}": another process already listens there`,
      { cause },
    );
  }
  // A server on a port has this type of address.
  return (server.address() as AddressInfo).port;
}

async function open(options: WebListenerOptions, scope: Scope): Promise<Pick<WebListening, "port" | "url" | "stats">> {
  const { live, host, rules } = options;
  const peers = new Peers(live, options);
  const server = accept(peers, rules);
  scope.add(() => {
    const closing = peers.closeWith(server);
    server.closeAllConnections();
    return closing;
  });
  const port = await bind(server, options);
  // Without file descriptors a connection cannot be accepted. Its peer connects again.
  server.on("error", () => {});
  const name = host.includes(":") ? `[${host}]` : host;
  return { port, url: `ws://${name}:${port}${rules.path}`, stats: () => peers.stats() };
}

/** Listens for web sockets. @throws SurfaceError as `listenWebSocket()`. */
export function openWebListener(options: WebListenerOptions): Promise<WebListening> {
  const { live, host, port } = options;
  return startListening({ live, where: `${host}:${port}`, open: (scope) => open(options, scope) });
}
