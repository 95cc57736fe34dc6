import { PassThrough, Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { defineSurface, mcp, stdio, type MountSource } from "../../src/index.ts";
import { bundleScript } from "../fixtures/bundle-script.ts";
import { envelope, handshake, legacyLine, modernLine } from "../fixtures/envelope.ts";
import { createHostileApp } from "../fixtures/hostile.ts";
import { ServerProcess } from "../fixtures/server-process.ts";

let hostile = "";
let stubborn = "";
beforeAll(async () => {
  hostile = await bundleScript(new URL("../fixtures/hostile.ts", import.meta.url), "stdio-hostile");
  stubborn = await bundleScript(new URL("fixtures/stubborn.ts", import.meta.url), "stdio-stubborn");
});

const started: ServerProcess[] = [];
afterEach(async () => {
  vi.useRealTimers();
  for (const server of started.splice(0)) await server.kill();
});

function start(script: string): ServerProcess {
  const server = new ServerProcess(script);
  started.push(server);
  return server;
}

const call = (id: number, name: string, args: object = {}): string =>
  modernLine(id, "tools/call", { name, arguments: args });

/** Two seconds is what hosts wait before they kill; a busy machine may take longer to report the end. */
async function secondsToEnd(server: ServerProcess, end: () => void): Promise<number> {
  const begun = performance.now();
  end();
  expect(await server.end(10_000)).toBe(0);
  return (performance.now() - begun) / 1000;
}

const hostPatience = 4;

/** Starts calls and waits until they are known to run: what is sent behind them is answered first. */
async function startCalls(server: ServerProcess, lines: readonly string[]): Promise<void> {
  await server.send(lines.join("\n"));
  await server.send(modernLine("behind", "tools/list"));
  expect(await server.until(() => server.frames.some(({ message }) => message["id"] === "behind"))).toBe(true);
}

describe("stdio()", { timeout: 90_000 }, () => {
  it("aborts running calls and exits with 0 when the input ends", async () => {
    const server = start(hostile);
    await startCalls(server, [call(1, "slow", { ms: 60_000 })]);
    expect(await secondsToEnd(server, () => server.child.stdin.end())).toBeLessThan(hostPatience);
    expect(server.marks.map(([name]) => name)).toEqual(["slow", "slow aborted"]);
    expect(server.frames.filter(({ message }) => message["id"] === 1)).toEqual([]);
  });

  it.each(["SIGTERM", "SIGINT"] as const)("aborts running calls and exits with 0 on %s", async (signal) => {
    const server = start(hostile);
    await startCalls(server, [call(1, "slow", { ms: 60_000 })]);
    expect(await secondsToEnd(server, () => server.child.kill(signal))).toBeLessThan(hostPatience);
    expect(server.marks.map(([name]) => name)).toContain("slow aborted");
  });

  it("exits in time when 300 calls run or wait and the input ends", async () => {
    const server = start(hostile);
    const lines = Array.from({ length: 300 }, (_none, index) => call(index, "slow", { ms: 60_000 }));
    await server.send(lines.join("\n"));
    expect(await server.until(() => server.marks.length >= 64)).toBe(true);
    expect(await secondsToEnd(server, () => server.child.stdin.end())).toBeLessThan(hostPatience);
    // As many as run at once were started; those that waited never ran.
    expect(server.marks.filter(([name]) => name === "slow")).toHaveLength(64);
    expect(server.frames).toEqual([]);
  });

  it("exits in time when 2,000 calls were sent and megabytes of pings behind them", async () => {
    const server = start(hostile);
    const lines = Array.from({ length: 2000 }, (_none, index) => call(index, "slow", { ms: 60_000 }));
    const pings = Array.from({ length: 7 }, (_none, id) =>
      modernLine(`p${id}`, "tools/list", { pad: "p".repeat(1 << 20) }),
    );
    await server.send([...lines, ...pings].join("\n"));
    expect(await server.until(() => server.frames.length === 2000 - 320 + 7)).toBe(true);
    expect(await secondsToEnd(server, () => server.child.stdin.end())).toBeLessThan(hostPatience);
  });

  it("exits in time when a handler never settles and timers and sockets are open", async () => {
    const server = start(stubborn);
    await server.request({ id: 1, ...JSON.parse(call(1, "open")) });
    await startCalls(server, [call(2, "stuck"), call(3, "stuck")]);
    expect(await secondsToEnd(server, () => server.child.stdin.end())).toBeLessThan(hostPatience);
  });

  it("answers everything in the end when the host reads late", async () => {
    const server = start(stubborn);
    server.child.stdout.pause();
    const count = 400;
    void server.send(Array.from({ length: count }, (_none, index) => call(index, "flood", { kb: 256 })).join("\n"));
    await sleep(1500);
    // 400 answers of 512 KiB would be 200 MB: most of them must not have been made yet.
    expect(server.peakRssMB).toBeLessThan(250);
    server.child.stdout.resume();
    expect(await server.until(() => server.frames.length === count)).toBe(true);
    expect(new Set(server.frames.map(({ message }) => message["id"])).size).toBe(count);
  });

  it("drops reports of progress when the host does not read them, and sends the answer in the end", async () => {
    const server = start(stubborn);
    server.child.stdout.pause();
    // 500,000 reports of half a kilobyte are 300 MB.
    const params = { name: "babble", arguments: { reports: 500_000 }, _meta: { ...envelope, progressToken: 1 } };
    await server.send(modernLine(1, "tools/call", params));
    expect(await server.until(() => server.stderr.includes("babbled"), 60_000)).toBe(true);
    expect(server.peakRssMB).toBeLessThan(220);
    server.child.stdout.resume();
    const answers = () => server.frames.filter(({ message }) => message["id"] === 1);
    expect(await server.until(() => answers().length === 1)).toBe(true);
    expect(server.frames.length).toBeGreaterThan(100);
    expect(server.frames.length).toBeLessThan(20_000);
  });

  it("ends without a trace when the host closes its end of the output", async () => {
    const server = start(stubborn);
    await startCalls(server, [call(1, "stuck")]);
    server.child.stdout.destroy();
    await server.send(call(2, "flood", { kb: 1024 }));
    expect(await server.end(10_000)).toBe(0);
    expect(server.stderr).not.toMatch(/EPIPE|Error/);
  });

  it("keeps stdout for the protocol when handlers print, also after their answer", async () => {
    const server = start(stubborn);
    const answer = await server.request(JSON.parse(call(1, "detach")));
    expect(answer?.message["result"]).toBeDefined();
    expect(await server.until(() => server.stderr.includes("late text"))).toBe(true);
    expect(server.noise).toEqual([]);
  });

  it("answers pings and hears cancellations when more calls were sent than it takes", async () => {
    const server = start(hostile);
    await server.request({ id: "open", method: "initialize", params: handshake });
    const ids = Array.from({ length: 400 }, (_none, index) => index);
    await server.send(
      ids.map((id) => legacyLine(id, "tools/call", { name: "slow", arguments: { ms: 60_000 } })).join("\n"),
    );
    expect((await server.request({ id: "ping", method: "ping" }))?.message["result"]).toEqual({});
    const cancel = (requestId: number): string =>
      JSON.stringify({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId } });
    await server.send(ids.map(cancel).join("\n"));
    const wipe = await server.request({ id: "wipe", method: "tools/call", params: { name: "wipe" } });
    expect(wipe?.message["result"]).toBeDefined();
    const count = (mark: string): number => server.marks.filter(([name]) => name === mark).length;
    expect(await server.until(() => count("slow aborted") === count("slow"))).toBe(true);
    expect(server.frames.filter(({ message }) => "error" in message)).toHaveLength(400 - 320);
  });

  it("answers 3,000 pings when the input ends right behind them", async () => {
    const server = start(hostile);
    const pings = Array.from({ length: 3000 }, (_none, index) => legacyLine(index, "ping"));
    server.child.stdin.end([legacyLine("open", "initialize", handshake), ...pings, ""].join("\n"));
    expect(await server.end()).toBe(0);
    expect(server.frames).toHaveLength(3001);
  });

  it("refuses none of 3,000 quick calls when they are sent at once", async () => {
    const server = start(hostile);
    await server.request({ id: "open", method: "initialize", params: handshake });
    const count = 3000;
    const echo = (id: number): string => legacyLine(id, "tools/call", { name: "echo", arguments: { text: "a" } });
    await server.send(Array.from({ length: count }, (_none, index) => echo(index)).join("\n"));
    expect(await server.until(() => server.frames.length === count + 1)).toBe(true);
    expect(server.frames.filter(({ message }) => "error" in message)).toEqual([]);
  });

  it("answers 700 quick calls and a slower one when the input ends right behind them, also while the client listens", async () => {
    // Served in this process, where the second for answers after the end of the input does not pass: a busy machine needs more.
    vi.useFakeTimers({ toFake: ["setTimeout"] });
    const [input, output] = [new PassThrough(), new PassThrough()];
    const answers = text(output);
    const serving = await stdio({ input, output }).serve(createHostileApp());
    // More than may run and wait at a time.
    const count = 700;
    const echoes = Array.from({ length: count }, (_none, id) => call(id, "echo", { text: "a" }));
    const listen = modernLine("listen", "subscriptions/listen", { notifications: { toolsListChanged: true } });
    input.end([...echoes, listen, call(count, "slow", { ms: 50 }), ""].join("\n"));
    await serving.closed;
    output.end();
    const messages = (await answers)
      .trim()
      .split("\n")
      .map((line): object => JSON.parse(line) as object);
    const results = messages.filter((message) => "result" in message && Reflect.get(message, "id") !== "listen");
    expect(results).toHaveLength(count + 1);
    // The subscription has ended before: notices would take the place of answers.
    expect(messages.at(-1)).toHaveProperty("id", count);
  });

  it("closes the app while a host still reads slowly", async () => {
    // The half second without a read does not pass.
    vi.useFakeTimers({ toFake: ["setTimeout"] });
    const held: (() => void)[] = [];
    const output = new Writable({ write: (_chunk, _encoding, done) => void held.push(done) });
    let isClosed = false;
    const source: MountSource = { list: () => [], invoke: () => {}, subscribe: () => () => void (isClosed = true) };
    const input = new PassThrough();
    const serving = await stdio({ input, output }).serve(
      mcp(defineSurface("slow", {})).implement({}).mount("tools", source),
    );
    const turns = async (isDone: () => boolean): Promise<void> => {
      for (let turn = 0; turn < 1000 && !isDone(); turn++) await new Promise((resolve) => setImmediate(resolve));
    };
    input.write(`${modernLine(1, "server/discover")}\n`);
    await turns(() => held.length > 0);
    const closing = serving.close();
    await turns(() => isClosed);
    expect([held.length, isClosed]).toEqual([1, true]);
    held[0]?.();
    await closing;
  });

  it("takes back a call that still waits when it is cancelled", async () => {
    const server = start(hostile);
    const busy = Array.from({ length: 64 }, (_none, index) => call(index, "slow", { ms: 300 }));
    const cancel = '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":64}}';
    await server.send([...busy, call(64, "wipe"), cancel].join("\n"));
    expect(await server.until(() => server.frames.length === 64)).toBe(true);
    await server.request(JSON.parse(modernLine("after", "tools/list")));
    expect(server.marks.map(([name]) => name)).not.toContain("wipe");
    expect(server.frames.some(({ message }) => message["id"] === 64)).toBe(false);
  });

  it("serves the legacy era to a client that sends everything at once", async () => {
    const server = start(hostile);
    const initialized = '{"jsonrpc":"2.0","method":"notifications/initialized"}';
    const lines = [legacyLine(0, "initialize", handshake), initialized, legacyLine(1, "tools/list")];
    await server.send([...lines, legacyLine(2, "resources/list"), legacyLine(3, "ping")].join("\n"));
    expect(await server.until(() => server.frames.length === 4)).toBe(true);
    expect(server.frames.every(({ message }) => "result" in message)).toBe(true);
  });
});

