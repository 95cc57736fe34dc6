import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { z } from "zod";
import { http } from "../../src/http/index.ts";
import {
  cell,
  cellSource,
  defineSurface,
  implementSurface,
  listenUnixSocket,
  mcp,
  mcpResource,
  unixSocket,
} from "../../src/index.ts";
import { Inspector } from "../../src/inspector/inspector.ts";
import type { ClientRow, PageState } from "../../src/inspector/messages.ts";
import { kInspected } from "../../src/mcp/inspected-app.ts";
import type { ServableApp } from "../../src/mcp/servable-app.ts";
import { createTestClient } from "../../src/testing/index.ts";
import { bundleScript } from "../fixtures/bundle-script.ts";
import { handshake, legacyLine, modernLine } from "../fixtures/envelope.ts";
import { ServerProcess } from "../fixtures/server-process.ts";
import { modernPost } from "../http/support/modern-post.ts";

const wait = { timeout: 10_000 };
const inspectors: Inspector[] = [];
afterEach(() => {
  for (const inspector of inspectors.splice(0)) inspector.close();
});

function inspect(app: ServableApp): Inspector {
  const inspected = app[kInspected];
  if (inspected === undefined) throw new Error("cannot be inspected");
  const inspector = new Inspector(inspected, { report: () => {} });
  inspectors.push(inspector);
  return inspector;
}

function createApp(name: string) {
  const surface = defineSurface(name, { level: mcpResource(cell({ schema: z.int() })) });
  return mcp(surface)
    .implement({ level: cellSource(1) })
    .tools({ add: { mutates: false, handler: () => 1 } })
    .views({ few: { disallow: ["level"] } });
}

const anonymous = { id: "anonymous", isAnonymous: true };

describe("clients over http()", () => {
  async function serve() {
    const app = createApp("served");
    const inspector = inspect(app);
    const serving = await app.serve(http({ port: 0, allowAnonymous: true }));
    onTestFinished(() => serving.close());
    return { inspector, url: `http://127.0.0.1:${serving.port}/mcp` };
  }

  it("have a row for each session, with its streams, until it ends", async () => {
    const { inspector, url } = await serve();
    const accept = "application/json, text/event-stream";
    const headers: Record<string, string> = { "content-type": "application/json", accept };
    const post = async (line: string): Promise<Response> => {
      const response = await fetch(`${url}?surface=few`, { method: "POST", headers, body: line });
      await response.text();
      return response;
    };
    headers["mcp-session-id"] =
      (await post(legacyLine(1, "initialize", handshake))).headers.get("mcp-session-id") ?? "";
    await post(legacyLine(2, "tools/call", { name: "add" }));
    const leaving = new AbortController();
    const listen = { headers: { ...headers, accept: "text/event-stream" }, signal: leaving.signal };
    await fetch(`${url}?surface=few`, listen);
    const client = handshake.clientInfo;
    const row = { transport: "http", protocol: "2025-11-25", view: "few", caller: anonymous, client };
    const sessions = (): readonly ClientRow[] => inspector.snapshot().clients.rows;
    expect(sessions()).toMatchObject([{ ...row, requests: 1, streams: 1 }]);
    leaving.abort();
    await vi.waitFor(() => expect(sessions()).toMatchObject([{ streams: 0 }]), wait);
    await (await fetch(url, { method: "DELETE", headers })).text();
    expect(sessions()).toEqual([]);
  });

  it("have one row without a session for all requests of one program, and another for another view", async () => {
    const { inspector, url } = await serve();
    for (const query of ["", "", "?surface=few"])
      await (await fetch(url + query, modernPost("tools/call", { name: "add" }))).text();
    const row = {
      transport: "http",
      protocol: "2026-07-28",
      caller: anonymous,
      client: { name: "test", version: "1" },
    };
    expect(inspector.snapshot().clients.rows).toMatchObject([
      { ...row, view: "default", requests: 2 },
      { ...row, view: "few", requests: 1 },
    ]);
    expect(inspector.history({ tool: "add" }).rows).toMatchObject([{ view: "few" }, { view: "default" }, {}]);
  });

  it("of two apps are shown by the inspector of theirs only", async () => {
    const [one, two] = [await serve(), await serve()];
    await (await fetch(one.url, modernPost("tools/call", { name: "add" }))).text();
    expect(one.inspector.history({}).rows).toHaveLength(1);
    expect(one.inspector.snapshot().clients.rows).toHaveLength(1);
    expect(two.inspector.history({}).rows).toEqual([]);
    expect(two.inspector.snapshot().clients.rows).toEqual([]);
  });
});

describe("a client over stdio()", () => {
  it.each([
    ["2025-11-25", legacyLine],
    ["2026-07-28", modernLine],
  ] as const)("has one row, with its protocol %s", { timeout: 60_000 }, async (protocol, line) => {
    const server = new ServerProcess(
      await bundleScript(new URL("fixtures/inspected.ts", import.meta.url), `inspected-${protocol}`),
    );
    onTestFinished(() => server.kill());
    if (protocol === "2025-11-25") await server.send(legacyLine(0, "initialize", handshake));
    for (const id of [1, 2]) await server.send(line(id, "tools/call", { name: "look" }));
    const answer = (): object | undefined => server.frames.find(({ message }) => message["id"] === 2)?.message;
    await server.until(() => answer() !== undefined);
    const client = handshake.clientInfo;
    const row = { transport: "stdio", protocol, view: "default", caller: anonymous, client };
    expect(answer()).toMatchObject({ result: { structuredContent: { clients: { rows: [row], more: 0 } } } });
  });
});

describe("a link over a Unix socket", () => {
  it("is shown down with the reason, and up again, with values stale meanwhile", { timeout: 60_000 }, async () => {
    const folder = await mkdtemp(join(tmpdir(), "inspector-"));
    const path = join(folder, "app.sock");
    const surface = defineSurface("far", { level: mcpResource(cell({ schema: z.int() })) });
    const serve = async (level: number): Promise<() => Promise<void>> => {
      const live = implementSurface(surface, { level: cellSource(level) });
      const listening = await listenUnixSocket(live, path);
      return async () => {
        await listening.close();
        await live.close();
      };
    };
    const app = mcp(surface, { onFault: () => {} }).bridge(unixSocket(path));
    const inspector = inspect(app);
    const stop = await serve(1);
    const client = createTestClient(app);
    await client.watch("level", () => {});
    const state = (): Pick<PageState, "links" | "values"> => inspector.snapshot();
    const up = { surface: "far", state: "up", since: expect.any(Number) };
    expect(state()).toMatchObject({ links: [{ ...up, reconnects: 0 }], values: { rows: [{ isStale: false }] } });
    await stop();
    const down = { surface: "far", state: "down", reason: expect.stringMatching(/^(gone|lost|unreachable)$/) };
    await vi.waitFor(
      () => expect(state()).toMatchObject({ links: [down], values: { rows: [{ isStale: true }] } }),
      wait,
    );
    const stopAgain = await serve(2);
    await vi.waitFor(
      () => {
        expect(state()).toMatchObject({ links: [{ ...up, reconnects: 1 }], values: { rows: [{ isStale: false }] } });
      },
      { timeout: 40_000 },
    );
    expect(state().links[0]?.reason).toBeUndefined();
    await client.close();
    expect(state()).toMatchObject({ links: [{ state: "idle", reconnects: 1 }], values: { rows: [] } });
    await stopAgain();
    await rm(folder, { recursive: true });
  });
});
