import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, readdir, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";

import { compileExample } from "./compile-examples.ts";
import { eventually, isRunning, ofProcesses, pidIn, removeFolder } from "./ci-support.ts";
import type { ScriptNode } from "./ci-support.ts";

const main = compileExample("ci/main.ts");
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

/** Temporary folders go here, so that what is left behind can be seen; one for all, since it caches what is compiled. */
let temporary = "";
let dir = "";
const children: ChildProcess[] = [];
beforeAll(async () => {
  temporary = await mkdtemp(join(tmpdir(), "ci-main-"));
});
beforeEach(async () => {
  dir = join(temporary, "test");
  await mkdir(dir);
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  await removeFolder(dir);
});
afterAll(() => removeFolder(temporary));

async function fileOf(nodes: Readonly<Record<string, ScriptNode>>): Promise<string> {
  const entries = Object.entries(nodes).map(([id, { script, ...rest }]) => [
    id,
    { command: [process.execPath, "-e", script ?? ""], ...rest },
  ]);
  const path = join(dir, "pipeline.json");
  await writeFile(path, JSON.stringify({ name: "sample", nodes: Object.fromEntries(entries) }));
  return path;
}

function start(...args: readonly string[]): ChildProcess {
  const child = spawn(process.execPath, [main, ...args], {
    env: { ...process.env, TMPDIR: temporary },
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

const drive = async (nodes: Readonly<Record<string, ScriptNode>>, ...args: readonly string[]): Promise<Ended> =>
  finish(start("--pipeline", await fileOf(nodes), ...args));

/** What a run has left behind, apart from what is compiled. */
const leftovers = async (): Promise<readonly string[]> =>
  (await readdir(temporary)).filter((name) => name.startsWith("ci-"));

/** A node that notes that it was run before it does anything else. */
const noting = (id: string, script = ""): string =>
  `fs.appendFileSync(${JSON.stringify(join(dir, "ran"))}, "${id} "); ${script}`;

describe("npm run demo:ci", ofProcesses, () => {
  it("goes from red to green: it reads the log, fixes what the compiler names, and reruns the node and its dependents", async () => {
    const { code, stdout, stderr } = await drive(SCRATCH_NODES, "--no-kill");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const said = [
      "coordinator  nobody yet",
      "template  surface://agent/log/{node}  reads",
      "run.start is for the coordinator's owner, and not listed",
      "there is no such tool",
      "run.configure is for the coordinator's owner, and not listed",
      "read surface://agent/nodes:",
      "UNAVAILABLE: ",
      "is up: the face has started it",
      "run 1 is live",
      "run 1 is RED (at the first red node): scratch",
      "read surface://agent/log/..%2F..%2F..%2F..%2Fetc%2Fpasswd: refused",
      "Resource not found",
      "read surface://agent/log/scratch",
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
    const rows = [...stdout.matchAll(/^ +([a-z-]+) +passed +[\d.]+ s +(\d) +(\d)/gm)];
    const attempts = rows.map(([, id, tries, runs]) => `${id} ${tries} ${runs}`);
    expect(attempts).toEqual(["ok 1 1", "scratch 2 2", "scratch-run 2 1", "last 2 1"]);
    expect(stdout).toMatch(/twice +scratch: rerun by the agent once/);
  });

  it("says why it leaves each red node red, ends with code 1, and leaves no directory behind", async () => {
    const complain = `console.log(${JSON.stringify(COMPLAINT)}); process.exit(1)`;
    const loud = "console.log('no such luck \\u001b[31mred\\u001b[0m\\u0007 \\u009b1m'); process.exit(7)";
    const { code, stdout } = await drive(
      {
        boom: { script: loud },
        other: { script: complain },
        stubborn: { script: complain, cwd: "{scratch}" },
        after: { needs: ["other"] },
      },
      "--no-kill",
      "--keep-going",
    );
    expect(code).toBe(1);
    expect(stdout).toContain("| no such luck");
    expect(stdout).toContain("It proposes no repair: the agent leaves boom red");
    expect(stdout).not.toContain("node_rerun boom");
    expect(stdout).toContain("OUTSIDE_SCRATCH: ");
    expect(stdout).not.toContain("node_rerun other");
    expect(stdout.match(/fix src\/basket\.ts:10: cuont becomes count/g)).toHaveLength(1);
    expect(stdout).toContain("It is the same error as before, and the agent leaves stubborn red");
    const end = "RED: boom, other, stubborn failed, and the agent found nothing more to mend; after could not run";
    expect(stdout).toContain(end);
    // oxlint-disable-next-line no-control-regex -- control characters are what it is about
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
    expect(stdout.split("\n").length).toBeLessThan(120);
    expect(await leftovers()).toEqual([]);
  });

  it("mends the sample pipeline mend.json", async () => {
    const { code, stdout } = await finish(start("--pipeline", "examples/ci/pipelines/mend.json"));
    expect(code).toBe(0);
    expect(stdout).toContain("scratch: failed -> passed, on attempt 2");
    expect(stdout).toMatch(/run 1 +started once/);
  });

  it("ends at once when everything is green", async () => {
    const { code, stdout } = await finish(start("--pipeline", "examples/ci/pipelines/hello.json", "--no-kill"));
    expect(code).toBe(0);
    expect(stdout).toContain("outage    none: nobody was killed");
    expect(stdout).toContain('the pipeline "hello" over MCP (3 nodes)');
    expect(stdout).not.toMatch(/node_rerun hello|RED/);
  });
});

describe("npm run demo:ci, in the middle of which the coordinator is killed,", ofProcesses, () => {
  /** The figures of a line such as `842 (410 before the kill, 31 in the outage, 401 after)`. */
  const figuresOf = (line: RegExp, said: string): readonly number[] => (line.exec(said) ?? []).slice(1).map(Number);

  it("answers every read, announces the last value, starts the run once, and runs again only what was cut off", async () => {
    const [first, second] = [join(dir, "first"), join(dir, "second")].map((path) => JSON.stringify(path));
    // Deaf to anything but SIGKILL, and endless unless it is started again.
    const slow = `process.on("SIGTERM", () => {}); const again = fs.existsSync(${first});
      fs.writeFileSync(again ? ${second} : ${first}, process.pid + "\\n");
      setInterval(() => console.log("goes on"), 100);
      if (again) setTimeout(() => process.exit(), 300);`;
    // The kill waits for something to have ended: on a busy machine it would come before the other has begun, and before
    // somebody watches.
    const quick = `const look = setInterval(() => {
      if (!fs.existsSync(${first})) return;
      clearInterval(look);
      setTimeout(() => { ${noting("quick")} }, 3000);
    }, 10);`;
    const running = drive({
      quick: { script: quick },
      slow: { script: slow },
      last: { script: noting("last"), needs: ["quick", "slow"] },
    });
    const cut = await pidIn(join(dir, "first"));
    await pidIn(join(dir, "second"));
    expect(isRunning(cut)).toBe(false);
    const { code, stdout, stderr } = await running;
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect((await readFile(join(dir, "ran"), "utf8")).trim()).toBe("quick last");

    const pids = [/coordinator (\d+) is up/, /^ +agent +(\d+) /m, /^ +face +(\d+) /m].flatMap((line) =>
      figuresOf(line, stdout),
    );
    const [killed, started] = figuresOf(
      /SIGKILL to coordinator (\d+); running then: slow\n[^]* restarted as coordinator (\d+) /,
      stdout,
    );
    expect([pids.length, killed]).toEqual([3, pids[0]]);
    expect(new Set([...pids, started]).size).toBe(4);
    expect([...pids, started ?? 0].map(isRunning)).toEqual([false, false, false, false]);

    const reads = / +reads +\d+ \((\d+) before the kill, (\d+) in the outage, (\d+) after\), 0 failed/;
    expect(figuresOf(reads, stdout).map((figure) => figure > 0)).toEqual([true, true, true]);
    for (const uri of ["nodes", "log/slow"]) {
      const notices = new RegExp(`of surface://agent/${uri} \\((\\d+) before .* (\\d+) after\\), last value announced`);
      const [before, after] = figuresOf(notices, stdout);
      expect([before, after].map((figure = 0) => figure > 0)).toEqual([true, true]);
    }
    expect(stdout).toMatch(
      /read surface:\/\/agent\/log\/slow, the coordinator being away: from the run's file\n +\| .+\n/,
    );
    expect(stdout).toContain("run 1     started once, settled once");
    expect(stdout).toMatch(/once +quick, last\n +twice +slow: cut off by the kill once\n/);
    expect(stdout.match(/run 1 is live$/gm)).toHaveLength(1);
    expect(stdout.match(/is GREEN \(settled\)/g)).toHaveLength(1);
    expect(await leftovers()).toEqual([]);
  });

  it("keeps its state where it is told to, and begins the next run there", async () => {
    const state = join(dir, "state");
    const nodes = { a: { script: noting("a") } };
    expect((await drive(nodes, "--state", state, "--no-kill")).code).toBe(0);
    const { code, stdout } = await drive(nodes, "--state", state, "--no-kill");
    expect(code).toBe(0);
    expect(stdout).toContain("run 2 is live");
    expect(stdout).toContain("run 2     started once, settled once");
    const other = await drive({ b: {} }, "--state", state);
    expect(other).toMatchObject({ code: 2, stderr: expect.stringMatching(/^start a run: COORDINATOR_FAILED: /) });
    expect(other.stdout).toContain("it is of another pipeline than");
  });
});

describe("npm run demo:ci, told something it cannot do,", ofProcesses, () => {
  it.each([
    ["an unknown flag", ["--fast"], /Unknown option '--fast'[^]*Usage: npm run demo:ci/],
    ["an argument", ["pipeline.json"], /Unexpected argument 'pipeline.json'[^]*Usage: npm run demo:ci/],
    ["a file that is not there", ["--pipeline", "/nowhere/x.json"], /^read pipeline "\/nowhere\/x.json": ENOENT/],
    ["a file that is no pipeline", ["--pipeline", main], /^read pipeline ".*main.js": [^]*JSON/],
  ])("says so and ends with code 2 for %s", async (_what, args, words) => {
    const { code, stdout, stderr } = await finish(start(...args));
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(words);
    expect(stderr).not.toMatch(/^\s+at /m);
  });

  it("prints its usage and ends with code 0 for --help", async () => {
    const { code, stdout } = await finish(start("--help"));
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Usage: npm run demo:ci -- \[--pipeline FILE\]/);
  });
});

describe("npm run demo:ci, ended from outside,", ofProcesses, () => {
  const pidFile = (): string => join(dir, "pid");
  const forever = (): ScriptNode => ({
    script: `fs.writeFileSync(${JSON.stringify(pidFile())}, process.pid + "\\n"); setInterval(() => {}, 1000);`,
  });
  const gone = (pid: number): Promise<boolean> => eventually(() => (isRunning(pid) ? undefined : true));

  it.each([
    ["SIGTERM", 143],
    ["SIGINT", 130],
  ] as const)("ends every process and every command on %s", async (signal, expected) => {
    const child = start("--pipeline", await fileOf({ ...SCRATCH_NODES, forever: forever() }));
    const ended = finish(child);
    const pid = await pidIn(pidFile());
    child.kill(signal);
    const { code, stderr } = await ended;
    expect({ code, stderr }).toEqual({ code: expected, stderr: "" });
    expect(await gone(pid)).toBe(true);
    expect(await leftovers()).toEqual([]);
  });

  it("leaves nothing behind when it is killed: the coordinator ends with its input", async () => {
    const child = start("--no-kill", "--pipeline", await fileOf({ ...SCRATCH_NODES, forever: forever() }));
    const pid = await pidIn(pidFile());
    child.kill("SIGKILL");
    expect(await gone(pid)).toBe(true);
    await eventually(async () => ((await leftovers()).length === 0 ? true : undefined));
    expect(existsSync(pidFile())).toBe(true);
  });
});
