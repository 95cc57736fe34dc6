import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { finish, nodeArguments, said, start } from "../stdio/fixtures/run.ts";

const folder = mkdtempSync(join(tmpdir(), "stdout-guard-"));
const children: ChildProcess[] = [];

afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const FRAMES = `{"frame":1}\n{"frame":2}\n"${"é".repeat(100_000)}"\n{"frame":3}\n`;
const STRAY = ["write", "log", "bytes", "corked 1", "corked 2", "info", "debug", "table", "dir", "console", "end"];

/** The kinds of stray text that landed on stderr, in order. */
const strayIn = (stderr: string): (string | undefined)[] =>
  [...stderr.matchAll(/stray (corked \d|\w+)/g)].map(([, word]) => word);

/** A pipe of the system, as a shell makes it; Node itself gives its children socket pairs. */
function startInPipe(mode: string): ChildProcess {
  return spawn("sh", ["-c", `"$0" "$@" | cat`, process.execPath, ...nodeArguments("guarded.ts", mode)]);
}

async function startIntoFile(path: string, mode: string): Promise<{ code: number | null; stderr: string }> {
  const file = openSync(path, "w");
  try {
    return await finish(start("guarded.ts", [mode], ["ignore", file, "pipe"]));
  } finally {
    closeSync(file);
  }
}

describe("guardStdout()", () => {
  it("lets only frames through when stdout is a socket pair", async () => {
    const { code, stdout, stderr } = await finish(start("guarded.ts", ["stray"]));
    expect(stdout).toBe(FRAMES);
    expect(strayIn(stderr)).toEqual(STRAY);
    expect(code).toBe(0);
  });

  it("lets only frames through when stdout is a pipe", async () => {
    const { stdout, stderr } = await finish(startInPipe("stray"));
    expect(stdout).toBe(FRAMES);
    expect(strayIn(stderr)).toEqual(STRAY);
  });

  it("lets only frames through when stdout is a file", async () => {
    const path = join(folder, "out");
    const { code, stderr } = await startIntoFile(path, "stray");
    expect(readFileSync(path, "utf8")).toBe(FRAMES);
    expect(strayIn(stderr)).toEqual(STRAY);
    expect(code).toBe(0);
  });

  it("lets only frames through when stdout is a network socket", async () => {
    const server = createServer({ pauseOnConnect: true }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    const port = typeof address === "object" ? address?.port : undefined;
    const accepted = once(server, "connection");
    // The shell connects descriptor 1 of the child: bash alone knows this path.
    const script = `exec "$0" "$@" >/dev/tcp/127.0.0.1/${port}`;
    const child = spawn("bash", ["-c", script, process.execPath, ...nodeArguments("guarded.ts", "stray")]);
    const [socket] = await accepted;
    const [received, { stderr }] = await Promise.all([text(socket), finish(child)]);
    server.close();
    expect(received).toBe(FRAMES);
    expect(strayIn(stderr)).toEqual(STRAY);
  });

  it("keeps stray text on stderr when stdout is /dev/null", async () => {
    const { code, stderr } = await startIntoFile("/dev/null", "stray");
    expect(strayIn(stderr)).toEqual(STRAY);
    expect(code).toBe(0);
  });

  it("sends what a full pipe held back to stderr when it was written before", async () => {
    const { stdout, stderr } = await finish(start("guarded.ts", ["held"]));
    expect(stdout.replace(/^x+\n/, "")).toBe('{"frame":1}\n');
    expect(stderr).toBe("held back\n");
  });

  it("goes on when a module ends stdout", async () => {
    const outcome = await finish(start("guarded.ts", ["ended"]));
    expect(outcome).toEqual({ code: 0, signal: null, stdout: '{"frame":1}\n', stderr: "stray end\n" });
  });

  it("never blocks and asks to wait when nobody reads stdout", async () => {
    const child = start("guarded.ts", ["unread"]);
    children.push(child);
    await expect(said(child, "alive, needs drain: true")).resolves.toBeUndefined();
  });

  it("refuses a second guard and gives stdout back as it was when it is restored", async () => {
    const { code, stdout, stderr } = await finish(start("guarded.ts", ["nested"]));
    expect(stdout).toBe('{"frame":1}\nrestored\n[]\n');
    expect(stderr).toContain("CONTRADICTION");
    expect(code).toBe(0);
  });

  it("loses stray text and nothing else when the host closed stderr", async () => {
    const child = start("guarded.ts", ["deaf"]);
    child.stderr?.destroy();
    const exit = once(child, "exit");
    expect(child.stdout === null ? "" : await text(child.stdout)).toBe('{"frame":1}\n');
    expect(await exit).toEqual([0, null]);
  });
});
