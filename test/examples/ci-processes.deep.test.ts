import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { appendFile, mkdir, mkdtemp, readFile, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";

import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { unixSocket } from "surface-mcp";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";

import { agent } from "../../examples/ci/agent-surface.ts";
import { ownState } from "../../examples/ci/own-state.ts";
import { pipeline } from "../../examples/ci/pipeline-surface.ts";
import { compileExample } from "./compile-examples.ts";
import { eventually, isRunning, ofProcesses, pidIn, removeFolder } from "./ci-support.ts";
import type { ScriptNode } from "./ci-support.ts";

const programOf = (name: string): string => compileExample(`ci/${name}.ts`);

let dir = "";
let state = "";
const children: ChildProcess[] = [];
const hosts: Client[] = [];
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "ci-processes-"));
  state = join(dir, "state");
});
afterEach(async () => {
  // The coordinator of a host ends with it, and writes until then.
  await Promise.all(hosts.splice(0).map((client) => client.close()));
  for (const child of children.splice(0)) child.kill("SIGKILL");
  await removeFolder(dir);
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
  const child = spawn(process.execPath, [programOf(name), ...args], { stdio: ["pipe", "pipe", "pipe"] });
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
  const [code] = await gone;
  return typeof code === "number" ? code : null;
}

describe("the coordinator", ofProcesses, () => {
  it("ends every command on SIGTERM without a verdict, and goes on when it is started again", async () => {
    const file = await fileOf({ ok: {}, deaf: { script: writePid("deaf") + DEAF, cwd: "{scratch}" } });
    const first = await coordinate(file);
    const before = await connect();
    await before["run.start"].call({ strict: false });
    await eventually(async () => ((await before.nodes.get()).nodes[0]?.status === "passed" ? true : undefined));
    const command = await pidIn(join(dir, "deaf"));
    await rm(join(dir, "deaf"));
    await appendFile(join(state, "scratch", "src", "basket.ts"), "// kept\n");
    const code = end(first, "SIGTERM");
    // While it waits for the deaf command, a second signal changes nothing.
    first.kill("SIGTERM");
    expect(await code).toBe(0);
    expect(isRunning(command)).toBe(false);
    expect((await readdir(state)).toSorted()).toEqual(["journal.jsonl", "runs", "scratch"]);
    expect((await stat(state)).mode & 0o777).toBe(0o700);

    const second = await coordinate(file);
    const client = await connect();
    expect(await client.current.get()).toEqual({ run: 1, active: true, strict: false });
    expect((await client.nodes.get()).nodes.map(({ starts }) => starts)).toEqual([1, 2]);
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
    expect((await client.nodes.get()).nodes.map(({ starts, attempt }) => [starts, attempt])).toEqual([
      [3, 1],
      [1, 1],
    ]);
    const lines = (await readFile(join(state, "journal.jsonl"), "utf8")).match(/"kind":"verdict"/g);
    expect(lines).toHaveLength(1);
  });

  it("serves what agents have beside everything, on the one socket", async () => {
    await coordinate(await fileOf({ a: {} }));
    const connection = await unixSocket(join(state, "pipeline.sock")).connect(agent);
    onTestFinished(() => connection.close());
    expect(Object.keys(connection.client)).not.toContain("run.configure");
    expect(await connection.client["run.start"].call({ strict: true })).toEqual({ run: 1 });
    expect(await connection.client.nodes.get()).toMatchObject({ run: 1, red: false });
    await expect(connection.client.log.latest({ node: "../a" })).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
  });

  it("refuses a state directory that another one owns, and leaves its commands alone", async () => {
    const file = await fileOf({ deaf: { script: writePid("deaf") + DEAF } });
    await coordinate(file);
    await (await connect())["run.start"].call({ strict: false });
    const command = await pidIn(join(dir, "deaf"));
    const second = start("coordinator", "--state", state, "--pipeline", file);
    const [stderr, [code]] = await Promise.all([text(second.stderr), once(second, "exit")]);
    expect({ code, stderr }).toEqual({ code: 3, stderr: expect.stringMatching(/owner\.sock/) });
    expect(isRunning(command)).toBe(true);
  });

  it("reads and writes nothing of a state directory while another one owns it", async () => {
    const file = await fileOf({ a: { cwd: "{scratch}" } });
    await mkdir(state, { mode: 0o700 });
    const owned = await ownState(state);
    onTestFinished(() => owned.release());
    // What a writer is in the middle of.
    await writeFile(join(state, "journal.jsonl"), `{"kind":"opened"`);
    const second = start("coordinator", "--state", state, "--pipeline", file);
    const [code] = await once(second, "exit");
    expect(code).toBe(3);
    expect((await readdir(state)).toSorted()).toEqual(["journal.jsonl", "owner.sock"]);
    expect(await readFile(join(state, "journal.jsonl"), "utf8")).toBe(`{"kind":"opened"`);
    await owned.release();
    expect(await end(await coordinate(file), "SIGTERM")).toBe(0);
  });

  it.each([
    ["its pipeline", ["--state", "STATE", "--pipeline", programOf("main")], /^read pipeline ".*main\.js": /],
    ["a missing option", [], /^Option '--state <value>' is missing/],
  ])("says what is wrong with %s on stderr alone, and ends with code 2", async (_what, args, words) => {
    const child = start("coordinator", ...args.map((arg) => arg.replace("STATE", state)));
    const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(words);
    expect(stderr).not.toMatch(/^\s+at /m);
  });
});

/** A host that has started a face by a command. */
async function host(file: string): Promise<Client> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [programOf("mcp"), "--state", state, "--pipeline", file, "--tied"],
    stderr: "ignore",
  });
  const client = new Client({ name: "host", version: "1.0.0" });
  hosts.push(client);
  await client.connect(transport);
  return client;
}

