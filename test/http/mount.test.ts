import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import { afterEach, describe, expect, it, vi } from "vitest";
import { http, httpHandler, type HttpHandler } from "../../src/http/http.ts";
import type { HttpHandlerOptions } from "../../src/http/options.ts";
import { createDemo, type Demo } from "./support/demo-app.ts";
import { createHono, serveHono, type HonoApp } from "./support/hono.ts";
import { type HttpClient, httpClients, type HttpEnd } from "./support/http-clients.ts";
import { modernPost } from "./support/modern-post.ts";

const closers: (() => unknown)[] = [];
let demo: Demo = createDemo();

function remake(): Demo["app"] {
  demo = createDemo();
  return demo.app;
}

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

function handle(options?: HttpHandlerOptions): HttpHandler {
  const handler = httpHandler(remake(), options);
  closers.push(() => handler.close());
  return handler;
}

function closing(server: Server): void {
  closers.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
}

async function listening(server: Server, path: string): Promise<string> {
  if (!server.listening) await once(server, "listening");
  closing(server);
  // A server on a port has an address of this form.
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
}

async function toHono(handler: HttpHandler): Promise<HonoApp> {
  const app = await createHono();
  app.all("/mcp", (context) => handler(context.req.raw));
  return app;
}

/** Ways to serve the same app. */
const mounts: Readonly<Record<string, () => Promise<HttpEnd>>> = {
  "http()": async () => {
    const serving = await http({ exit: false }).serve(remake());
    closers.push(() => serving.close());
    return { url: serving.url };
  },
  "Hono on Node": async () => {
    const { fetch } = await toHono(handle({ allowAnonymous: true }));
    const server = await serveHono({ fetch, port: 0, hostname: "127.0.0.1" });
    return { url: await listening(server, "/mcp") };
  },
  "Hono's fetch": async () => {
    const app = await toHono(handle({ allowAnonymous: true }));
    const fetch = async (url: string | URL | Request, init?: RequestInit): Promise<Response> =>
      app.fetch(new Request(url, init));
    return { url: "http://localhost/mcp", fetch };
  },
  Express: async () => {
    const app = express();
    app.use("/api", handle({ path: "/api/mcp" }).node);
    return { url: await listening(app.listen(0, "127.0.0.1"), "/api/mcp") };
  },
  "Express behind a body parser": async () => {
    const app = express();
    app.use(express.json());
    app.all("/mcp", handle().node);
    return { url: await listening(app.listen(0, "127.0.0.1"), "/mcp") };
  },
  "node:http": async () => ({ url: await listening(createServer(handle().node).listen(0, "127.0.0.1"), "/mcp") }),
};

async function until(isThere: () => boolean): Promise<void> {
  while (!isThere()) await new Promise((resolve) => setTimeout(resolve, 5));
}

async function use(client: HttpClient): Promise<number[]> {
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["add", "sleep", "steps"]);
  let updates = 0;
  await client.watch("surface://demo/count", () => void (updates += 1));
  expect(await client.callTool({ name: "add", arguments: { by: 3 } })).toMatchObject({
    structuredContent: { count: 3 },
  });
  await until(() => updates > 0);
  const read = await client.readResource({ uri: "surface://demo/count" });
  expect(JSON.stringify(read)).toContain('"text":"3"');
  const steps: number[] = [];
  await client.callTool(
    { name: "steps", arguments: { count: 3 } },
    { onprogress: ({ progress }) => void steps.push(progress) },
  );
  return steps;
}

describe("a stream under Hono on Node", () => {
  it("is closed without a word when its client ends it", async () => {
    const handler = handle({ allowAnonymous: true });
    const { fetch: serveFetch } = await toHono(handler);
    const url = await listening(await serveHono({ fetch: serveFetch, port: 0, hostname: "127.0.0.1" }), "/mcp");
    const errors = vi.spyOn(console, "error").mockReturnValue();
    const leave = new AbortController();
    const notifications = { resourceSubscriptions: ["surface://demo/count"] };
    const init = { ...modernPost("subscriptions/listen", { notifications }), signal: leave.signal };
    const reader = (await fetch(url, init)).body?.getReader();
    expect((await reader?.read())?.value).toBeDefined();
    leave.abort();
    await until(() => handler.stats().streams === 0);
    // Whatever Hono does with the end of the stream, it has done once it has served another request.
    expect((await fetch(url, modernPost("tools/list"))).status).toBe(200);
    const told = errors.mock.calls;
    errors.mockRestore();
    expect(told).toEqual([]);
  });
});

