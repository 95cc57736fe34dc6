import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { appendFile, mkdtemp, readFile, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { unixSocket } from "surface-mcp";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";

import { pipeline } from "../../examples/ci/pipeline-surface.ts";
import { eventually, isRunning, pidIn } from "./ci-support.ts";
import type { ScriptNode } from "./ci-support.ts";

/** Upper bound on a hang: processes that compile what they load, on a machine that may be busy. */
const PATIENCE_MS = 60_000;

const tsx = ["--import", import.meta.resolve("tsx")];
const programOf = (name: string): string => fileURLToPath(new URL(`../../examples/ci/${name}.ts`, import.meta.url));

let dir = "";
let state = "";
const children: ChildProcess[] = [];
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "ci-processes-"));
  state = join(dir, "state");
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  await rm(dir, { recursive: true, force: true });
});

async function fileOf(nodes: Readonly<Record<string, ScriptNode>>): Promise<string> {
  const entries = Object.entries(nodes).map(([id, { script, ...rest }]) => [
    id,
    { command: [process.execPath, "-e", script ?? ""], ...rest },
  ]);
  const path = join(dir, "pipeline.json");
  await writeFile(path, JSON.stringify({ name: "sample", nodes: Object.fromEntries(entries) }));
  return path;
}

function start(name: string, ...args: readonly string[]) {
  const child = spawn(process.execPath, [...tsx, programOf(name), ...args], { stdio: ["pipe", "pipe", "pipe"] });
  children.push(child);
  return child;
}

/** Starts a coordinator; resolves once it listens. */
async function coordinate(file: string): Promise<ChildProcess> {
  const child = start("coordinator", "--state", state, "--pipeline", file);
  await once(createInterface({ input: child.stdout }), "line");
  return child;
}

async function connect() {
  const connection = await unixSocket(join(state, "pipeline.sock")).connect(pipeline);
  onTestFinished(() => connection.close());
  return connection.client;
}

const DEAF = `process.on("SIGTERM", () => {}); setInterval(() => {}, 1000);`;
const writePid = (name: string): string => `fs.writeFileSync(${JSON.stringify(join(dir, name))}, process.pid + "\\n");`;

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  const gone = once(child, "exit");
  child.kill(signal);
  child.kill(signal);
  const [code] = await gone;
  return typeof code === "number" ? code : null;
}

describe("the coordinator", { timeout: PATIENCE_MS }, () => {
  it("ends every command on SIGTERM without a verdict, and goes on when it is started again", async () => {
    const file = await fileOf({ ok: {}, deaf: { script: writePid("deaf") + DEAF, cwd: "{scratch}" } });
    const first = await coordinate(file);
    const before = await connect();
    await before["run.start"].call({ strict: false });
    await eventually(async () => ((await before.nodes.get())[0]?.status === "passed" ? true : undefined));
    const command = await pidIn(join(dir, "deaf"));
    await rm(join(dir, "deaf"));
    await appendFile(join(state, "scratch", "src", "basket.ts"), "// kept\n");
    expect(await end(first, "SIGTERM")).toBe(0);
    expect(isRunning(command)).toBe(false);
    expect((await readdir(state)).toSorted()).toEqual(["journal.jsonl", "scratch"]);
    expect((await stat(state)).mode & 0o777).toBe(0o700);

    const second = await coordinate(file);
    const client = await connect();
    expect(await client.current.get()).toEqual({ run: 1, active: true, strict: false });
    expect((await client.nodes.get()).map(({ starts }) => starts)).toEqual([1, 2]);
    expect(await readFile(join(state, "scratch", "src", "basket.ts"), "utf8")).toMatch(/\/\/ kept\n$/);
    const again = await pidIn(join(dir, "deaf"));
    expect(await end(second, "SIGINT")).toBe(0);
    expect(isRunning(again)).toBe(false);
  });

  it("goes on after SIGKILL, also when it is killed again while it does", async () => {
    const gate = JSON.stringify(join(dir, "gate"));
    const script = `fs.appendFileSync(${JSON.stringify(join(dir, "ran"))}, "x"); setInterval(() => fs.existsSync(${gate}) && process.exit(0), 5);`;
    const file = await fileOf({ slow: { script }, after: { needs: ["slow"] } });
    let coordinator = await coordinate(file);
    await (await connect())["run.start"].call({ strict: false });
    for (const ran of ["x", "xx"]) {
      await eventually(async () =>
        (await readFile(join(dir, "ran"), "utf8").catch(() => "")) === ran ? true : undefined,
      );
      await end(coordinator, "SIGKILL");
      coordinator = await coordinate(file);
    }
    await writeFile(join(dir, "gate"), "");
    const client = await connect();
    const verdict = await client.settled.wait(undefined, { timeoutMs: 30_000 });
    expect(verdict.occurrence).toMatchObject({ run: 1, number: 1, verdict: "green" });
    expect((await client.nodes.get()).map(({ starts, attempt }) => [starts, attempt])).toEqual([
      [3, 1],
      [1, 1],
    ]);
    const lines = (await readFile(join(state, "journal.jsonl"), "utf8")).match(/"kind":"verdict"/g);
    expect(lines).toHaveLength(1);
  });

  it("refuses a state directory that another one owns, and leaves its commands alone", async () => {
    const file = await fileOf({ deaf: { script: writePid("deaf") + DEAF } });
    await coordinate(file);
    await (await connect())["run.start"].call({ strict: false });
    const command = await pidIn(join(dir, "deaf"));
    const second = start("coordinator", "--state", state, "--pipeline", file);
    const [stderr, [code]] = await Promise.all([text(second.stderr), once(second, "exit")]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(/pipeline\.sock/) });
    expect(isRunning(command)).toBe(true);
  });

  it.each([
    ["its pipeline", ["--state", "STATE", "--pipeline", programOf("main")], /^read pipeline ".*main\.ts": /],
    ["a missing option", [], /^Option '--state <value>' is missing/],
  ])("says what is wrong with %s on stderr alone, and ends with code 2", async (_what, args, words) => {
    const child = start("coordinator", ...args.map((arg) => arg.replace("STATE", state)));
    const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(words);
    expect(stderr).not.toMatch(/^\s+at /m);
  });
});

describe("the face, started by a host,", { timeout: PATIENCE_MS }, () => {
  it("is there before the coordinator is, and outlives it", async () => {
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [...tsx, programOf("mcp"), "--state", state],
      stderr: "ignore",
    });
    const client = new Client({ name: "host", version: "1.0.0" });
    onTestFinished(() => client.close());
    await client.connect(transport);
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain("run");
    const file = await fileOf({ a: {} });
    let coordinator = await coordinate(file);
    await eventually(async () => {
      const started = await client.callTool({ name: "run", arguments: {} });
      return started.isError === true ? undefined : true;
    });
    await end(coordinator, "SIGKILL");
    coordinator = await coordinate(file);
    const { contents } = await client.readResource({ uri: "surface://pipeline/current" });
    expect(contents).toEqual([expect.objectContaining({ text: expect.stringContaining('"run":1') })]);
    await end(coordinator, "SIGTERM");
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain("run");
  });

  it("says on stderr alone which option is missing, and ends with code 2", async () => {
    const child = start("mcp");
    const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toBe("Option '--state <value>' is missing, and says where the state is kept\n");
  });
});
