import { PassThrough } from "node:stream";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { stdio } from "../../src/index.ts";
import { bundleScript } from "../fixtures/bundle-script.ts";
import { handshake, legacyLine, modernLine } from "../fixtures/envelope.ts";
import { createHostileApp } from "../fixtures/hostile.ts";
import { ServerProcess, type Frame } from "../fixtures/server-process.ts";

let churning = "";
let hostile = "";
beforeAll(async () => {
  churning = await bundleScript(new URL("fixtures/churning.ts", import.meta.url), "stdio-churning");
  hostile = await bundleScript(new URL("../fixtures/hostile.ts", import.meta.url), "stdio-hostile");
});

const started: ServerProcess[] = [];
afterEach(async () => {
  for (const server of started.splice(0)) await server.kill();
});

function start(script: string, args: readonly string[] = []): ServerProcess {
  const server = new ServerProcess(script, args);
  started.push(server);
  return server;
}

const uris = Array.from({ length: 1000 }, (_none, key) => `app://a-prefix-that-fills-a-pipe-in-less-time/items/${key}`);
const listen = (id: string, resourceSubscriptions: readonly string[]): string =>
  modernLine(id, "subscriptions/listen", { notifications: { resourceSubscriptions } });
const churn = (rounds: number): string => modernLine("churn", "tools/call", { name: "churn", arguments: { rounds } });

/** A busy machine takes longer to report the end than the two seconds that a host waits. */
const hostPatience = 4;

function updatesOf(frames: readonly Frame[]): string[] {
  return frames
    .filter(({ message }) => message["method"] === "notifications/resources/updated")
    .map(({ message }) => String(Reflect.get(Object(message["params"]), "uri")));
}

async function openListen(server: ServerProcess): Promise<void> {
  await server.send(listen("s", uris));
  expect(await server.until(() => server.frames.length === 1)).toBe(true);
}

describe("stdio() with subscriptions", { timeout: 120_000 }, () => {
  it("holds little when 150,000 changes are not read, and announces the last one of each in the end", async () => {
    const server = start(churning, ["600000"]);
    await openListen(server);
    server.child.stdout.pause();
    await server.send(churn(150));
    expect(await server.until(() => server.stderr.includes("churned"), 90_000)).toBe(true);
    // A notice of each would be 30 MB more than what all the changing takes, which is the same when all is read.
    expect(server.peakRssMB).toBeLessThan(260);
    server.child.stdout.resume();
    // The answer was written while the output was full, so that what was kept comes behind it.
    const behind = () => {
      const at = server.frames.findIndex(({ message }) => message["id"] === "churn");
      return at === -1 ? [] : updatesOf(server.frames.slice(at));
    };
    expect(await server.until(() => behind().length === uris.length)).toBe(true);
    expect(new Set(behind()).size).toBe(uris.length);
    const read = await server.request(JSON.parse(modernLine("read", "resources/read", { uri: uris[7] })));
    expect(read?.line).toContain(String.raw`{\"round\":150,`);
    expect(behind()).toHaveLength(uris.length);
  });

  it("ends a subscription whose host does not read, watches nothing more for it, and says so in the end", async () => {
    const server = start(churning, ["200"]);
    await openListen(server);
    server.child.stdout.pause();
    await server.send(churn(500));
    expect(await server.until(() => server.stderr.includes("nothing was read for 200 ms"), 60_000)).toBe(true);
    expect(server.stderr).toContain("nobody watches");
    server.child.stdout.resume();
    const answers = () => server.frames.filter(({ message }) => message["id"] === "s");
    expect(await server.until(() => answers().length === 1)).toBe(true);
    expect(answers()[0]?.message["result"]).toMatchObject({
      resultType: "complete",
      _meta: { "io.modelcontextprotocol/subscriptionId": "s" },
    });
    expect(await server.until(() => server.stderr.includes("churned"), 60_000)).toBe(true);
    const last = server.frames.at(-1);
    expect(last?.message["id"] === "churn" || last?.message["id"] === "s").toBe(true);
  });

  it.each(["input", "SIGTERM", "output"] as const)(
    "exits with 0 when a thousand URIs are watched and its %s ends",
    async (end) => {
      const server = start(churning);
      await openListen(server);
      await server.send(churn(100_000));
      expect(await server.until(() => updatesOf(server.frames).length > 1000)).toBe(true);
      const begun = performance.now();
      if (end === "input") server.child.stdin.end();
      else if (end === "SIGTERM") server.child.kill("SIGTERM");
      else server.child.stdout.destroy();
      expect(await server.end(10_000)).toBe(0);
      expect((performance.now() - begun) / 1000).toBeLessThan(hostPatience);
      expect(server.stderr).not.toMatch(/EPIPE|Error/);
      // Whoever still reads is told that the subscription has ended, and nothing behind that.
      const last = server.frames.at(-1)?.message;
      expect(end === "output" || (last?.["id"] === "s" && "result" in last)).toBe(true);
    },
  );

  it("tells a legacy client of what it subscribed to, of nothing that it did not, and of nothing after that", async () => {
    const server = start(hostile);
    await server.request({ id: 0, method: "initialize", params: handshake });
    await server.send('{"jsonrpc":"2.0","method":"notifications/initialized"}');
    const touch = (id: number, uri: string): Promise<unknown> =>
      server.request(JSON.parse(legacyLine(id, "tools/call", { name: "touch", arguments: { uri } })));
    await server.request(JSON.parse(legacyLine(1, "resources/subscribe", { uri: "app://items/a" })));
    await touch(2, "app://state");
    await touch(3, "app://items/b");
    await touch(4, "app://items/a");
    expect(await server.until(() => updatesOf(server.frames).length > 0)).toBe(true);
    await server.request(JSON.parse(legacyLine(5, "resources/unsubscribe", { uri: "app://items/a" })));
    await touch(6, "app://items/a");
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(updatesOf(server.frames)).toEqual(["app://items/a"]);
  });

  it.each([0, -1, Number.NaN, 2 ** 31])("does not start when stallMs is %s", async (stallMs) => {
    const serving = stdio({ input: new PassThrough(), output: new PassThrough(), stallMs }).serve(createHostileApp());
    await expect(serving).rejects.toMatchObject({ code: "INVALID_OPTION" });
  });
});
