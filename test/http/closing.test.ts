import { setTimeout as delay } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { http, httpHandler } from "../../src/http/http.ts";
import { defineSurface, mcp, mcpTool, procedure, readOnly, type ServableApp } from "../../src/index.ts";
import { head, RawClient } from "./node/raw-client.ts";
import { modernPost } from "./support/modern-post.ts";

const clients: RawClient[] = [];

afterEach(() => {
  for (const { socket } of clients.splice(0)) socket.destroy();
});

const surface = defineSurface("closing", {
  big: readOnly(mcpTool(procedure({ input: z.object({}), output: z.string() }))),
  hang: readOnly(mcpTool(procedure({ input: z.object({}), output: z.string() }))),
  linger: readOnly(mcpTool(procedure({ input: z.object({}), output: z.string() }))),
});

const large = "x".repeat(200_000);

interface Closing {
  readonly app: ServableApp;
  readonly running: () => number;
  readonly faults: readonly { readonly where: string; readonly cause: unknown }[];
}

/** An app whose handlers do not listen to their signals: some end late, some never. */
function createClosing(): Closing {
  let running = 0;
  const faults: { where: string; cause: unknown }[] = [];
  const hang = (): Promise<never> => new Promise(() => void (running += 1));
  const app = mcp(surface, { onFault: (fault) => void faults.push(fault) })
    .implement({
      big: () => large,
      hang,
      linger: async () => {
        running += 1;
        await delay(400);
        return "late";
      },
    })
    .tools({ hangByHand: { mutates: false, handler: hang } });
  return { app, running: () => running, faults };
}

async function until(isThere: () => boolean): Promise<void> {
  while (!isThere()) await delay(5);
}

function call(name: string): RequestInit {
  return modernPost("tools/call", { name, arguments: {} });
}

/** A call as it is written on a connection. */
async function written(name: string): Promise<string> {
  const request = new Request("http://localhost/mcp", call(name));
  const text = await request.text();
  const lines = [...request.headers].map(([header, value]) => `${header}: ${value}`);
  return head("POST", ...lines, `content-length: ${Buffer.byteLength(text)}`) + text;
}

function connect(port: number): RawClient {
  const client = new RawClient(port);
  clients.push(client);
  return client;
}

describe("closing http()", () => {
  it("waits until slow clients have read their answers", async () => {
    const { app } = createClosing();
    const serving = await http({ exit: false }).serve(app);
    const client = connect(serving.port);
    client.socket.pause();
    client.send((await written("big")).repeat(30));
    await until(() => serving.stats().stages.backend === 30);
    const closing = serving.close();
    await delay(100);
    client.socket.resume();
    const heard = await client.closed();
    await closing;
    expect(heard.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(30);
    expect(heard.match(/"resultType":"complete"/g)).toHaveLength(30);
  });

  it("ends after its timeout when a client never reads its answer", async () => {
    const { app, faults } = createClosing();
    const serving = await http({ exit: false, drainMs: 100 }).serve(app);
    const client = connect(serving.port);
    client.socket.pause();
    client.send((await written("big")).repeat(30));
    await until(() => serving.stats().stages.backend === 30);
    await serving.close();
    client.socket.resume();
    expect((await client.closed()).match(/"resultType":"complete"/g)?.length).toBeLessThan(30);
    expect(faults).toEqual([]);
  });

  it.each(["hang", "hangByHand"])(
    "ends after its timeout, answers waiting clients, and reports %s once by name if it never ends",
    async (name) => {
      const { app, running, faults } = createClosing();
      const serving = await http({ exit: false, drainMs: 50 }).serve(app);
      const answers = [fetch(serving.url, call(name)), fetch(serving.url, call(name))];
      await until(() => running() === 2);
      await serving.close();
      await serving.closed;
      for (const answer of answers) expect(await (await answer).text()).toContain("CLOSED");
      await expect(fetch(serving.url, call("big"))).rejects.toThrow("fetch failed");
      expect(faults).toMatchObject([{ where: "closing over HTTP", cause: { code: "TIMEOUT" } }]);
      expect(String(faults[0]?.cause)).toContain(
        `Cannot close over HTTP in time: tool "${name}" ignores its abort signal and still runs`,
      );
    },
  );

  it("waits for a handler that ignores its signal and ends a little late, and reports nothing", async () => {
    const { app, running, faults } = createClosing();
    const serving = await http({ exit: false, drainMs: 0 }).serve(app);
    const answer = fetch(serving.url, call("linger"));
    await until(() => running() === 1);
    await serving.close();
    expect(await (await answer).text()).toContain("CLOSED");
    expect(faults).toEqual([]);
  });
});

describe("closing httpHandler()", () => {
  it("ends after its timeout, and reports a handler that never ends by name", async () => {
    const { app, running, faults } = createClosing();
    const handler = httpHandler(app, { drainMs: 50 });
    const answer = handler(new Request("http://localhost/mcp", call("hang")));
    await until(() => running() === 1);
    await handler.close();
    expect(await (await answer).text()).toContain("CLOSED");
    expect(String(faults[0]?.cause)).toContain('tool "hang" ignores its abort signal and still runs');
    expect(faults).toHaveLength(1);
  });
});