/** What a tool has answered, or the refusal's words. */
async function call(client: Client, name: string, args: Record<string, unknown> = {}): Promise<unknown> {
  const { structuredContent, content, isError } = await client.callTool({ name, arguments: args });
  return isError === true ? JSON.stringify(content) : structuredContent;
}

async function read(client: Client, uri: string): Promise<unknown> {
  const { contents } = await client.readResource({ uri });
  const [content] = contents;
  return content !== undefined && "text" in content ? JSON.parse(content.text) : undefined;
}

/** The coordinators that have owned the state, in the order in which they came. */
async function coordinators(): Promise<readonly number[]> {
  const journal = await readFile(join(state, "journal.jsonl"), "utf8");
  return [...journal.matchAll(/"kind":"opened","pid":(\d+)/g)].map(([, pid]) => Number(pid));
}

const gone = (pid: number): Promise<boolean> => eventually(() => (isRunning(pid) ? undefined : true));

describe("the face, started by a host,", ofProcesses, () => {
  it("starts the coordinator when an agent runs the pipeline and nothing is up, and takes it along", async () => {
    const client = await host(await fileOf({ a: { script: `console.log("said")` } }));
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain("run");
    expect(await call(client, "run")).toEqual({ run: 1, since: expect.any(String) });
    const [pid = 0, ...others] = await coordinators();
    expect([isRunning(pid), others]).toEqual([true, []]);
    await eventually(async () =>
      ((await read(client, "surface://agent/nodes")) as { active: boolean }).active ? undefined : true,
    );
    expect(await call(client, "run")).toMatchObject({ run: 2 });
    expect(await coordinators()).toEqual([pid]);
    await client.close();
    expect(await gone(pid)).toBe(true);
  });

  it("starts one coordinator and one run when two agents run the pipeline at once", async () => {
    const file = await fileOf({ forever: { script: "setInterval(() => {}, 1000)" } });
    const [one, other] = await Promise.all([host(file), host(file)]);
    const answers = await Promise.all([call(one, "run"), call(other, "run")]);
    const refused = answers.filter((answer) => typeof answer === "string");
    expect(answers.filter((answer) => typeof answer !== "string")).toEqual([{ run: 1, since: expect.any(String) }]);
    expect(refused).toEqual([expect.stringContaining("RUN_IN_PROGRESS")]);
    expect(await coordinators()).toHaveLength(1);
    expect(await read(one, "surface://agent/nodes")).toEqual(await read(other, "surface://agent/nodes"));
  });

  it("answers a log from the run's file and no verdict while the coordinator is gone, and goes on with the next", async () => {
    const gate = JSON.stringify(join(dir, "gate"));
    const script = `console.log("begun"); setInterval(() => fs.existsSync(${gate}) && process.exit(0), 5);`;
    const file = await fileOf({ quick: {}, slow: { script } });
    const client = await host(file);
    const { since } = (await call(client, "run")) as { since: string };
    const logOf = (source: string): Promise<unknown> =>
      eventually(async () => {
        const log = (await read(client, "surface://agent/log/slow")) as { source: string; text: string };
        return log.source === source && log.text.includes("begun") ? log : undefined;
      });
    await logOf("live");
    const [pid = 0] = await coordinators();
    process.kill(pid, "SIGKILL");
    await gone(pid);
    await logOf("file");
    // Half of it has been seen, and all that was seen has passed: nothing follows from that.
    expect(await call(client, "settled", { since, timeout_ms: 500 })).toMatchObject({ status: "timed_out" });
    await writeFile(join(dir, "gate"), "");
    const next = await coordinate(file);
    const wait = await call(client, "settled", { since, timeout_ms: 30_000 });
    expect(wait).toMatchObject({ status: "fired", occurrence: { run: 1, verdict: "green", at: "settled", passed: 2 } });
    await logOf("live");
    await end(next, "SIGTERM");
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain("run");
  });

  it("says on stderr alone which option is missing, and ends with code 2", async () => {
    const child = start("mcp");
    const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toBe("Option '--state <value>' is missing, and says where the state is kept\n");
  });
});

describe("the view", ofProcesses, () => {
  it("follows a run in plain lines where nobody runs it yet, and ends when it is told to", async () => {
    const view = start("view", "--state", state);
    let said = "";
    let faults = "";
    view.stdout.on("data", (bytes: Buffer) => (said += bytes.toString()));
    view.stderr.on("data", (bytes: Buffer) => (faults += bytes.toString()));
    await eventually(() => (faults.includes("\n") ? true : undefined));
    expect(faults).toBe(`waiting for a coordinator at ${state}\n`);
    const hears = (words: string): Promise<boolean> => eventually(() => (said.includes(words) ? true : undefined));
    const coordinator = await coordinate(await fileOf({ a: {} }));
    await hears("no run yet: 0 of 1 passed, running: nothing\n");
    await (await connect())["run.start"].call({ strict: false });
    await hears("run 1 is settled: 1 of 1 passed, running: nothing\n");
    await end(coordinator, "SIGTERM");
    await hears(": the coordinator does not answer: 1 of 1 passed");
    expect(await end(view, "SIGTERM")).toBe(0);
    expect(faults).toBe(`waiting for a coordinator at ${state}\n`);
  });

  it("says how it is called when it is not told where to look, and ends with code 2", async () => {
    const child = start("view");
    const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(/^Option '--state <value>' is missing.*\nUsage: npm run view -- --state DIR.*\n$/);
  });
});
