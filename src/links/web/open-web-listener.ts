import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, STATUS_CODES } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { WebSocketServer } from "ws";
import { SurfaceError } from "../../errors.ts";
import type { Share } from "../../spine/budget.ts";
import type { Scope } from "../../spine/scope.ts";
import type { Served } from "../../surface/implement-surfaces.ts";
import { readLinkUse } from "../link-limits.ts";
import type { ListenerStats, WebListening } from "../listening.ts";
import { type PeerOptions, Peers } from "../serve-peers.ts";
import { startListening } from "../start-listening.ts";
import { codeOf } from "../system-error.ts";
import { maxFrameBytes } from "../transport/frame-cutter.ts";
import { judgeUpgrade, type UpgradeRules } from "./judge-upgrade.ts";
import { createWebSocketTransport } from "./web-socket-transport.ts";

/** What a listener for web sockets is made of. */
export interface WebListenerSetting extends PeerOptions {
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
    // From here on it has one of the places of peers.
    places.get(socket)?.release();
    opener.handleUpgrade(request, socket, head, (opened) =>
      peers.add(createWebSocketTransport(opened, true, request.socket)),
    );
  });
  return server;
}

async function bind(server: Server, { host, port }: WebListenerSetting): Promise<number> {
  server.listen({ host, port });
  try {
    await once(server, "listening");
  } catch (cause) {
    if (codeOf(cause) !== "EADDRINUSE") throw cause;
    throw new SurfaceError("SOCKET_IN_USE", `Listening on "${host}:${port}": another process listens there`, { cause });
  }
  // A server on a port has an address of this form.
  return (server.address() as AddressInfo).port;
}

async function open(setting: WebListenerSetting, scope: Scope): Promise<Pick<WebListening, "port" | "url" | "stats">> {
  const { live, host, rules } = setting;
  const peers = new Peers(live, setting);
  const server = accept(peers, rules);
  scope.add(async () => {
    const isClosed = server.listening ? once(server, "close") : undefined;
    server.close();
    server.closeAllConnections();
    await peers.close();
    await isClosed;
  });
  const port = await bind(server, setting);
  // A peer that could not be accepted, for want of file descriptors, tries again: no reason to end.
  server.on("error", () => {});
  const name = host.includes(":") ? `[${host}]` : host;
  const stats = (): ListenerStats => ({ limits: readLinkUse(peers.budgets) });
  return { port, url: `ws://${name}:${port}${rules.path}`, stats };
}

/**
 * Listens for web sockets.
 *
 * @throws SurfaceError, as `listenWebSocket()` says.
 */
export function openWebListener(setting: WebListenerSetting): Promise<WebListening> {
  const { live, host, port } = setting;
  return startListening({ live, where: `${host}:${port}`, open: (scope) => open(setting, scope) });
}