describe("an app mounted at another path than its own", () => {
  it("logs one warning with the option to change, and none for requests that are no messages", async () => {
    const handler = handle({ allowAnonymous: true });
    const app = await createHono();
    app.all("/api/*", (context) => handler(context.req.raw));
    const errors = vi.spyOn(console, "error").mockReturnValue();
    const statuses = [];
    for (const init of [{}, modernPost("tools/list"), modernPost("tools/list")]) {
      const { status } = await app.fetch(new Request("http://localhost/api/mcp?token=secret", init));
      statuses.push(status);
    }
    expect(statuses).toEqual([404, 404, 404]);
    const told = errors.mock.calls;
    errors.mockRestore();
    expect(told).toEqual([
      [
        `[surface-mcp] warning: Cannot serve "/api/mcp": the app is served at "/mcp"; pass { path: "/api/mcp" } if it is mounted there`,
      ],
    ]);
  });

  it("says nothing of a stray path once a message has come to its own", async () => {
    const handler = handle({ allowAnonymous: true });
    const errors = vi.spyOn(console, "error").mockReturnValue();
    await handler(new Request("http://localhost/mcp", modernPost("tools/list")));
    await handler(new Request("http://localhost/other", modernPost("tools/list")));
    const told = errors.mock.calls;
    errors.mockRestore();
    expect(told).toEqual([]);
  });
});

describe.each(Object.entries(mounts))("an app served by %s", (_name, mount) => {
  it.each(httpClients)(
    "is listed, called, read and watched, with progress, when the client is $name",
    async ({ connect }) => {
      const client = await connect(await mount());
      closers.push(() => client.close());
      expect(await use(client)).toEqual([1, 2, 3]);
    },
  );

  it("aborts a call when its modern client goes away", async () => {
    const { url, fetch = globalThis.fetch } = await mount();
    const leaving = new AbortController();
    const init = modernPost("tools/call", { name: "sleep", arguments: { ms: 15_000 } });
    const ended = fetch(url, { ...init, signal: leaving.signal }).then(
      ({ status }) => status,
      (cause: unknown) => cause,
    );
    await until(() => demo.sleeping() === 1);
    leaving.abort();
    await until(() => demo.aborted() === 1);
    // What is called in this process gets an answer that nobody else would see.
    expect([499, expect.objectContaining({ name: "AbortError" })]).toContainEqual(await ended);
  });
});

describe("httpHandler()", () => {
  it("throws INVALID_OPTION before it opens the app, and then the app's own error", () => {
    const app = {
      open: (): never => {
        throw new TypeError("cannot open");
      },
    };
    expect(() => httpHandler(app)).toThrow("cannot open");
    expect(() => httpHandler(app, { maxQueued: 0 })).toThrow(expect.objectContaining({ code: "INVALID_OPTION" }));
  });

  it("is its own fetch function, counts requests, and refuses requests once it is closed", async () => {
    const handler = handle({ allowAnonymous: true });
    const ask = (): Request =>
      new Request("http://localhost/mcp", modernPost("tools/call", { name: "add", arguments: { by: 1 } }));
    expect((await handler(ask())).status).toBe(200);
    expect((await handler.fetch(ask())).status).toBe(200);
    expect(handler.stats()).toMatchObject({ sessions: 0, streams: 0, dropped: 0, stages: { head: 2, backend: 2 } });
    await Promise.all([handler.close(), handler.close()]);
    expect((await handler(ask())).status).toBe(503);
    expect((await handler(new Request("http://localhost/healthz"))).status).toBe(503);
    expect(handler.stats().stages.backend).toBe(2);
  });

  it("names its form for node:http when Express is given the web's form", async () => {
    const app = express();
    app.all("/mcp", handle());
    const url = await listening(app.listen(0, "127.0.0.1"), "/mcp");
    const answer = await fetch(url, modernPost("tools/list"));
    expect(answer.status).toBe(500);
    // Outside production Express answers with the error.
    expect(await answer.text()).toContain(
      "it is not a web Request; pass handler.node to Express, Fastify and node:http",
    );
  });

  it("answers no other host than this machine's when none is named", async () => {
    const answer = await handle()(new Request("http://evil.example/mcp", modernPost("tools/list")));
    expect(answer.status).toBe(403);
  });

  it("closes the app when no token could pass its auth", async () => {
    const { app } = createDemo();
    let closed = 0;
    const opening = {
      open: () => {
        const runtime = app.open();
        return { ...runtime, close: () => ((closed += 1), runtime.close()) };
      },
    };
    const auth = {
      resource: "nowhere",
      scopes: [],
      authorizationServers: [],
      timeoutMs: 1,
      verify: async () => undefined,
    };
    expect(() => httpHandler(opening, { auth })).toThrow(expect.objectContaining({ code: "INVALID_OPTION" }));
    expect(closed).toBe(1);
  });
});
