import type { ChildProcess } from "node:child_process";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { setTimeout as delay, setImmediate as turn } from "node:timers/promises";
import { once } from "node:events";
import { afterEach, describe, expect, it } from "vitest";
import { type ProcessEnd, type ProcessEndOptions, onProcessEnd } from "../../src/links/on-process-end.ts";
import { finish, said, start } from "../stdio/fixtures/run.ts";

const children: ChildProcess[] = [];
const watches: ProcessEnd[] = [];

afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  for (const watch of watches.splice(0)) watch.dispose();
});

/** A process that echoes lines and leaves open what the arguments say. */
async function serve(...args: readonly string[]): Promise<ChildProcess> {
  const child = start("server.ts", args);
  children.push(child);
  await said(child, "ready");
  return child;
}

/** Whether the child takes a frame, at the latest after a while. */
async function offer(child: ChildProcess, frame: string): Promise<boolean> {
  const { stdin } = child;
  if (stdin === null || stdin.write(frame)) return stdin !== null;
  return Promise.race([once(stdin, "drain").then(() => true), delay(1_000, false)]);
}

interface Watched {
  readonly input: PassThrough;
  readonly watch: ProcessEnd;
  readonly reasons: string[];
}

/** A watch that lets this process live. */
function observe(options: Partial<ProcessEndOptions> = {}, input = new PassThrough()): Watched {
  const reasons: string[] = [];
  const end = (reason: string): void => void reasons.push(reason);
  const watch = onProcessEnd({ input, end, exit: false, ...options });
  watches.push(watch);
  return { input, watch, reasons };
}

describe("onProcessEnd() in a process of its own", () => {
  it("answers what came and exits 0 when the input ends in the middle of a frame", async () => {
    const child = await serve();
    child.stdin?.end('{"a":1}\n{"jsonrpc":"2.0","id":1,"met');
    const outcome = await finish(child);
    expect(outcome).toMatchObject({ code: 0, stdout: '{"a":1}\n' });
    expect(outcome.stderr).toBe("end: input-ended\nexit: 0\n");
  });

  it.each(["timer", "socket", "await"])("exits 0 when the input ends and a %s is open", async (open) => {
    const child = await serve(open);
    child.stdin?.end();
    expect(await finish(child)).toMatchObject({ code: 0, signal: null, stderr: "end: input-ended\nexit: 0\n" });
  });

  it.each(["SIGTERM", "SIGINT"] as const)("exits 0 when %s arrives and a timer is open", async (signal) => {
    const child = await serve("timer");
    child.kill(signal);
    expect(await finish(child)).toMatchObject({ code: 0, signal: null, stderr: `end: ${signal}\nexit: 0\n` });
  });

  it.each(["hang", "await hang"])("exits 0 within the grace when closing never ends (%s)", async (args) => {
    const child = await serve(...args.split(" "));
    const begin = performance.now();
    child.stdin?.end();
    expect(await finish(child)).toMatchObject({ code: 0, signal: null });
    expect(performance.now() - begin).toBeLessThan(6_000);
  });

  it("exits at once with 130 when SIGINT comes twice", async () => {
    const child = await serve("hang", "timer");
    child.kill("SIGINT");
    await said(child, "end: SIGINT");
    child.kill("SIGINT");
    expect(await finish(child)).toMatchObject({ code: 130, signal: null });
  });

  it("waits for the grace when SIGTERM follows SIGINT", async () => {
    const child = await serve("hang");
    child.kill("SIGINT");
    await said(child, "end: SIGINT");
    child.kill("SIGTERM");
    expect(await finish(child)).toMatchObject({ code: 0, stderr: "exit: 0\n" });
  });

  it("exits 0 and says why on stderr when closing fails", async () => {
    const child = await serve("fail", "timer");
    child.stdin?.end();
    const { code, stderr } = await finish(child);
    expect(code).toBe(0);
    expect(stderr).toContain("closing failed: TypeError: closing went wrong");
  });

  it("ends once and throws nothing when the host closed stdout", async () => {
    const child = await serve("timer");
    child.stdout?.destroy();
    for (let count = 0; count < 20; count += 1) child.stdin?.write("frame\n");
    const exit = once(child, "exit");
    const stderr = child.stderr === null ? "" : await text(child.stderr);
    expect(stderr).toBe("broken\nend: output-broken\nexit: 0\n");
    expect(await exit).toEqual([0, null]);
  });

  it("exits 0 when the input ends and nobody reads the output", async () => {
    const child = await serve("timer");
    child.stdin?.end(`${"x".repeat(500)}\n`.repeat(1_000));
    expect(await once(child, "exit")).toEqual([0, null]);
  });

  it("reads no more than it can write when nobody reads the output", async () => {
    const child = await serve();
    const frame = `${"x".repeat(64 * 1024)}\n`;
    let sent = 0;
    for (let isTaken = true; isTaken && sent < 500; sent += 1) isTaken = await offer(child, frame);
    expect(sent).toBeLessThan(100);
  });
});

