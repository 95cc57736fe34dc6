import { connect } from "node:net";
import { afterEach, describe, expect, it, vi } from "vitest";
import { bearer } from "../../../src/http/auth/http-auth.ts";
import { http, type HttpOptions, type HttpServing } from "../../../src/http/index.ts";
import type { PageSnapshot, PageUpdate } from "../../../src/inspector/messages.ts";
import { mcp, type McpOptions } from "../../../src/index.ts";
import { kInspected } from "../../../src/mcp/inspected-app.ts";
import { createDemo, demoSurface } from "../support/demo-app.ts";
import { modernPost } from "../support/modern-post.ts";
import { cookieOf, post, tokenOf } from "./page-harness.ts";

// The build makes the page.
vi.mock("../../../src/http/inspector/page-files.ts", async () => {
  const { placeholderFiles } = await import("./page-harness.ts");
  return { readPageFiles: async () => placeholderFiles };
});

const servings: HttpServing[] = [];

afterEach(async () => {
  for (const serving of servings.splice(0)) await serving.close();
});

function createNamed(name: string): ReturnType<typeof createDemo>["app"] {
  const options: McpOptions = { name };
  return mcp(demoSurface, options).bridge({ connect: () => new Promise(() => {}) });
}

/** Serves, and returns what was written to standard error, which is no terminal, meanwhile. */
async function serve(
  options: HttpOptions,
  app = createDemo().app,
): Promise<{ readonly serving: HttpServing; readonly lines: string }> {
  const write = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  try {
    const serving = await http({ exit: false, ...options }).serve(app);
    servings.push(serving);
    return { serving, lines: write.mock.calls.map(([text]) => String(text)).join("") };
  } finally {
    write.mockRestore();
  }
}

async function enter(link: string): Promise<string> {
  const response = await post(new URL("enter", link).href, { token: tokenOf(link) });
  expect(response.status).toBe(204);
  return cookieOf(response);
}

/** A stream of a page, and all events that came. */
interface StreamReader {
  readonly events: (PageSnapshot | PageUpdate)[];
  readonly close: () => void;
}

