import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it, vi } from "vitest";
import { inspectorHandler, type InspectorHandler, type InspectorHandlerOptions } from "../../../src/http/index.ts";
import { redactSecrets } from "../../../src/index.ts";
import { createDemo } from "../support/demo-app.ts";
import { codeOf, cookieOf, post, tokenOf } from "./page-harness.ts";

// The build makes the page.
vi.mock("../../../src/http/inspector/page-files.ts", async () => {
  const { placeholderFiles } = await import("./page-harness.ts");
  return { readPageFiles: async () => placeholderFiles };
});

const handlers: InspectorHandler[] = [];
const closers: (() => void)[] = [];

afterEach(async () => {
  for (const handler of handlers.splice(0)) await handler.close();
  for (const close of closers.splice(0)) close();
});

async function create(options: InspectorHandlerOptions): Promise<InspectorHandler> {
  const handler = await inspectorHandler(createDemo().app, options);
  handlers.push(handler);
  return handler;
}

/** Serves by `node:http` on all addresses, under a path. */
async function listen(): Promise<{ readonly port: number; readonly handler: InspectorHandler }> {
  const server = createServer();
  server.listen(0, "0.0.0.0");
  await once(server, "listening");
  closers.push(
    () => server.closeAllConnections(),
    () => server.close(),
  );
  // A server on a port has an address of this form.
  const { port } = server.address() as AddressInfo;
  const handler = await create({ url: `http://localhost:${port}/ops/inspect` });
  server.on("request", handler.node);
  return { port, handler };
}

describe("inspectorHandler()", () => {
  it("serves the page under the path of its url, by node:http", async () => {
    const { port, handler } = await listen();
    const base = `http://localhost:${port}/ops/inspect/`;
    const link = handler.link();
    expect(link.startsWith(`${base}#token=`)).toBe(true);
    expect((await fetch(base)).status).toBe(200);
    expect((await fetch(`http://localhost:${port}/page.js`)).status).toBe(404);
    const entered = await post(`${base}enter`, { token: tokenOf(link) });
    const [set = ""] = entered.headers.getSetCookie();
    expect(set).toContain("; Path=/ops/inspect/");
    const headers = { cookie: cookieOf(entered) };
    expect((await fetch(`${base}exposure`, { headers })).status).toBe(200);
    expect((await fetch(`${base}other`, { headers })).status).toBe(404);
  });

  it("serves web requests of a public host, over TLS only", async () => {
    const handler = await create({ url: "https://ci.example/inspect/", values: redactSecrets(), history: 10 });
    const send = (url: string, init?: RequestInit): Promise<Response> => handler.fetch(new Request(url, init));
    const body = JSON.stringify({ token: tokenOf(handler.link()) });
    const own = { "content-type": "application/json", origin: "https://ci.example" };
    const foreign = { ...own, origin: "http://ci.example" };
    expect((await send("https://ci.example/inspect/enter", { method: "POST", headers: foreign, body })).status).toBe(
      403,
    );
    const entered = await send("https://ci.example/inspect/enter", { method: "POST", headers: own, body });
    expect(entered.headers.getSetCookie()[0]).toMatch(/; Path=\/inspect\/; Secure$/);
    expect((await send("https://evil.example/inspect/")).status).toBe(403);
    expect((await handler(new Request("https://ci.example/inspect/"))).status).toBe(200);
    const events = await send("https://ci.example/inspect/events", { headers: { cookie: cookieOf(entered) } });
    expect(events.headers.get("content-security-policy")).toContain("default-src 'none'");
    const reader = events.body?.getReader();
    const { value } = (await reader?.read()) ?? {};
    expect(new TextDecoder().decode(value)).toMatch(/^event: snapshot\ndata: .*"values":true/);
    await reader?.cancel();
  });

  it("refuses everything once it is closed", async () => {
    const handler = await create({ url: "https://ci.example/" });
    await Promise.all([handler.close(), handler.close()]);
    const response = await handler(new Request("https://ci.example/"));
    expect([response.status, await codeOf(response)]).toEqual([503, "CLOSED"]);
  });

  it("sees nothing more of an app once it is closed, and stays out of the way of another", async () => {
    const { app } = createDemo();
    const url = "http://localhost:1/";
    const [one, other] = [await inspectorHandler(app, { url }), await inspectorHandler(app, { url })];
    handlers.push(one, other);
    await one.close();
    expect((await other(new Request(url))).status).toBe(200);
  });

  it.each([
    ["no url", {}],
    ["a path", { url: "/inspect" }],
    ["another scheme", { url: "ftp://localhost/" }],
    ["a public host without TLS", { url: "http://ci.example/" }],
    ["a name that only looks like loopback", { url: "http://127.0.0.1.example/" }],
    ["a user", { url: "https://a:b@ci.example/" }],
    ["a query", { url: "https://ci.example/?x" }],
    ["a fragment", { url: "https://ci.example/#x" }],
    ["a URL object", { url: new URL("https://ci.example/") }],
    ["an unknown option", { url: "https://ci.example/", port: 1 }],
    ["values without a redactor", { url: "https://ci.example/", values: true }],
  ])("throws INVALID_OPTION for %s", async (_what, options) => {
    const { app } = createDemo();
    // What a caller without the compiler could write.
    await expect(inspectorHandler(app, options as InspectorHandlerOptions)).rejects.toMatchObject({
      code: "INVALID_OPTION",
      message: expect.stringMatching(/^Cannot serve the live page: "/),
    });
  });

  it("throws INVALID_OPTION for an app that was not made by mcp()", async () => {
    const app = { open: () => createDemo().app.open() };
    await expect(inspectorHandler(app, { url: "https://ci.example/" })).rejects.toMatchObject({
      code: "INVALID_OPTION",
    });
  });
});
