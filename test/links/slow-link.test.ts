import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { listenUnixSocket, unixSocket } from "../../src/links/unix-socket.ts";
import { listenWebSocket, webSocket } from "../../src/links/web-socket.ts";
import { defineSurface } from "../../src/surface/define-surface.ts";
import { implementSurface } from "../../src/surface/implement-surface.ts";
import { procedure } from "../../src/surface/define-members.ts";
import { newFolder } from "./unix/support.ts";

const surface = defineSurface("slow", {
  big: procedure({ output: z.string() }),
  take: procedure({ input: z.object({ text: z.string() }), output: z.number() }),
});
const length = 2_500_000;
const text = "x".repeat(length);
const heartbeatMs = 200;

/** Hands on a little at a time. */
function trickle(from: Socket, to: Socket): void {
  from.on("data", (chunk) => {
    from.pause();
    to.write(chunk);
    setTimeout(() => from.resume(), chunk.length / 2000);
  });
  from.on("error", () => {});
  from.on("close", () => to.destroy());
}

/** A proxy through which large messages take many heartbeats, either way. */
async function slowly(target: string | number, at: string | number) {
  const proxy = createServer((near) => {
    const far = typeof target === "string" ? connect(target) : connect(target, "127.0.0.1");
    trickle(near, far);
    trickle(far, near);
  });
  if (typeof at === "string") proxy.listen(at);
  else proxy.listen(at, "127.0.0.1");
  await once(proxy, "listening");
  return proxy;
}

async function openUnix() {
  const live = implementSurface(surface, { big: () => text, take: (input) => input.text.length });
  const path = `${await newFolder()}/s`;
  await listenUnixSocket(live, path, { heartbeatMs });
  const proxy = await slowly(path, `${path}2`);
  return { live, proxy, link: unixSocket(`${path}2`, { heartbeatMs }) };
}

async function openWeb() {
  const live = implementSurface(surface, { big: () => text, take: (input) => input.text.length });
  const { url } = await listenWebSocket(live, { port: 0, heartbeatMs });
  const proxy = await slowly(Number(new URL(url).port), 0);
  const address = proxy.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const to = new URL(url);
  to.port = String(port);
  return { live, proxy, link: webSocket(to.href, { heartbeatMs }) };
}

describe("a link over which large messages take many heartbeats", () => {
  it.each([
    ["a unix socket", openUnix],
    ["a web socket", openWeb],
  ])("is not given up while they come, in either direction, over %s", async (_what, open) => {
    const { live, proxy, link } = await open();
    const connection = await link.connect(surface);
    const { client } = connection;
    expect((await client.big.call()).length).toBe(length);
    expect(await client.take.call({ text })).toBe(length);
    await connection.close();
    await live.close();
    proxy.close();
  });
});
