import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { createEngine } from "../../examples/ci/engine/engine.ts";
import { collect, eventually, isRunning, nextVerdict, pidIn, pipelineOf, rigOf, removeFolder } from "./ci-support.ts";

let dir = "";
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "ci-test-"));
});
afterEach(() => removeFolder(dir));

const quoted = (name: string): string => JSON.stringify(join(dir, name));
const writePid = (name: string): string => `fs.writeFileSync(${quoted(name)}, process.pid + "\\n");`;
const waitForFile = (name: string): string =>
  `setInterval(() => fs.existsSync(${quoted(name)}) && process.exit(0), 5);`;
const passOnceExists = (name: string): string => `process.exit(fs.existsSync(${quoted(name)}) ? 0 : 3);`;
const FOREVER = "setInterval(() => {}, 1000);";
const DEAF = `process.on("SIGTERM", () => {});${FOREVER}`;
const spawnChild = (script: string): string =>
  `require("node:child_process").spawn(process.execPath, ["-e", ${JSON.stringify(script)}], { stdio: "inherit" });`;

describe("engine.start()", () => {
  it("runs a node only after all its needs have passed, and settles green", async () => {
    const note = (id: string): string => `fs.appendFileSync(${quoted("order")}, "${id} ");`;
    const rig = rigOf({
      last: { script: note("last"), needs: ["left", "right"] },
      left: { script: note("left"), needs: ["first"] },
      right: { script: note("right"), needs: ["first"] },
      first: { script: note("first") },
    });
    const settled = rig.settled();
    expect(rig.engine.start()).toEqual({ run: 1 });
    expect(rig.engine.current.get()).toEqual({ run: 1, active: true, strict: false });
    expect(await settled).toMatchObject({ run: 1, verdict: "green", at: "settled", red: [], passed: 4, failed: 0 });
    const order = (await readFile(join(dir, "order"), "utf8")).trim().split(" ");
    expect([order[0], order[3]]).toEqual(["first", "last"]);
    expect(rig.engine.current.get()).toEqual({ run: 1, active: false, strict: false });
    expect(rig.stateOf("last")).toMatchObject({ status: "passed", exitCode: 0, attempt: 1, needs: ["left", "right"] });
    expect(Date.parse(rig.stateOf("last").startedAt ?? "")).toBeGreaterThan(0);
    expect(rig.verdicts).toHaveLength(1);
  });

  it("runs two nodes at once and never a third when parallel is left at its default", async () => {
    const meet = (own: string, other: string): string => `fs.writeFileSync(${quoted(own)}, ""); ${waitForFile(other)}`;
    const rig = rigOf({ a: { script: meet("a", "b") }, b: { script: meet("b", "a") }, c: {}, d: {} });
    let most = 0;
    rig.engine.nodes.subscribe((states) => {
      most = Math.max(most, states.filter((state) => state.status === "running").length);
    });
    const settled = rig.settled();
    rig.engine.start();
    expect((await settled).verdict).toBe("green");
    expect(most).toBe(2);
  });

  it("publishes a new deeply frozen array with each change, and keeps the states that did not change", async () => {
    const rig = rigOf({ a: {}, b: { needs: ["a"] } });
    const seen = [rig.engine.nodes.get()];
    expect(seen[0]?.map((state) => [state.status, state.attempt])).toEqual([
      ["idle", 0],
      ["idle", 0],
    ]);
    rig.engine.nodes.subscribe((states) => seen.push(states));
    const settled = rig.settled();
    rig.engine.start();
    await settled;
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.every((states) => Object.isFrozen(states))).toBe(true);
    expect(seen.flat().every((state) => Object.isFrozen(state) && Object.isFrozen(state.needs))).toBe(true);
    expect(seen.at(-1)?.[0]).toBe(seen.at(-2)?.[0]);
  });

  it("refuses with RUN_IN_PROGRESS when a run is in progress, and numbers the next one when it has settled", async () => {
    const rig = rigOf({ a: {} });
    const settled = rig.settled();
    rig.engine.start();
    expect(() => rig.engine.start()).toThrow(expect.objectContaining({ code: "RUN_IN_PROGRESS" }));
    await settled;
    expect(rig.engine.start()).toEqual({ run: 2 });
    expect(await rig.settled()).toMatchObject({ run: 2, verdict: "green" });
  });

  it("announces the first red node once, then settles, and runs everything whose needs passed when not strict", async () => {
    const rig = rigOf(
      { bad: { script: "process.exit(3)" }, worse: { script: "process.exit(4)" }, after: { needs: ["bad"] }, free: {} },
      { parallel: 1 },
    );
    const settled = rig.settled();
    rig.engine.start({ strict: false });
    await settled;
    expect(rig.statuses()).toEqual(["bad:failed", "worse:failed", "after:skipped", "free:passed"]);
    expect(rig.verdicts).toEqual([
      expect.objectContaining({
        at: "first-red",
        verdict: "red",
        run: 1,
        red: ["bad"],
        passed: 0,
        failed: 1,
        skipped: 1,
      }),
      expect.objectContaining({ at: "settled", verdict: "red", run: 1, red: ["bad", "worse"], passed: 1, failed: 2 }),
    ]);
    expect(rig.stateOf("bad").exitCode).toBe(3);
    expect(rig.engine.log("after").text).toBe('[ci] skipped: it needs "bad"\n');
  });

  it("starts nothing new after the first red node when strict, and lets what runs finish", async () => {
    const rig = rigOf({
      bad: { script: "process.exit(1)" },
      slow: { script: waitForFile("go") },
      free: {},
      after: { needs: ["slow"] },
    });
    const red = nextVerdict(rig.engine, "first-red");
    const settled = rig.settled();
    rig.engine.start({ strict: true });
    expect(await red).toMatchObject({ red: ["bad"], skipped: 2, failed: 1 });
    expect(rig.statuses()).toEqual(["bad:failed", "slow:running", "free:skipped", "after:skipped"]);
    await writeFile(join(dir, "go"), "");
    expect(await settled).toMatchObject({ verdict: "red", red: ["bad"], passed: 1, skipped: 2 });
  });
});

