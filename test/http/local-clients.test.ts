import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type RequestListener, type Server } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import express from "express";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { HttpHandlerOptions } from "../../src/http/options.ts";
import { bearer } from "../../src/http/auth/http-auth.ts";
import { httpHandler, type HttpHandler } from "../../src/http/http.ts";
import { isLoopbackAddress } from "../../src/http/addresses.ts";
import { createDemo } from "./support/demo-app.ts";
import { modernPost } from "./support/modern-post.ts";

const toRequest = (): Request =>
  new Request("http://localhost/mcp", modernPost("tools/call", { name: "add", arguments: { by: 1 } }));
const refused = "Invalid request: without authentication this server accepts only clients on its own machine";
const hint = 'pass "auth", or { allowAnonymous: true } if everyone may use the exposed tools';
/** An address of this machine that is not loopback: a connection to it comes from it, like one from the network. */
const networkAddress = Object.values(networkInterfaces())
  .flat()
  .find((each) => each?.internal === false && each.family === "IPv4")?.address;

const closers: (() => unknown)[] = [];
let warned: unknown[][] = [];

beforeEach(() => {
  const spy = vi.spyOn(console, "error").mockReturnValue();
  warned = spy.mock.calls;
});

afterEach(async () => {
  vi.restoreAllMocks();
  for (const close of closers.splice(0).toReversed()) await close();
});

function handle(options?: HttpHandlerOptions): HttpHandler {
  const handler = httpHandler(createDemo().app, options);
  closers.push(() => handler.close());
  return handler;
}

async function listening(server: Server): Promise<Server> {
  if (!server.listening) await once(server, "listening");
  closers.push(() => new Promise((resolve) => server.close(resolve)));
  return server;
}

/** Sends the call with a loopback `Host`, whatever the address, and returns the whole answer. */
async function send(to: { readonly host: string; readonly port: number } | { readonly path: string }): Promise<string> {
  const socket = connect(to);
  closers.push(() => socket.destroy());
  const request = toRequest();
  const body = await request.text();
  const own = { host: "localhost", "content-length": String(body.length), connection: "close" };
  const lines = [...request.headers, ...Object.entries(own)].map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`POST /mcp HTTP/1.1\r\n${lines.join("")}\r\n${body}`);
  return text(socket);
}

/** Serves on all interfaces, as `app.listen(port)` of Express does, and sends the call by the address. */
async function sendTo(host: string, handler: HttpHandler): Promise<string> {
  const app = express();
  app.all("/mcp", handler.node);
  const server = await listening(app.listen(0));
  // A server on a port has an address of this form.
  return send({ host, port: (server.address() as AddressInfo).port });
}

describe.skipIf(networkAddress === undefined)(
  `a client of handler.node from the network (${networkAddress ?? "skipped: this machine has loopback addresses only"})`,
  () => {
    const host = String(networkAddress);

    it("is refused without auth for any Host, with one warning", async () => {
      const handler = handle();
      const answers = [await sendTo(host, handler), await sendTo(host, handler)];
      for (const answer of answers) {
        expect(answer).toMatch(/^HTTP\/1\.1 403 /);
        expect(answer).toContain(refused);
      }
      expect(handler.stats().stages.backend).toBe(0);
      expect(warned).toEqual([
        [
          expect.stringMatching(
            /^\[surface-mcp\] warning: Cannot serve a client at (?:::ffff:)?[\d.]+ without "auth"; /,
          ),
        ],
      ]);
      expect(String(warned[0])).toContain(hint);
    });

    it("is served where the author allows anonymous clients, without a warning", async () => {
      expect(await sendTo(host, handle({ allowAnonymous: true }))).toMatch(/^HTTP\/1\.1 200 /);
      expect(warned).toEqual([]);
    });

    it("is served with auth if it has a token", async () => {
      const resource = "https://demo.example/mcp";
      const auth = bearer({ resource, verify: async () => undefined });
      expect(await sendTo(host, handle({ auth }))).toMatch(/^HTTP\/1\.1 401 /);
    });
  },
);

describe("a client of handler.node whose address", () => {
  it("is loopback is served without auth, also on a server that listens on all interfaces", async () => {
    expect(await sendTo("127.0.0.1", handle())).toMatch(/^HTTP\/1\.1 200 /);
    expect(warned).toEqual([]);
  });

  it.skipIf(process.platform === "win32")("is unknown, as on a Unix socket, is refused without auth", async () => {
    const directory = mkdtempSync(join(tmpdir(), "surface-"));
    closers.push(() => rmSync(directory, { recursive: true }));
    const sendBy = async (name: string, node: RequestListener): Promise<string> => {
      const path = join(directory, name);
      await listening(createServer(node).listen(path));
      return send({ path });
    };
    expect(await sendBy("a", handle().node)).toMatch(/^HTTP\/1\.1 403 /);
    expect(String(warned)).toContain("a client at an unknown address");
    expect(await sendBy("b", handle({ allowAnonymous: true }).node)).toMatch(/^HTTP\/1\.1 200 /);
  });
});

describe("a web request, which names no address", () => {
  it("is served without auth, and the first one logs a warning", async () => {
    const handler = handle();
    for (let times = 0; times < 2; times += 1) {
      expect((await handler(toRequest())).status).toBe(200);
    }
    const what = 'Serving web requests, whose address is unknown, without "auth"';
    expect(warned).toEqual([[`[surface-mcp] warning: ${what}; ${hint}`]]);
  });

  it("logs nothing where the author allows anonymous clients", async () => {
    await handle({ allowAnonymous: true }).fetch(toRequest());
    expect(warned).toEqual([]);
  });
});

describe("a loopback address", () => {
  it.each(["127.0.0.1", "127.8.9.10", "::1", "::ffff:127.0.0.1"])("is %s", (address) => {
    expect(isLoopbackAddress(address)).toBe(true);
  });

  it.each(["192.0.2.2", "::ffff:192.0.2.2", "fe80::1", "127.0.0.1.example", "::ffff:", "", "172.17.0.1"])(
    "is not %j",
    (address) => {
      expect(isLoopbackAddress(address)).toBe(false);
    },
  );
});