describe("unknown and unexposed members", () => {
  const pairs: readonly (readonly [method: string, known: object, unknown: object])[] = [
    ["tools/call", { name: "configure", arguments: {} }, { name: "confibure", arguments: {} }],
    ["tools/call", { name: "secrets", arguments: { a: 1 } }, { name: "zecrets", arguments: { a: 1 } }],
    ["resources/read", { uri: "app://secrets" }, { uri: "app://zecrets" }],
    ["resources/read", { uri: "app://configure" }, { uri: "app://confibure" }],
    ["resources/read", { uri: "app://secrets/token" }, { uri: "app://zecrets/token" }],
  ];
  /** An error about a resource names the URI that was asked for. */
  const blank = (line: string | undefined): string | undefined =>
    line?.replaceAll(/secrets|zecrets|configure|confibure/g, "…");

  it.each(["modern", "legacy"])("look the same in the %s era", async (era) => {
    const server = start(hostile);
    const write = era === "modern" ? modernLine : legacyLine;
    if (era === "legacy") await server.request(JSON.parse(legacyLine(0, "initialize", handshake)));
    for (const [method, known, unknown] of pairs) {
      const hidden = await server.request(JSON.parse(write(`${method} hidden`, method, known)));
      const absent = await server.request(JSON.parse(write(`${method} absent`, method, unknown)));
      expect(hidden?.message["error"]).toBeDefined();
      expect(blank(hidden?.line.replace("hidden", "absent"))).toBe(blank(absent?.line));
      server.frames.length = 0;
    }
    expect(server.marks).toEqual([]);
  });
});