describe("engine.rerun()", () => {
  it("runs the node and its transitive dependents again under the same run, and turns red into green", async () => {
    const rig = rigOf({
      bad: { script: passOnceExists("fixed") },
      next: { needs: ["bad"] },
      last: { needs: ["next", "other"] },
      other: {},
    });
    let settled = rig.settled();
    rig.engine.start();
    expect(await settled).toMatchObject({ run: 1, verdict: "red", red: ["bad"], skipped: 2 });
    await writeFile(join(dir, "fixed"), "");
    settled = rig.settled();
    expect(rig.engine.rerun("bad")).toEqual({ run: 1, nodes: ["bad", "next", "last"] });
    expect(await settled).toMatchObject({ run: 1, verdict: "green", passed: 4, red: [] });
    expect(rig.engine.nodes.get().map((state) => state.attempt)).toEqual([2, 2, 2, 1]);
  });

  it("runs dependents again that had passed, too, and leaves everything else alone", async () => {
    const rig = rigOf({ a: {}, b: { needs: ["a"] }, c: { needs: ["b"] }, other: {} });
    let settled = rig.settled();
    rig.engine.start();
    await settled;
    const before = rig.stateOf("other");
    settled = rig.settled();
    expect(rig.engine.rerun("b")).toEqual({ run: 1, nodes: ["b", "c"] });
    expect(rig.stateOf("c")).toEqual({ id: "c", status: "waiting", needs: ["b"], attempt: 2, starts: 1 });
    expect(await settled).toMatchObject({ run: 1, verdict: "green", passed: 4 });
    expect(rig.engine.nodes.get().map((state) => state.attempt)).toEqual([1, 2, 2, 1]);
    expect(rig.stateOf("other")).toBe(before);
  });

  it("stays red when another node of the run is red, although everything it ran has passed", async () => {
    const rig = rigOf({ bad: { script: passOnceExists("fixed") }, worse: { script: "process.exit(1)" } });
    let settled = rig.settled();
    rig.engine.start();
    await settled;
    await writeFile(join(dir, "fixed"), "");
    settled = rig.settled();
    rig.engine.rerun("bad");
    expect(await settled).toMatchObject({ verdict: "red", red: ["worse"], passed: 1, failed: 1 });
  });

  it("takes up what a strict stop left out when the red node is rerun", async () => {
    const rig = rigOf(
      { bad: { script: passOnceExists("fixed") }, free: {}, after: { needs: ["free"] } },
      { parallel: 1 },
    );
    let settled = rig.settled();
    rig.engine.start({ strict: true });
    expect(await settled).toMatchObject({ verdict: "red", skipped: 2 });
    await writeFile(join(dir, "fixed"), "");
    settled = rig.settled();
    expect(rig.engine.rerun("bad").nodes).toEqual(["bad", "free", "after"]);
    expect(await settled).toMatchObject({ verdict: "green", passed: 3 });
  });

  it("may come while other nodes still run, and the run then settles once", async () => {
    const rig = rigOf({ bad: { script: passOnceExists("fixed") }, slow: { script: waitForFile("go") } });
    const settled = rig.settled();
    const red = nextVerdict(rig.engine, "first-red");
    rig.engine.start();
    await red;
    await writeFile(join(dir, "fixed"), "");
    rig.engine.rerun("bad");
    await eventually(() => (rig.stateOf("bad").status === "passed" ? true : undefined));
    expect(rig.verdicts.map((verdict) => verdict.at)).toEqual(["first-red"]);
    await writeFile(join(dir, "go"), "");
    expect(await settled).toMatchObject({ verdict: "green", passed: 2 });
    expect(rig.verdicts.map((verdict) => verdict.at)).toEqual(["first-red", "settled"]);
  });

  it("refuses with a code when the node is unknown, busy, without a run, or has a need that is not green", async () => {
    const rig = rigOf({
      slow: { script: waitForFile("go") },
      bad: { script: "process.exit(1)" },
      c: { needs: ["bad"] },
    });
    const refusal = (id: string): unknown => {
      try {
        return rig.engine.rerun(id);
      } catch (error) {
        return error;
      }
    };
    expect(refusal("toString")).toMatchObject({ code: "UNKNOWN_NODE" });
    expect(refusal("slow")).toMatchObject({ code: "NO_RUN" });
    const settled = rig.settled();
    rig.engine.start();
    expect(refusal("slow")).toMatchObject({ code: "NODE_BUSY" });
    expect(refusal("c")).toMatchObject({ code: "NODE_BUSY" });
    await writeFile(join(dir, "go"), "");
    await settled;
    expect(refusal("c")).toMatchObject({
      code: "NEEDS_NOT_PASSED",
      message: 'rerun "c": its need "bad" is failed, so rerun "bad" instead',
    });
    expect(rig.statuses()).toEqual(["slow:passed", "bad:failed", "c:skipped"]);
  });
});

