import type { IncomingMessage } from "node:http";
import { WebSocket } from "ws";
import { SurfaceError } from "../../errors.ts";
import { followSignal, createAbortedError } from "../../spine/signals.ts";
import type { Surface } from "../../surface/define-surface.ts";
import type { Spec } from "../../surface/member.ts";
import type { Connection } from "../link.ts";
import { openWireClient, type WireClientOptions } from "../wire/open-wire-client.ts";
import { maxFrameBytes } from "../transport/base-transport.ts";
import { createWebSocketTransport } from "./web-socket-transport.ts";

/** Options of {@link openWebClient}. */
export interface WebClientOptions extends Pick<WireClientOptions, "signal" | "heartbeatMs"> {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

const connectMs = 5000;

/** Waits until the socket is open. */
function opened(socket: WebSocket, { url, signal }: WebClientOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    let leave = (): void => {};
    const fail = (why: string, cause?: unknown): void => {
      leave();
      reject(new SurfaceError("UNAVAILABLE", `Cannot connect to "${url}": ${why}`, { cause }));
    };
    socket.once("open", () => {
      leave();
      resolve();
    });
    socket.once("error", (cause) => fail("no listener of this package answers there", cause));
    socket.once("unexpected-response", (_request, response: IncomingMessage) => {
      fail(`it was refused with status ${response.statusCode}`);
      socket.terminate();
    });
    if (signal === undefined) return;
    leave = followSignal(signal, () => {
      reject(createAbortedError(signal, `Cannot connect to "${url}"`));
      socket.terminate();
    });
  });
}

/** Connects to a listener for web sockets. @throws SurfaceError as `webSocket()`. */
export async function openWebClient<TSpec extends Spec>(
  surface: Surface<TSpec>,
  options: WebClientOptions,
): Promise<Connection<TSpec>> {
  const { url, headers } = options;
  const socket = new WebSocket(url, {
    headers: { ...headers },
    maxPayload: maxFrameBytes,
    perMessageDeflate: false,
    handshakeTimeout: connectMs,
  });
  // Created before the socket is open, so that no early message or error is missed.
  const transport = createWebSocketTransport(socket, false);
  await opened(socket, options);
  return openWireClient(surface, transport, options);
}