/** Opens a stream, and waits for its snapshot. */
async function openStream(url: string, cookie: string): Promise<StreamReader> {
  const abort = new AbortController();
  const response = await fetch(new URL("events", url), { headers: { cookie }, signal: abort.signal });
  expect(response.status).toBe(200);
  const events: StreamReader["events"] = [];
  const read = async (): Promise<void> => {
    let text = "";
    for await (const piece of (response.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
      const parts = (text + piece).split("\n\n");
      text = parts.pop() ?? "";
      for (const part of parts) {
        const [, data] = /^event: \w+\ndata: (.*)$/.exec(part) ?? [];
        if (data !== undefined) events.push(JSON.parse(data) as PageSnapshot | PageUpdate);
      }
    }
  };
  // The end of the test cuts it.
  read().catch(() => undefined);
  await vi.waitFor(() => expect(events).not.toEqual([]), 20_000);
  return { events, close: () => abort.abort() };
}

describe("http({ inspector })", () => {
  it("serves the page on another port, and prints its link once, also into a log file", async () => {
    const { serving, lines } = await serve({ inspector: true });
    const { url = "" } = serving.inspector ?? {};
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/[\w-]{22}\/$/);
    expect(new URL(url).port).not.toBe(String(serving.port));
    expect(lines).toMatch(new RegExp(`^demo: live page at ${url}#token=[\\w-]{43} \\(opens once\\)\n$`));
    expect((await fetch(url)).headers.get("content-type")).toBe("text/html; charset=utf-8");
    const [link = ""] = /http\S+/.exec(lines) ?? [];
    const cookie = await enter(link);
    expect((await fetch(new URL("exposure", url), { headers: { cookie } })).status).toBe(200);
  });

  it("shows calls of agents, and the app", async () => {
    const { serving } = await serve({ inspector: true });
    const { url = "", link = () => "" } = serving.inspector ?? {};
    await fetch(serving.url, modernPost("tools/call", { name: "add", arguments: { by: 1 } }));
    const { events, close } = await openStream(url, await enter(link()));
    close();
    expect(events[0]).toMatchObject({
      app: { name: "demo", approve: false, values: false },
      history: [{ method: "tools/call", name: "add", outcome: "ok" }],
    });
  });

  it.each([{}, { inspector: false }])("serves none, and prints nothing, with %j", async (options) => {
    const { serving, lines } = await serve(options);
    expect([Object.hasOwn(serving, "inspector"), lines]).toEqual([false, ""]);
  });

  it("listens on 127.0.0.1 only, whatever the host of the server is", async () => {
    const auth = bearer({ resource: "https://ci.example/mcp", verify: async () => undefined });
    const { serving } = await serve({ inspector: true, host: "0.0.0.0", allowedHosts: ["ci.example"], auth });
    const port = Number(new URL(serving.inspector?.url ?? "").port);
    const reach = (host: string, to: number): Promise<string> =>
      new Promise((resolve) => {
        const socket = connect({ port: to, host });
        socket.once("connect", () => resolve("connected"));
        socket.once("error", () => resolve("refused"));
        socket.once("close", () => socket.destroy());
        setTimeout(() => socket.destroy(), 5000).unref();
      });
    // All addresses of 127.0.0.0/8 are loopback on Linux, and only one of them is listened on.
    expect(await reach("127.0.0.2", serving.port)).toBe("connected");
    expect(await reach("127.0.0.2", port)).toBe("refused");
    expect(await reach("127.0.0.1", port)).toBe("connected");
  });

  it("is not served on the port of agents", async () => {
    const { serving } = await serve({ inspector: true });
    const { link = () => "" } = serving.inspector ?? {};
    const response = await post(new URL("/enter", serving.url).href, { token: tokenOf(link()) });
    expect(response.status).toBe(404);
  });

  it("closes with the server, and frees its port", async () => {
    const { serving } = await serve({ inspector: true });
    const port = Number(new URL(serving.inspector?.url ?? "").port);
    await serving.close();
    const { serving: next } = await serve({ inspector: { port } });
    expect(new URL(next.inspector?.url ?? "").port).toBe(String(port));
  });

  it("leaves no observer behind when it is closed, or cannot start", async () => {
    const { app } = createDemo();
    const { observers } = app[kInspected]?.parts ?? {};
    const { serving } = await serve({ inspector: true }, app);
    expect(observers?.all).toBeDefined();
    const port = Number(new URL(serving.inspector?.url ?? "").port);
    const other = createDemo().app;
    await expect(serve({ inspector: { port } }, other)).rejects.toMatchObject({ code: "SOCKET_IN_USE" });
    expect(other[kInspected]?.parts.observers.all).toBeUndefined();
    await serving.close();
    expect(observers?.all).toBeUndefined();
  });

  it("starts nothing when its port is in use, and names its option", async () => {
    const { serving } = await serve({ inspector: true });
    const port = Number(new URL(serving.inspector?.url ?? "").port);
    let closed = 0;
    const { app } = createDemo();
    const counted = Object.create(app, {
      open: {
        value: () => {
          const runtime = app.open();
          return { ...runtime, close: () => ((closed += 1), runtime.close()) };
        },
      },
    }) as typeof app;
    await expect(http({ exit: false, inspector: { port } }).serve(counted)).rejects.toMatchObject({
      code: "SOCKET_IN_USE",
      message: `Cannot serve over HTTP at "127.0.0.1:${port}": another process listens there; choose another "inspector.port"`,
    });
    expect(closed).toBe(1);
  });

  it("refuses an app that was not made by mcp()", async () => {
    const app = { open: () => createDemo().app.open() };
    await expect(http({ exit: false, inspector: true }).serve(app)).rejects.toMatchObject({
      code: "INVALID_OPTION",
      message: "Cannot serve the live page: its app must be made by mcp(), and linked",
    });
  });

  it("writes one line whatever the name of the app has", async () => {
    const { lines } = await serve({ inspector: true }, createNamed("a\r\nforged: line\u202e\u001b[2J"));
    expect(lines).toMatch(/^[\x20-\x7e]+\n$/);
    expect(lines).toContain(String.raw`a\u{d}\u{a}forged`);
  });

  it("shows 50 pages at once each update, refuses the 65th in words, and has room again when one leaves", async () => {
    const { serving } = await serve({ inspector: true });
    const { url = "", link = () => "" } = serving.inspector ?? {};
    const cookie = await enter(link());
    const pages = await Promise.all(Array.from({ length: 50 }, () => openStream(url, cookie)));
    const heap = process.memoryUsage().heapUsed;
    const seen = ({ events }: StreamReader): (number | undefined)[] => {
      const rows = events.flatMap(({ history = [] }) => history.map(({ seq }) => seq));
      return [rows.length, rows[0], rows.at(-1)];
    };
    // An update has at most 100 rows.
    for (let calls = 80; calls <= 400; calls += 80) {
      const call = modernPost("tools/call", { name: "add", arguments: { by: 1 } });
      await Promise.all(Array.from({ length: 80 }, async () => (await fetch(serving.url, call)).text()));
      await vi.waitFor(() => expect(pages.map(seen)).toEqual(pages.map(() => [calls, 1, calls])), 20_000);
    }
    expect(process.memoryUsage().heapUsed - heap).toBeLessThan(128 * 1024 * 1024);
    pages.push(...(await Promise.all(Array.from({ length: 14 }, () => openStream(url, cookie)))));
    const further = await fetch(new URL("events", url), { headers: { cookie } });
    expect([further.status, await further.json()]).toEqual([
      503,
      { error: { code: "TOO_MANY_STREAMS", message: "Too many pages are open; close one of them" } },
    ]);
    pages.pop()?.close();
    await vi.waitFor(async () => pages.push(await openStream(url, cookie)), 20_000);
    for (const page of pages) page.close();
  });

  it("serves two apps side by side, whose cookies do not open the other", async () => {
    const [one, other] = [await serve({ inspector: true }), await serve({ inspector: true })];
    const [mine, theirs] = [one.serving.inspector, other.serving.inspector];
    const cookies = `${await enter(mine?.link() ?? "")}; ${await enter(theirs?.link() ?? "")}`;
    for (const page of [mine, theirs]) {
      expect((await fetch(new URL("exposure", page?.url), { headers: { cookie: cookies } })).status).toBe(200);
    }
    const headers = { cookie: await enter(mine?.link() ?? "") };
    expect((await fetch(new URL("exposure", theirs?.url), { headers })).status).toBe(401);
  });
});