describe("a node", () => {
  it("fails with a line in its log when its program does not exist", async () => {
    const rig = rigOf({ gone: { command: ["no-such-program-anywhere", "x"] }, lost: { cwd: "no/such/folder" } });
    const settled = rig.settled();
    rig.engine.start();
    expect(await settled).toMatchObject({ verdict: "red", failed: 2 });
    expect(rig.engine.log("gone").text).toMatch(/^\$ no-such-program-anywhere x\n\[ci\] start "no-such.*ENOENT\n$/);
    expect(rig.engine.log("lost").text).toMatch(/the folder ".*no\/such\/folder" does not exist\n$/);
    expect(rig.stateOf("gone")).not.toHaveProperty("exitCode");
  });

  it("fails when a signal ends its command", async () => {
    const rig = rigOf({ a: { script: "process.kill(process.pid, 'SIGKILL')" } });
    const settled = rig.settled();
    rig.engine.start();
    expect((await settled).red).toEqual(["a"]);
    expect(rig.engine.log("a").text).toMatch(/\[ci\] ended by SIGKILL\n$/);
  });

  it("fails and leaves no process when it exceeds its time limit", async () => {
    // Long enough for its program to start on a busy machine and to write its id.
    const rig = rigOf({ a: { script: writePid("pid") + FOREVER, timeoutSeconds: 5 } });
    const settled = rig.settled();
    rig.engine.start();
    expect((await settled).red).toEqual(["a"]);
    expect(rig.engine.log("a").text).toMatch(/\n\[ci\] ended: it took longer than 5 s\n$/);
    expect(isRunning(await pidIn(join(dir, "pid")))).toBe(false);
  });

  it("leaves no process behind when its command passes and has started another that goes on", async () => {
    const rig = rigOf({ a: { script: `${spawnChild(writePid("pid") + FOREVER)} ${waitForFile("pid")}` } });
    const settled = rig.settled();
    rig.engine.start();
    expect((await settled).verdict).toBe("green");
    expect(isRunning(await pidIn(join(dir, "pid")))).toBe(false);
  });

  it("sees colours off, its own variables, and nothing of the package manager or test runner around it", async () => {
    process.env["npm_config_planted"] = "1";
    const rig = rigOf({
      a: { script: "process.stdout.write(JSON.stringify(process.env))", env: { OWN: "x" } },
    });
    const settled = rig.settled();
    rig.engine.start();
    await settled;
    delete process.env["npm_config_planted"];
    const env = JSON.parse(rig.engine.log("a").text.split("\n")[1] ?? "");
    expect(env).toMatchObject({ NO_COLOR: "1", OWN: "x", FORCE_COLOR: "0", PATH: process.env["PATH"] });
    expect(Object.keys(env).filter((name) => /^(npm_|VITEST)/i.test(name))).toEqual([]);
  });
});

describe("engine.cancel()", () => {
  it("ends the command and what it started, and settles red with nothing failed", async () => {
    const rig = rigOf({
      a: { script: `${writePid("a")} ${spawnChild(writePid("b") + FOREVER)} ${FOREVER}` },
      c: { needs: ["a"] },
    });
    const settled = rig.settled();
    rig.engine.start();
    const pids = await Promise.all([pidIn(join(dir, "a")), pidIn(join(dir, "b"))]);
    const cancelling = rig.engine.cancel();
    expect(() => rig.engine.rerun("c")).toThrow(expect.objectContaining({ code: "RUN_IN_PROGRESS" }));
    expect(await cancelling).toEqual({ run: 1, cancelled: ["a", "c"] });
    expect(pids.map(isRunning)).toEqual([false, false]);
    expect(await settled).toMatchObject({ verdict: "red", at: "settled", red: [], cancelled: 2, passed: 0 });
    expect(await rig.engine.cancel()).toEqual({ run: 1, cancelled: [] });
  });

  it("never lets a command begin when it comes right after the start", async () => {
    const rig = rigOf({ a: { script: writePid("pid") } });
    rig.engine.start();
    expect(await rig.engine.cancel()).toEqual({ run: 1, cancelled: ["a"] });
    await expect(readFile(join(dir, "pid"))).rejects.toThrow("ENOENT");
  });
});

describe("engine.close()", () => {
  it("kills after the grace what does not end on SIGTERM, and ends all iterators", async () => {
    const rig = rigOf(
      { a: { script: `${spawnChild(writePid("b") + DEAF)} ${writePid("a")} ${DEAF}` } },
      { graceMs: 200 },
    );
    const frames = collect(rig.engine.watchLog("a", new AbortController().signal));
    rig.engine.start();
    const pids = await Promise.all([pidIn(join(dir, "a")), pidIn(join(dir, "b"))]);
    const closing = rig.engine.close();
    expect(rig.engine.close()).toBe(closing);
    expect(() => rig.engine.start()).toThrow(expect.objectContaining({ code: "CLOSED" }));
    await closing;
    expect(pids.map(isRunning)).toEqual([false, false]);
    expect((await frames).length).toBeGreaterThan(0);
    expect(rig.verdicts).toEqual([expect.objectContaining({ verdict: "red", cancelled: 1 })]);
    expect(rig.statuses()).toEqual(["a:cancelled"]);
  });

  it("resolves when nothing has ever run, and takes its exit listener along", async () => {
    const before = process.listenerCount("exit");
    const engine = createEngine(pipelineOf({ a: {} }));
    expect(process.listenerCount("exit")).toBe(before + 1);
    await engine.close();
    expect(process.listenerCount("exit")).toBe(before);
  });

  /** Runs an engine in a process of its own, with a deaf command and a deaf child of it, until `end` says otherwise. */
  const startElsewhere = async (end: string): Promise<ReturnType<typeof spawn>> => {
    const main = join(dir, "main.mjs");
    const module = (name: string): string => new URL(`../../examples/ci/engine/${name}`, import.meta.url).href;
    const script = `${writePid("pid")} ${spawnChild(writePid("b") + DEAF)} ${DEAF}`;
    const node = JSON.stringify([process.execPath, "-e", script]);
    await writeFile(
      main,
      `import { createEngine } from "${module("engine.ts")}";
       import { parsePipeline } from "${module("pipeline-file.ts")}";
       import { existsSync } from "node:fs";
       createEngine(parsePipeline({ name: "x", nodes: { a: { command: ${node} } } }, { folder: "." })).start();
       setInterval(() => existsSync(${quoted("b")}) && (${end}), 10);`,
    );
    return spawn(process.execPath, ["--import", import.meta.resolve("tsx"), main], { stdio: "inherit" });
  };

  it.each([
    ["exits without it", "process.exit(0)"],
    ["is killed", "process.kill(process.pid, 'SIGKILL')"],
  ])("is made up for when the process %s: the command and what it started die too", async (_how, end) => {
    await once(await startElsewhere(end), "exit");
    const pids = await Promise.all([pidIn(join(dir, "pid")), pidIn(join(dir, "b"))]);
    for (const pid of pids) await eventually(() => (isRunning(pid) ? undefined : true));
    expect(pids.map(isRunning)).toEqual([false, false]);
  });
});

describe("engine.watchLog()", () => {
  it("yields the log at once, then its newest state, and goes on across reruns until aborted", async () => {
    const rig = rigOf({ a: { script: "console.log('hello')" } });
    const abort = new AbortController();
    const log = rig.engine.watchLog("a", abort.signal)[Symbol.asyncIterator]();
    const first = { node: "a", text: "", truncated: false, bytes: 0 };
    expect(await log.next()).toEqual({ done: false, value: first });
    const untilHello = async (): Promise<readonly string[]> => {
      const texts: string[] = [];
      while (texts.at(-1)?.includes("\nhello\n") !== true) texts.push((await log.next()).value.text);
      return texts;
    };
    const settled = rig.settled();
    rig.engine.start();
    expect((await untilHello()).at(-1)).toBe(`$ ${process.execPath} -e console.log('hello')\nhello\n`);
    await settled;
    rig.engine.rerun("a");
    expect((await untilHello())[0]).not.toContain("\nhello");
    const pending = log.next();
    abort.abort();
    expect((await pending).done).toBe(true);
  });

  it("throws at once when there is no such node", () => {
    const rig = rigOf({ a: {} });
    const watch = (): unknown => rig.engine.watchLog("constructor", new AbortController().signal);
    expect(watch).toThrow('watch the log of "constructor": there is no such node, and it must be one of "a"');
  });
});

describe("engine.log()", () => {
  it("has stdout and stderr in the order of writing, without colours", async () => {
    const script =
      "for (let i = 0; i < 40; i += 1) fs.writeSync(1 + (i % 2), `\\u001b[3${i % 8}m${i}\\u001b[0m\\r\\n`)";
    const rig = rigOf({ a: { script } });
    const settled = rig.settled();
    rig.engine.start();
    await settled;
    const lines = rig.engine.log("a").text.trimEnd().split("\n").slice(1);
    expect(lines).toEqual(Array.from({ length: 40 }, (_, index) => String(index)));
  });

  it("keeps the newest 64 KiB from a line on, and says how much there was", async () => {
    const script =
      "let text = ''; for (let i = 0; i < 30000; i += 1) text += 'line ' + i + '\\n'; fs.writeSync(1, text)";
    const rig = rigOf({ a: { script } });
    const settled = rig.settled();
    rig.engine.start();
    await settled;
    const { text, truncated, bytes } = rig.engine.log("a");
    expect(truncated).toBe(true);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(65_536);
    expect(Buffer.byteLength(text)).toBeGreaterThan(65_500);
    expect(text).toMatch(/^line \d+\n/);
    expect(text).toMatch(/line 29999\n$/);
    expect(bytes).toBeGreaterThan(300_000);
  });
});
