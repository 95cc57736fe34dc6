import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createStreamTransport } from "../../../src/links/transport/stream-transport.ts";
import type { WireTransport } from "../../../src/links/transport/base-transport.ts";

/** A socket of each end of one connection: real ones. */
export async function openPair(): Promise<{ near: Socket; far: Socket }> {
  const folder = mkdtempSync(join(tmpdir(), "surface-mcp-pair-"));
  const server = createServer();
  server.listen(join(folder, "s"));
  await once(server, "listening");
  const accepted = once(server, "connection");
  const far = connect(join(folder, "s"));
  const [near] = await accepted;
  server.close();
  rmSync(folder, { recursive: true, force: true });
  for (const socket of [near, far]) socket.on("error", () => {});
  return { near, far };
}

/** A transport, and all that its reader has told. */
export interface Heard {
  readonly transport: WireTransport;
  readonly messages: object[];
  readonly errors: Error[];
  readonly drains: { readonly count: number };
  readonly closed: Promise<void>;
}

/** Listens to a transport over a socket. */
export function hear(socket: Socket): Heard {
  const transport = createStreamTransport({ input: socket, output: socket, destroy: () => socket.destroy() });
  const messages: object[] = [];
  const errors: Error[] = [];
  const drains = { count: 0 };
  const closed = new Promise<void>((resolve) =>
    transport.listen({
      message: (message) => void messages.push(message),
      drained: () => void (drains.count += 1),
      ended(cause) {
        if (cause !== undefined) errors.push(cause);
        resolve();
      },
    }),
  );
  return { transport, messages, errors, drains, closed };
}

/** A message of that many bytes in all, as text. */
export function textOf(bytes: number): string {
  const empty = JSON.stringify({ jsonrpc: "2.0", method: "" });
  return JSON.stringify({ jsonrpc: "2.0", method: "x".repeat(bytes - empty.length) });
}

/** A text behind its header. */
export function framed(text: string): string {
  return `Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;
}

/** Waits until `isSo`, however long that takes within a test's own time. */
export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 5));
}
