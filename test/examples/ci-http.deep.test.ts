import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";

import { cell, cellSource, defineSurface, implementSurface, inProcess } from "surface-mcp";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";

import { WatchCounter } from "../../examples/ci/watch-counter.ts";
import { compileExample } from "./compile-examples.ts";
import { eventually, isRunning, ofProcesses, removeFolder } from "./ci-support.ts";
import { operationsOf } from "../surface/uses-of.ts";

const main = compileExample("ci/main.ts");

let temporary = "";
const children: ChildProcess[] = [];
beforeEach(async () => {
  temporary = await mkdtemp(join(tmpdir(), "ci-http-"));
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  await removeFolder(temporary);
});

/** Starts it as `npm run demo:ci` does. */
function start(...args: readonly string[]) {
  const child = spawn(process.execPath, [main, ...args], {
    env: { ...process.env, TMPDIR: temporary },
    stdio: ["ignore", "pipe", "pipe"],
  });
  children.push(child);
  const ended = Promise.all([text(child.stderr), once(child, "exit")]).then(([stderr, [code]]) => ({ code, stderr }));
  return { child, ended };
}

const leftovers = async (): Promise<readonly string[]> =>
  (await readdir(temporary)).filter((name) => name.startsWith("ci-"));

const gone = (pid: number): Promise<boolean> => eventually(() => (isRunning(pid) ? undefined : true));

/** The figures of a line, or of several. */
const figuresOf = (line: RegExp, said: string): readonly number[] => (line.exec(said) ?? []).slice(1).map(Number);

describe("npm run demo:ci -- --http", ofProcesses, () => {
  it("lets one agent drive and two look on over one watch, through a kill of the coordinator, and ends the face in good order", async () => {
    const { child, ended } = start("--http", "--pipeline", "examples/ci/pipelines/mend.json");
    const stdout = await text(child.stdout);
    expect(await ended).toEqual({ code: 0, stderr: "" });

    const [face = 0] = figuresOf(/^ +face +(\d+) +one MCP server for all, at http:\/\/127\.0\.0\.1:\d+\/mcp/m, stdout);
    expect(stdout).toMatch(/^ +agent +\d+ +drives the run: SDK 2\.x, era 2026-07-28, no session$/m);
    expect(stdout.match(/^ +agent +\d+ +looks on: SDK [12]\.x, era up to 2025-11-25, a session$/gm)).toHaveLength(2);

    expect(stdout).toMatch(/three agents are connected to face \d+ at once:\n +2 sessions, (?:[3-9]|\d\d) streams; /);
    expect(stdout).toContain("the nodes are watched at the coordinator once\n");
    const [killed = 0, next = 0] = figuresOf(
      /SIGKILL to coordinator (\d+)[^]* restarted as coordinator (\d+) /,
      stdout,
    );
    expect(killed).toBeGreaterThan(0);
    // Once for each life of the coordinator, and never twice at a time.
    expect(stdout).toContain("of the nodes at the coordinator, for all three agents: 1 at a time, 2 in all");

    const seen = [...stdout.matchAll(/^ +(\d+) notices of the nodes, last value announced; (\d+) times told/gm)];
    expect(seen.map(([, notices]) => Number(notices) > 0)).toEqual([true, true]);
    expect(stdout).toMatch(/ +notices +\d+ of surface:\/\/agent\/nodes .*, last value announced/);
    const verdicts = [...stdout.matchAll(/^ +verdicts: (.*)$/gm)].map(([, said = ""]) => said);
    expect(verdicts).toHaveLength(2);
    expect(verdicts.filter((said) => said.startsWith("run 1 is red") && said.endsWith("green (settled)"))).toEqual(
      verdicts,
    );

    const [head = 0, backend = 0] = figuresOf(/by how far they came: head (\d+), .* backend (\d+)$/m, stdout);
    expect([head > backend, backend > 0]).toEqual([true, true]);
    expect(stdout).toMatch(/ 2 sessions, 2 streams, 0 messages dropped$/m);
    expect(stdout).toContain(`to face ${face}: ended with code 0`);
    expect(stdout).toMatch(/GREEN: every node has passed\n$/);
    expect([face, killed, next].map(isRunning)).toEqual([false, false, false]);
    expect(await leftovers()).toEqual([]);
  });

  it("ends every process on SIGTERM while it goes on", async () => {
    const { child, ended } = start("--http", "--no-kill", "--pipeline", "examples/ci/pipelines/mend.json");
    let face = 0;
    for await (const line of createInterface({ input: child.stdout })) {
      face = figuresOf(/^ +face +(\d+) /, line)[0] ?? face;
      if (line.includes("is live")) break;
    }
    child.kill("SIGTERM");
    expect(await ended).toEqual({ code: 143, stderr: "" });
    expect(await gone(face)).toBe(true);
    expect(await leftovers()).toEqual([]);
  });
});

