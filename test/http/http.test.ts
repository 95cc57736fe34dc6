import { afterEach, describe, expect, it, vi } from "vitest";
import { bearer } from "../../src/http/auth/http-auth.ts";
import { http, type HttpServing } from "../../src/http/http.ts";
import type { HttpOptions } from "../../src/http/options.ts";
import { createDemo, type Demo } from "./support/demo-app.ts";
import { httpClients } from "./support/http-clients.ts";
import { modernPost } from "./support/modern-post.ts";

const servings: HttpServing[] = [];

afterEach(async () => {
  for (const serving of servings.splice(0)) await serving.close();
});

async function serve(options: HttpOptions = {}, { app }: Demo = createDemo()): Promise<HttpServing> {
  const serving = await http({ exit: false, ...options }).serve(app);
  servings.push(serving);
  return serving;
}

/** Serves, and returns the text that was written to standard error meanwhile. */
async function servedOn({ isTTY, ...options }: HttpOptions & { readonly isTTY: boolean }): Promise<{
  readonly url: string;
  readonly lines: string;
}> {
  const before = process.stderr.isTTY;
  const write = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  try {
    process.stderr.isTTY = isTTY;
    const { url } = await serve(options);
    return { url, lines: write.mock.calls.map(([text]) => String(text)).join("") };
  } finally {
    process.stderr.isTTY = before;
    write.mockRestore();
  }
}

async function until(isThere: () => boolean): Promise<void> {
  while (!isThere()) await new Promise((resolve) => setTimeout(resolve, 5));
}

function listeners(): number {
  return process.listenerCount("SIGTERM") + process.listenerCount("SIGINT");
}

const add = modernPost("tools/call", { name: "add", arguments: { by: 1 } });
const sleep = modernPost("tools/call", { name: "sleep", arguments: { ms: 60_000 } });

describe("http()", () => {
  it("says where it is served, and counts, when it serves", async () => {
    const { url, port, stats } = await serve({ path: "/agents" });
    expect(url).toBe(`http://127.0.0.1:${port}/agents`);
    expect((await fetch(url, add)).status).toBe(200);
    expect(stats()).toMatchObject({ sessions: 0, streams: 0, dropped: 0, stages: { head: 1, backend: 1 } });
  });

  it("prints its entries and the command of the inspector on a terminal", async () => {
    const { url, lines } = await servedOn({ isTTY: true });
    const command = `npx @modelcontextprotocol/inspector --cli ${url} --transport http --method tools/list`;
    expect(lines).toMatch(new RegExp(`^demo: \\d+ tools.* at ${url}; look at it with: ${command}\n$`));
  });

  it("prints on a terminal the scopes that access tokens need", async () => {
    const auth = bearer({ resource: "https://demo.example/mcp", verify: async () => undefined });
    const { url, lines } = await servedOn({ isTTY: true, auth });
    const needed = 'access tokens need the scope "demo:read" to read, and "demo:write" to change anything';
    expect(lines).toMatch(new RegExp(`^demo: \\d+ tools.* at ${url}; ${needed}\n$`));
  });

  it("prints nothing into a log file", async () => {
    expect((await servedOn({ isTTY: false })).lines).toBe("");
  });

  it("writes an IPv6 address into its URL in brackets", async () => {
    const { url, port } = await serve({ host: "::1" });
    expect(url).toBe(`http://[::1]:${port}/mcp`);
    expect((await fetch(url, add)).status).toBe(200);
  });

  it("answers the address that it is bound to when that is loopback of another number", async () => {
    const { url } = await serve({ host: "127.0.0.2" });
    expect((await fetch(url, add)).status).toBe(200);
  });

  it.each(httpClients.filter(({ name }) => /1\.x|legacy/.test(name)))(
    "serves one $name after another when none of them ends its session",
    async ({ connect }) => {
      const { url, stats } = await serve({ maxSessions: 4 });
      for (let job = 0; job < 12; job += 1) {
        const client = await connect({ url });
        expect(await client.callTool({ name: "add", arguments: { by: 1 } })).toMatchObject({
          structuredContent: { count: job + 1 },
        });
        await client.close();
      }
      expect(stats().sessions).toBe(4);
    },
  );

  it("waits for a running call, and closes the app, when it is closed", async () => {
    const demo = createDemo();
    let closed = 0;
    const app = {
      open: () => {
        const runtime = demo.app.open();
        return { ...runtime, close: () => ((closed += 1), runtime.close()) };
      },
    };
    const serving = await serve({}, { ...demo, app });
    const call = fetch(serving.url, modernPost("tools/call", { name: "sleep", arguments: { ms: 200 } }));
    await until(() => demo.sleeping() === 1);
    await Promise.all([serving.close(), serving.close(), serving.closed]);
    expect(await (await call).text()).toContain("slept");
    expect(closed).toBe(1);
    await expect(fetch(serving.url, add)).rejects.toThrow("fetch failed");
  });

  it("aborts a call that takes longer, and answers it, when it is closed", async () => {
    const demo = createDemo();
    const serving = await serve({ drainMs: 50 }, demo);
    const call = fetch(serving.url, sleep);
    await until(() => demo.sleeping() === 1);
    await serving.close();
    expect(demo.aborted()).toBe(1);
    expect(await (await call).text()).toMatch(/"(?:error|isError)":/);
  });

  it("closes the app, and takes no signals, when it cannot listen", async () => {
    const { port } = await serve();
    const before = listeners();
    let closed = 0;
    const app = {
      open: () => {
        const runtime = createDemo().app.open();
        return { ...runtime, close: () => ((closed += 1), runtime.close()) };
      },
    };
    await expect(http({ port }).serve(app)).rejects.toMatchObject({ code: "SOCKET_IN_USE" });
    expect([closed, listeners()]).toEqual([1, before]);
  });

  it("adds no signal listener with exit: false", async () => {
    const before = listeners();
    await serve();
    expect(listeners()).toBe(before);
  });

  it("listens to each signal once for all servers, and no longer when all are closed", async () => {
    const before = listeners();
    for (let count = 0; count < 12; count += 1) await serve({ exit: true });
    expect(listeners()).toBe(before + 2);
    for (const serving of servings.splice(0)) await serving.close();
    expect(listeners()).toBe(before);
  });

  it("answers /healthz only for a Host that it knows", async () => {
    const { port } = await serve();
    const well = await fetch(`http://127.0.0.1:${port}/readyz`);
    expect(well.status).toBe(200);
    const unused = { used: 0, refused: 0, evicted: 0 };
    expect(await well.json()).toMatchObject({ status: "ok", limits: { unreadBytes: unused, bodyBytes: unused } });
    expect((await fetch(`http://127.0.0.1:${port}/healthz`, { method: "HEAD" })).status).toBe(200);
  });
});
