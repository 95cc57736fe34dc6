import { once } from "node:events";
import { connect } from "node:net";
import { WebSocket } from "ws";
import type { Attack, Finding, Scenario } from "../scenario.ts";
import { socketToken } from "../targets.ts";

const silent = 300;
const honest = 20;
const patienceMs = 30_000;

/** Opens a connection that never finishes its handshake. */
async function stayOut(url: URL, index: number): Promise<ReturnType<typeof connect>> {
  const socket = connect(Number(url.port), url.hostname);
  socket.on("error", () => {});
  await once(socket, "connect").catch(() => undefined);
  const starts = [
    "",
    "GET / HT",
    "GET / HTTP/1.1\r\nhost: localhost\r\n",
    `GET / HTTP/1.1\r\nhost: ${url.host}\r\nupgrade: websocket\r\n`,
  ];
  socket.write(starts[index % starts.length] ?? "");
  return socket;
}

/** Opens a connection that finished its handshake without a word of the protocol after it. */
async function connects(url: string): Promise<boolean> {
  const socket = new WebSocket(url, {
    headers: { authorization: `Bearer ${socketToken}` },
    handshakeTimeout: patienceMs,
  });
  try {
    await once(socket, "open");
    return true;
  } catch {
    return false;
  } finally {
    socket.terminate();
  }
}

async function run({ target }: Attack): Promise<Finding> {
  const url = new URL(target.socketUrl);
  const sockets = await Promise.all(Array.from({ length: silent }, (_, index) => stayOut(url, index)));
  const entered = await Promise.all(Array.from({ length: honest }, () => connects(target.socketUrl)));
  for (const socket of sockets) socket.destroy();
  const refused = entered.filter((isIn) => !isIn).length;
  const breaks = refused === 0 ? [] : [`${refused} of ${honest} clients with the token were shut out`];
  return { tried: `${silent} silent connections, ${honest} clients with the token`, breaks };
}

/** Connections that say nothing must not shut out those who have the token. */
export const silentSockets: Scenario = { name: "silent sockets", run };