describe("onProcessEnd()", () => {
  it("ends once with the first reason when several arrive", async () => {
    const { input, watch, reasons } = observe();
    input.resume().end();
    await once(input, "close");
    await Promise.all([watch.stop(), watch.stop("SIGTERM")]);
    expect(reasons).toEqual(["input-ended"]);
  });

  it.each([
    ["destroyed", (input: PassThrough) => void input.destroy()],
    ["destroyed with an error", (input: PassThrough) => void input.destroy(new TypeError("read EIO"))],
    ["ended", (input: PassThrough) => void input.resume().end()],
  ])("ends when the input is %s", async (_how, act) => {
    const { input, reasons } = observe();
    act(input);
    await turn();
    await turn();
    expect(reasons).toEqual(["input-ended"]);
  });

  it("ends when the input had ended before", async () => {
    const input = new PassThrough();
    input.resume().end();
    await once(input, "close");
    const { reasons } = observe({}, input);
    await turn();
    expect(reasons).toEqual(["input-ended"]);
  });

  it("ends once when closing asks for the end again", async () => {
    const reasons: string[] = [];
    const watch: ProcessEnd = onProcessEnd({
      input: new PassThrough(),
      exit: false,
      end: (reason) => {
        reasons.push(reason);
        void watch.stop("output-broken");
      },
    });
    await watch.stop();
    expect(reasons).toEqual(["asked"]);
  });

  it("settles after the grace when closing never does", async () => {
    const { watch } = observe({ end: () => new Promise(() => {}), graceMs: 20 });
    await expect(watch.stop()).resolves.toBeUndefined();
  });

  it("leaves no listener behind when it is disposed of or has ended", async () => {
    const listeners = (input: PassThrough): number[] => [
      ...["SIGTERM", "SIGINT"].map((signal) => process.listenerCount(signal)),
      ...["end", "close", "error"].map((event) => input.listenerCount(event)),
    ];
    const input = new PassThrough();
    const before = listeners(input);
    const { watch } = observe({}, input);
    expect(listeners(input)).toEqual(before.map((count) => count + 1));
    watch.dispose();
    watch.dispose();
    expect(listeners(input)).toEqual(before);
    await observe({}, input).watch.stop();
    expect(listeners(input)).toEqual(before);
  });

  it("ends nothing when it was disposed of before a late end was told", async () => {
    const input = new PassThrough();
    input.destroy();
    const { watch, reasons } = observe({}, input);
    watch.dispose();
    await turn();
    expect(reasons).toEqual([]);
  });

  it.each([-1, 2_001, NaN, Infinity])(
    "throws INVALID_OPTION and listens to nothing when the grace is %d",
    (graceMs) => {
      const before = process.listenerCount("SIGTERM");
      expect(() => observe({ graceMs })).toThrow(expect.objectContaining({ code: "INVALID_OPTION" }));
      expect(process.listenerCount("SIGTERM")).toBe(before);
    },
  );
});
