import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";

import { eventually, isRunning, pidIn } from "./ci-support.ts";
import type { ScriptNode } from "./ci-support.ts";

/** Upper bound on a hang: a start of two processes that compile what they load, on a machine that may be busy. */
const PATIENCE_MS = 60_000;

const server = fileURLToPath(new URL("../../examples/ci/server.ts", import.meta.url));
const main = fileURLToPath(new URL("../../examples/ci/main.ts", import.meta.url));
const compiler = createRequire(import.meta.url)
  .resolve("typescript/package.json")
  .replace("package.json", "bin/tsc");
const COMPLAINT =
  "src/basket.ts(10,62): error TS2551: Property 'cuont' does not exist on type 'BasketLine'. Did you mean 'count'?";

/** The example's own planted error, checked and then run, with a node before and one after. */
const SCRATCH_NODES: Readonly<Record<string, ScriptNode>> = {
  ok: {},
  scratch: { command: [process.execPath, compiler, "-p", ".", "--pretty", "false"], cwd: "{scratch}" },
  "scratch-run": { command: [process.execPath, "out/check.js"], cwd: "{scratch}", needs: ["scratch"] },
  last: { needs: ["ok", "scratch-run"] },
};

let dir = "";
const children: ChildProcess[] = [];
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "ci-main-"));
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

/** Temporary folders of this run go to a folder of the test's own, so that what is left behind can be seen. */
function start(...args: readonly string[]): ChildProcess {
  const child = spawn(process.execPath, ["--import", import.meta.resolve("tsx"), main, ...args], {
    env: { ...process.env, TMPDIR: dir },
    stdio: ["ignore", "pipe", "pipe"],
  });
  children.push(child);
  return child;
}

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

async function finish(child: ChildProcess): Promise<Ended> {
  if (!child.stdout || !child.stderr) throw new Error("the child has no output");
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
  return { code: typeof code === "number" ? code : null, stdout, stderr };
}

const drive = async (nodes: Readonly<Record<string, ScriptNode>>): Promise<Ended> =>
  finish(start("--pipeline", await fileOf(nodes)));

describe("npm start", { timeout: PATIENCE_MS }, () => {
  it("goes from red to green: it reads the log, fixes what the compiler names, and reruns the node and its dependents", async () => {
    const { code, stdout, stderr } = await drive(SCRATCH_NODES);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const said = [
      "template  surface://pipeline/log/{node}  reads",
      "run.configure is on the surface and has no tag",
      "there is no such tool",
      "run 1 is live",
      "run 1 is RED (at the first red node): scratch",
      "read surface://pipeline/log/scratch",
      "TS2551",
      "fix src/basket.ts:10: cuont becomes count",
      "node_rerun scratch: queued scratch, scratch-run, last",
      "run 1 is GREEN (settled)",
      "What changed",
      "scratch: failed -> passed, on attempt 2",
      "GREEN: every node has passed",
    ];
    const places = said.map((words) => stdout.indexOf(words));
    expect(said.filter((_, index) => places[index] === -1)).toEqual([]);
    expect(places).toEqual([...places].toSorted((a, b) => a - b));
    const attempts = [...stdout.matchAll(/^ +([a-z-]+) +passed +[\d.]+ s +(\d)/gm)].map(([, id, n]) => `${id} ${n}`);
    expect(attempts).toEqual(["ok 1", "scratch 2", "scratch-run 2", "last 2"]);
  });

  it("writes no control character into a pipe, whatever a log holds, and leaves no scratch copy behind", async () => {
    const loud = "console.log('\\u001b[31mred\\u001b[0m\\u0007 \\u009b1m'); process.exit(1)";
    const { code, stdout } = await drive({ ...SCRATCH_NODES, loud: { script: loud } });
    expect(code).toBe(1);
    // oxlint-disable-next-line no-control-regex -- control characters are what it is about
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
    expect(stdout.split("\n").length).toBeLessThan(70);
    expect((await readdir(dir)).filter((name) => name.startsWith("ci-"))).toEqual([]);
  });

  it("says that a log proposes no repair, and ends with code 1", async () => {
    const { code, stdout } = await drive({ boom: { script: "console.log('no such luck'); process.exit(7)" } });
    expect(code).toBe(1);
    expect(stdout).toContain("| no such luck");
    expect(stdout).toContain("It proposes no repair: the agent leaves boom red");
    expect(stdout).toContain("RED: boom failed, and the agent found nothing more to mend");
    expect(stdout).not.toContain("node_rerun boom");
  });

  it("takes the server's refusal for an answer when the red node is not in the scratch copy", async () => {
    const script = `console.log(${JSON.stringify(COMPLAINT)}); process.exit(1)`;
    const { code, stdout } = await drive({ other: { script }, after: { needs: ["other"] } });
    expect(code).toBe(1);
    expect(stdout).toContain("OUTSIDE_SCRATCH: ");
    expect(stdout).toContain("RED: other failed, and the agent found nothing more to mend; after could not run");
  });

  it("does not act on the same error twice", async () => {
    const script = `console.log(${JSON.stringify(COMPLAINT)}); process.exit(1)`;
    const { code, stdout } = await drive({ stubborn: { script, cwd: "{scratch}" } });
    expect(code).toBe(1);
    expect(stdout.match(/fix src\/basket\.ts:10/g)).toHaveLength(1);
    expect(stdout).toContain("It is the same error as before, and the agent leaves stubborn red");
  });

  it("mends the sample pipeline mend.json", async () => {
    const { code, stdout } = await finish(start("--pipeline", "examples/ci/pipelines/mend.json"));
    expect(code).toBe(0);
    expect(stdout).toContain("scratch: failed -> passed, on attempt 2");
  });

  it("ends at once when everything is green", async () => {
    const { code, stdout } = await finish(start("--pipeline", "examples/ci/pipelines/hello.json"));
    expect(code).toBe(0);
    expect(stdout).toContain('the pipeline "hello" over MCP (3 nodes)');
    expect(stdout).not.toMatch(/node_rerun hello|RED/);
  });
});

