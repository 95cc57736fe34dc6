import { lstat, mkdir, mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { bundleScript } from "../fixtures/bundle-script.ts";
import { handshake, legacyLine, modernLine } from "../fixtures/envelope.ts";
import { socketPath, SocketReader, startInspected, untilListening } from "../fixtures/inspected-process.ts";
import type { ServerProcess } from "../fixtures/server-process.ts";
import { atEndOfTest } from "../setup/end-of-test.ts";

const script = fileURLToPath(new URL("fixtures/inspected.mjs", import.meta.url));

const call = (id: number | string, name: string, args: object = {}): string =>
  modernLine(id, "tools/call", { name, arguments: args });

async function open(): Promise<{ server: ServerProcess; path: string; reader: SocketReader }> {
  const path = await socketPath();
  const server = startInspected(script, path);
  await untilListening(server);
  return { server, path, reader: await SocketReader.open(path) };
}

async function isServing(server: ServerProcess): Promise<boolean> {
  await server.send(call("serves", "echo", { text: "x" }));
  return server.until(() => server.frames.some(({ message }) => message["id"] === "serves"));
}

const malformed: readonly (readonly [what: string, line: string | Buffer])[] = [
  ["no JSON", "hello"],
  ["an empty line", ""],
  ["a list", "[]"],
  ["no id", '{"do":"exposure","with":{}}'],
  ["an unknown request", '{"id":1,"do":"decide","with":{"approval":"a","agree":true}}'],
  ["a name of Object", '{"id":1,"do":"constructor","with":{}}'],
  ["an unknown field", '{"id":1,"do":"exposure","with":{"x":1}}'],
  ["a wrong type", '{"id":1,"do":"history","with":{"limit":"1"}}'],
  ["no fields", '{"id":1,"do":"cancel"}'],
  ["a long line", `{"id":1,"do":"${"x".repeat(64 * 1024)}"}`],
  ["a deep line", "[".repeat(30_000)],
  ["bytes that are not UTF-8", Buffer.from([0x22, 0xff, 0x22])],
];

describe("SURFACE_MCP_INSPECT", { timeout: 90_000 }, () => {
  it.each([
    [
      "2025-11-25",
      [legacyLine(1, "initialize", handshake), legacyLine(2, "tools/call", { name: "echo", arguments: { text: "a" } })],
    ],
    ["2026-07-28", [modernLine(1, "tools/list"), call(2, "echo", { text: "a" })]],
  ])("shows a client of %s from its first request on", async (protocol, lines) => {
    const path = await socketPath();
    const server = startInspected(script, path);
    // Before it listens.
    await server.send(lines.join("\n"));
    await untilListening(server);
    const reader = await SocketReader.open(path);
    await reader.until(() => reader.tools.includes("echo"));
    const later = await SocketReader.open(path);
    expect(later.lines[0]?.version).toBe(1);
    expect(later.snapshots[0]).toMatchObject({
      app: { name: "hostile", version: "1.0.0", approve: false, values: false },
      history: [{ seq: 1 }, { seq: 2, name: "echo", outcome: "ok" }],
    });
    expect(later.snapshots[0]?.clients.rows).toMatchObject([{ transport: "stdio", protocol }]);
    await server.send(call(3, "pick", { n: 1 }));
    await reader.until(() => reader.tools.includes("pick"));
    expect(JSON.stringify([reader.lines, later.lines])).not.toMatch(/"arguments"|"result"/);
    expect(server.frames.map(({ message }) => message["id"])).toEqual([1, 2, 3]);
    expect(server.noise).toEqual([]);
  });

  it("answers requests of pages, also while a call runs", async () => {
    const { server, reader } = await open();
    await server.send(call(1, "slow", { ms: 60_000 }));
    const running = (): string | undefined =>
      reader.updates.findLast(({ calls }) => calls !== undefined)?.calls?.rows[0]?.id;
    await reader.until(() => running() !== undefined);
    expect(await reader.request("exposure", {})).toMatchObject({ views: [{ name: "default" }] });
    expect(await reader.request("entry", { id: "echo", kind: "tool" })).toMatchObject({ id: "echo" });
    expect(await reader.request("entry", { id: "absent" })).toBeUndefined();
    expect(await reader.request("cancel", { call: "absent" })).toBe(false);
    expect(await reader.request("cancel", { call: running() })).toBe(true);
    await reader.until(() => reader.tools.includes("slow"));
    expect(await reader.request("history", { tool: "slow", outcome: "cancelled" })).toMatchObject({
      rows: [{ name: "slow", outcome: "cancelled" }],
    });
    expect(server.marks.map(([name]) => name)).toContain("slow aborted");
  });

  it("opens the socket for its user alone, and removes it at the end", async () => {
    const { server, path, reader } = await open();
    expect((await lstat(path)).mode & 0o777).toBe(0o600);
    expect((await lstat(dirname(path))).mode & 0o777).toBe(0o700);
    server.child.stdin.end();
    expect(await server.end()).toBe(0);
    await reader.until(() => reader.isClosed);
    await expect(lstat(path)).rejects.toThrow("ENOENT");
  });

  it("replaces the socket of a killed server", async () => {
    const first = await open();
    await first.server.kill();
    expect((await lstat(first.path)).isSocket()).toBe(true);
    const server = startInspected(script, first.path);
    await untilListening(server);
    const reader = await SocketReader.open(first.path);
    expect(reader.snapshots[0]?.app.instance).not.toBe(first.reader.snapshots[0]?.app.instance);
  });

  it("serves agents without a page while another server has the socket", async () => {
    const { path, reader } = await open();
    const second = startInspected(script, path);
    expect(await isServing(second)).toBe(true);
    expect(await second.until(() => second.stderr.includes("another process already listens there"))).toBe(true);
    second.child.stdin.end();
    expect(await second.end()).toBe(0);
    expect(reader.isClosed).toBe(false);
    expect((await SocketReader.open(path)).snapshots[0]?.app.instance).toBe(reader.snapshots[0]?.app.instance);
  });

  it("serves agents without a page where the socket cannot be opened", async () => {
    const folder = await mkdtemp(join(tmpdir(), "live-"));
    atEndOfTest(() => rm(folder, { recursive: true, force: true }));
    await mkdir(join(folder, "open"), { mode: 0o755 });
    for (const [path, words] of [
      [join(folder, "open", "page.sock"), "it must be a private directory of this user"],
      [join(folder, "x".repeat(200)), "its path has"],
      ["/proc/live/page.sock", "the system refused it"],
    ] as const) {
      const server = startInspected(script, path);
      expect(await isServing(server)).toBe(true);
      expect(await server.until(() => server.stderr.includes(words))).toBe(true);
      expect(server.noise).toEqual([]);
    }
  });

  it("replaces no file that is not a socket", async () => {
    const path = await socketPath();
    await mkdir(path, { recursive: true, mode: 0o700 });
    const server = startInspected(script, path);
    expect(await isServing(server)).toBe(true);
    expect(await server.until(() => server.stderr.includes("is not a socket"))).toBe(true);
    expect((await lstat(path)).isDirectory()).toBe(true);
  });

  it("tells two pages the same", async () => {
    const { server, path, reader } = await open();
    const second = await SocketReader.open(path);
    await server.send(call(1, "echo", { text: "a" }));
    await Promise.all([reader, second].map((each) => each.until(() => each.tools.includes("echo"))));
    reader.socket.destroy();
    await server.send(call(2, "pick", { n: 1 }));
    await second.until(() => second.tools.includes("pick"));
    expect(reader.tools).not.toContain("pick");
  });

  it("serves sixteen pages, and cuts the seventeenth", async () => {
    const { path } = await open();
    for (let count = 2; count <= 16; count += 1) await SocketReader.open(path);
    const last = new SocketReader(path);
    await last.until(() => last.isClosed);
    expect(last.lines).toEqual([]);
  });

  it("sends a page that did not read a new snapshot, and keeps no updates for it", async () => {
    const { server, reader } = await open();
    reader.socket.pause();
    // Answers fill the buffers of the connection, and updates find it full.
    for (let id = 1; id <= 400; id += 1) reader.socket.write(`{"id":${id},"do":"exposure","with":{}}\n`);
    const calls = Array.from({ length: 200 }, (_none, id) => call(id, "echo", { text: "x".repeat(1000) }));
    await server.send(calls.join("\n"));
    await server.until(() => server.frames.length === 200);
    await new Promise((resolve) => setTimeout(resolve, 600));
    const { length } = reader.snapshots;
    reader.socket.resume();
    await reader.until(() => reader.snapshots.length > length);
    await reader.until(() => reader.lines.filter(({ id }) => id !== undefined).length === 400);
    expect(reader.snapshots.at(-1)?.history).toHaveLength(100);
  });

  it("keeps standard output clean while a handler floods it and a page does not read", async () => {
    const { server, reader } = await open();
    reader.socket.pause();
    const calls = Array.from({ length: 300 }, (_none, id) => call(id, "chatty"));
    await server.send(calls.join("\n"));
    expect(await server.until(() => server.frames.length === 300)).toBe(true);
    expect(server.noise).toEqual([]);
    expect(server.frames.map(({ message }) => message["error"])).toEqual(calls.map(() => undefined));
  });

  it("ends the connection of a page that sends a malformed line, and of no other", async () => {
    const { server, path, reader: other } = await open();
    for (const [what, line] of malformed) {
      const reader = await SocketReader.open(path);
      reader.socket.write(line);
      reader.socket.write('\n{"id":7,"do":"exposure","with":{}}\n');
      await reader.until(() => reader.isClosed);
      expect([what, ...reader.lines.filter(({ id }) => id !== undefined)]).toEqual([what]);
    }
    expect(await isServing(server)).toBe(true);
    await other.until(() => other.tools.includes("echo"));
  });

  it("keeps no answers for a page that asks and does not read", async () => {
    const { server, reader } = await open();
    reader.socket.pause();
    // All answers have a gigabyte.
    for (let id = 1; id <= 80_000; id += 1) reader.socket.write(`{"id":${id},"do":"exposure","with":{}}\n`);
    await new Promise((resolve) => setTimeout(resolve, 3000));
    expect(await isServing(server)).toBe(true);
    expect(server.peakRssMB).toBeLessThan(180);
  });

  it("ends the connection of a page that sends a line without an end", async () => {
    const { reader } = await open();
    reader.socket.write("x".repeat(64 * 1024));
    await reader.until(() => reader.isClosed);
    expect(reader.updates).toEqual([]);
  });

  it("opens nothing without the variable, or with an empty one", async () => {
    const server = startInspected(script, "");
    expect(await isServing(server)).toBe(true);
    expect(server.stderr).not.toContain("live page");
  });

  it("serves agents without a page from a bundle", async () => {
    const bundled = await bundleScript(new URL("../fixtures/hostile.ts", import.meta.url), "socket-hostile");
    const server = startInspected(bundled, await socketPath());
    expect(await isServing(server)).toBe(true);
    expect(server.stderr).toBe("surface-mcp: Cannot serve the live page: do not bundle it (ERR_MODULE_NOT_FOUND)\n");
  });

  it("takes the place of a listener that has ended", async () => {
    const path = await socketPath();
    await mkdir(dirname(path), { mode: 0o700 });
    const listener = createServer();
    await new Promise<void>((resolve) => listener.listen(path, resolve));
    const server = startInspected(script, path);
    expect(await server.until(() => server.stderr.includes("already listens"))).toBe(true);
    await new Promise((resolve) => listener.close(resolve));
    const next = startInspected(script, path);
    await untilListening(next);
  });
});
