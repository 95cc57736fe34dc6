import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { afterEach, describe, expect, it } from "vitest";
import { root } from "../architecture/source.ts";

const tsx = import.meta.resolve("tsx");
const clientInfo = { name: "test", version: "1" };
const envelope = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
  "io.modelcontextprotocol/clientInfo": clientInfo,
};
const initialize = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
const servers: ChildProcessWithoutNullStreams[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) server.kill("SIGKILL");
});

interface Answer {
  readonly id: number;
  readonly result: Readonly<Record<string, unknown>>;
}

/** Starts a server from its source, asks one question after the other, and ends it by closing its input. */
async function ask(file: string, questions: readonly (readonly [method: string, params: object])[], ...args: string[]) {
  const server = spawn(process.execPath, ["--import", tsx, `bench/${file}`, ...args], { cwd: root });
  servers.push(server);
  const gone = once(server, "exit");
  const lines = createInterface({ input: server.stdout })[Symbol.asyncIterator]();
  const answers: Answer[] = [];
  for (const [id, [method, params]] of questions.entries()) {
    server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    const { value = "{}" } = await lines.next();
    answers.push(JSON.parse(value));
  }
  server.stdin.end();
  const [code] = await gone;
  return { answers, code };
}

const echo = { name: "echo", arguments: { text: "hi" } };
const big = {
  name: "big",
  arguments: { query: { text: "x", states: [] }, page: { number: 1, size: 9 }, newestFirst: true },
};

describe.each(["server.ts", "hand-written.ts"])("bench/%s", (file) => {
  it("answers initialize and what follows when it is started from its source", { timeout: 30_000 }, async () => {
    const { answers, code } = await ask(file, [
      ["initialize", initialize],
      ["tools/call", echo],
      ["tools/call", { name: "bump", arguments: {} }],
      ["resources/read", { uri: "surface://bench/counter" }],
    ]);
    expect(answers[0]).toMatchObject({ id: 0, result: { serverInfo: { name: "bench" } } });
    expect(answers[1]?.result["structuredContent"]).toEqual({ text: "hi" });
    expect(answers[2]?.result["structuredContent"]).toEqual({ counter: 1 });
    expect(answers[3]?.result["contents"]).toMatchObject([{ text: "1" }]);
    expect(code).toBe(0);
  });

  it("answers server/discover and what follows when it is started from its source", { timeout: 30_000 }, async () => {
    const { answers, code } = await ask(file, [
      ["server/discover", { _meta: envelope }],
      ["tools/call", { ...big, _meta: envelope }],
    ]);
    expect(answers[0]).toMatchObject({ id: 0, result: { supportedVersions: ["2026-07-28"] } });
    const size = JSON.stringify(answers[1]?.result["structuredContent"]).length;
    expect(size).toBeGreaterThan(9_500);
    expect(size).toBeLessThan(10_500);
    expect(code).toBe(0);
  });

  it("lists its own three tools and as many generated ones when --tools says so", { timeout: 30_000 }, async () => {
    const { answers } = await ask(
      file,
      [
        ["initialize", initialize],
        ["tools/list", {}],
      ],
      "--tools",
      "2",
    );
    const tools = answers[1]?.result["tools"];
    const names = Array.isArray(tools) ? tools.map((tool: { name: string }) => tool.name) : [];
    expect(names).toEqual(["big", "bump", "echo", "generated_0000", "generated_0001"]);
  });
});
