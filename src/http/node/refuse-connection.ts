import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { codeOf } from "../../links/system-error.ts";
import type { Connections } from "./connections.ts";

const statuses: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/** Answers what is no HTTP, or was too slow, and closes the connection. Nothing of what came is said again. */
export function refuseConnection(error: Error, socket: Duplex, connections: Connections): void {
  const code = codeOf(error);
  if (code === "ERR_HTTP_REQUEST_TIMEOUT" && connections.late(socket)) return;
  // The client would take the refusal for the answer to a request that was answered already, or is being answered.
  if (!socket.writable || code === "ECONNRESET" || connections.isAnswering(socket)) return void socket.destroy();
  const status = statuses[code] ?? 400;
  const text = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`;
  socket.end(text, () => socket.destroy());
}