describe("npm run demo:ci -- --http --hold", ofProcesses, () => {
  async function hold() {
    const { child, ended } = start("--http", "--hold", "--pipeline", "examples/ci/pipelines/hello.json");
    const lines: string[] = [];
    for await (const line of createInterface({ input: child.stdout })) {
      lines.push(line.trim());
      if (line.includes("inspector")) break;
    }
    const said = lines.join("\n");
    const [face = 0] = figuresOf(/face (\d+) serves /, said);
    return { child, ended, lines, said, face };
  }

  /** Runs a line that was printed for people to paste. */
  async function paste(line: string): Promise<string> {
    const shell = spawn("sh", ["-c", line], { stdio: ["ignore", "pipe", "inherit"] });
    children.push(shell);
    return text(shell.stdout);
  }

  it("serves until it is told to end, answers the lines that it prints, and ends with code 0", async () => {
    const { child, ended, lines, face } = await hold();
    const [list = "", run = "", listen = ""] = lines.filter((line) => line.startsWith("curl "));
    expect(JSON.parse(await paste(list)).result.tools.map(({ name }: { name: string }) => name)).toContain("run");
    expect(JSON.parse(await paste(run))).toMatchObject({ result: { structuredContent: { run: 1 } } });
    const told = await paste(listen.replace("curl ", "curl --max-time 1 "));
    expect(told).toContain("notifications/subscriptions/acknowledged");
    expect(await readdir(temporary)).not.toEqual([]);
    child.kill("SIGINT");
    expect(await ended).toEqual({ code: 0, stderr: "" });
    expect(await gone(face)).toBe(true);
    await eventually(async () => ((await leftovers()).length === 0 ? true : undefined));
  });

  it("leaves nothing behind when it is killed: the face ends with whoever has started it", async () => {
    const { child, face, lines } = await hold();
    // Once there is a coordinator a face has nothing to write down, and would not notice that nobody reads it.
    const [, run = ""] = lines.filter((line) => line.startsWith("curl "));
    expect(JSON.parse(await paste(run))).toMatchObject({ result: { structuredContent: { run: 1 } } });
    child.kill("SIGKILL");
    expect(await gone(face)).toBe(true);
    await eventually(async () => ((await leftovers()).length === 0 ? true : undefined));
  });

  it.each([
    ["--hold without --http", ["--hold"], /^Options '--hold' and '--port <value>' need '--http'/],
    ["--port without --http", ["--port", "4000"], /^Options '--hold' and '--port <value>' need '--http'/],
    ["a port that is none", ["--http", "--port", "70000"], /^Option '--port <value>' is '70000'/],
  ])("is refused with code 2 for %s", async (_what, args, words) => {
    const { ended } = start(...args);
    expect(await ended).toEqual({ code: 2, stderr: expect.stringMatching(words) });
  });
});

describe("WatchCounter", () => {
  it("counts the watches of its member and of no other, until they end", async () => {
    const pair = defineSurface("pair", { left: cell({ schema: z.number() }), right: cell({ schema: z.number() }) });
    const live = implementSurface(pair, { left: cellSource(1), right: cellSource(2) });
    const counter = new WatchCounter("left");
    const connection = await counter.through(inProcess(live)).connect(pair);
    const over = new AbortController();
    const uses = operationsOf(connection.channel);
    const watch = (member: "left" | "right", signal?: AbortSignal) =>
      uses.watch(member, signal === undefined ? {} : { signal })[Symbol.asyncIterator]();
    const watches = [watch("left", over.signal), watch("left"), watch("left"), watch("right")] as const;
    expect((await Promise.all(watches.map((each) => each.next()))).map(({ value }) => value)).toEqual([1, 1, 1, 2]);
    expect(counter.read()).toEqual({ open: 3, most: 3, opened: 3 });
    const waiting = watches[0].next();
    over.abort();
    expect(await waiting).toMatchObject({ done: true });
    await watches[1].return?.();
    expect(counter.read()).toEqual({ open: 1, most: 3, opened: 3 });
    const cut = watches[2].next();
    await live.close();
    await cut;
    expect(counter.read()).toEqual({ open: 0, most: 3, opened: 3 });
    await connection.close();
  });
});