describe("npm start, told something it cannot do,", { timeout: PATIENCE_MS }, () => {
  it.each([
    ["an unknown flag", ["--fast"], /Unknown option '--fast'[^]*Usage: npm start/],
    ["an argument", ["pipeline.json"], /Unexpected argument 'pipeline.json'[^]*Usage: npm start/],
    ["a file that is not there", ["--pipeline", "/nowhere/x.json"], /^read pipeline "\/nowhere\/x.json": ENOENT/],
    ["a file that is no pipeline", ["--pipeline", main], /^read pipeline ".*main.ts": .*JSON/],
  ])("says so and ends with code 2 for %s", async (_what, args, words) => {
    const { code, stdout, stderr } = await finish(start(...args));
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(words);
    expect(stderr).not.toMatch(/^\s+at /m);
  });

  it("prints its usage and ends with code 0 for --help", async () => {
    const { code, stdout } = await finish(start("--help"));
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Usage: npm start -- \[--pipeline FILE\]/);
  });
});

describe("npm start, ended from outside,", { timeout: PATIENCE_MS }, () => {
  const pidFile = (): string => join(dir, "pid");
  const forever = (): ScriptNode => ({
    script: `fs.writeFileSync(${JSON.stringify(pidFile())}, process.pid + "\\n"); setInterval(() => {}, 1000);`,
  });
  const gone = (pid: number): Promise<boolean> => eventually(() => (isRunning(pid) ? undefined : true));
  const scratches = async (): Promise<readonly string[]> =>
    (await readdir(dir)).filter((name) => name.startsWith("ci-scratch-"));

  it.each([
    ["SIGTERM", 143],
    ["SIGINT", 130],
  ] as const)("ends the server and every command on %s", async (signal, expected) => {
    const child = start("--pipeline", await fileOf({ ...SCRATCH_NODES, forever: forever() }));
    const ended = finish(child);
    const pid = await pidIn(pidFile());
    child.kill(signal);
    const { code, stderr } = await ended;
    expect({ code, stderr }).toEqual({ code: expected, stderr: "" });
    expect(await gone(pid)).toBe(true);
    expect(await scratches()).toEqual([]);
  });

  it("leaves nothing behind when it is killed: the server ends with its input", async () => {
    const child = start("--pipeline", await fileOf({ ...SCRATCH_NODES, forever: forever() }));
    const pid = await pidIn(pidFile());
    child.kill("SIGKILL");
    expect(await gone(pid)).toBe(true);
    await eventually(async () => ((await scratches()).length === 0 ? true : undefined));
    expect(existsSync(pidFile())).toBe(true);
  });
});

describe("the server, started by a host,", { timeout: PATIENCE_MS }, () => {
  it("ends every command and deletes its scratch copy on SIGTERM", async () => {
    const pidFile = join(dir, "pid");
    const script = `process.on("SIGTERM", () => {}); fs.writeFileSync(${JSON.stringify(pidFile)}, process.pid + "\\n");`;
    const path = await fileOf({ ...SCRATCH_NODES, deaf: { script: `${script} setInterval(() => {}, 1000);` } });
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: ["--import", import.meta.resolve("tsx"), server, "--pipeline", path],
      env: { PATH: process.env["PATH"] ?? "", TMPDIR: dir },
    });
    const client = new Client({ name: "host", version: "1.0.0" });
    onTestFinished(() => client.close());
    await client.connect(transport);
    await client.callTool({ name: "run", arguments: { strict: false } });
    const command = await pidIn(pidFile);
    const { pid } = transport;
    if (pid === null) throw new Error("the server has no pid");
    process.kill(pid, "SIGTERM");
    process.kill(pid, "SIGTERM");
    await eventually(() => (isRunning(pid) ? undefined : true));
    expect(isRunning(command)).toBe(false);
    expect((await readdir(dir)).filter((name) => name.startsWith("ci-"))).toEqual([]);
  });

  it("says what is wrong with its pipeline on stderr alone, and ends with code 2", async () => {
    const child = spawn(process.execPath, ["--import", import.meta.resolve("tsx"), server, "--pipeline", main], {
      stdio: ["pipe", "pipe", "pipe"],
    });
    children.push(child);
    const { code, stdout, stderr } = await finish(child);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(/^read pipeline ".*main\.ts": /);
  });
});
