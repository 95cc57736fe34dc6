import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { Refusal } from "../../../src/errors.ts";
import { listenUnixSocket, unixSocket } from "../../../src/links/unix-socket.ts";
import { cell, collection, event, procedure, stream } from "../../../src/surface/define-members.ts";
import { defineSurface } from "../../../src/surface/define-surface.ts";
import { implementSurface } from "../../../src/surface/implement-surface.ts";
import { cellSource } from "../../../src/surface/source.ts";
import type { Loose } from "../support/memory-transport.ts";
import { afterThis, newFolder } from "../unix/support.ts";
import * as z from "zod";

const folder = fileURLToPath(new URL("python/", import.meta.url));
const version = spawnSync("python3", ["--version"], { encoding: "utf8" });
const hasPython = version.status === 0;
if (!hasPython)
  console.warn("skipped: the peers of the link protocol in Python need python3, which is not on the PATH");

const ci = defineSurface("ci", {
  count: cell({ schema: z.number() }),
  places: collection({ key: z.string(), schema: z.number() }),
  lines: stream({ input: z.number(), output: z.number() }),
  rang: event({ output: z.string() }),
  run: procedure({
    input: z.object({ node: z.string() }),
    output: z.object({ ok: z.boolean() }),
    progress: z.number(),
    errors: { BUSY: z.object({ run: z.number() }) },
  }),
  set: procedure({ input: z.number() }),
});

/** Starts a Python program of this folder. Its lines come one by one; `undefined` after its end. */
function startPython(program: string, args: readonly string[]): () => Promise<string | undefined> {
  const child = spawn("python3", ["-B", "-u", join(folder, program), ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exit = once(child, "exit");
  afterThis(async () => {
    child.kill();
    await exit;
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return async () => {
    const { done, value } = await lines.next();
    return done === true ? undefined : value;
  };
}

async function serve() {
  const count = cellSource(1);
  let release = (): void => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  let ring: (text: string) => void = () => {};
  const live = implementSurface(
    ci,
    {
      count,
      places: cellSource(
        new Map([
          ["a", 1],
          ["b", 2],
        ]),
      ),
      lines: async function* (last) {
        for (let line = 1; line <= last; line += 1) yield line;
      },
      rang: async function* (_input, { signal }) {
        while (!signal.aborted) {
          yield await new Promise<string>((resolve) => {
            ring = resolve;
            signal.addEventListener("abort", () => resolve(""));
          });
        }
      },
      run: async function* ({ node }, { signal }) {
        yield 1;
        yield 2;
        if (node === "busy") throw new Refusal("BUSY", "a run is in progress", { run: 7 });
        if (node === "fault") throw new Error("a secret");
        if (node === "ring") ring("ding");
        if (node === "held") await held;
        if (node === "slow") await once(signal, "abort");
        // A handler that answers although it was cancelled is heard, so the client would depend on which came first.
        signal.throwIfAborted();
        return { ok: true };
      },
      set: (value) => count.set(value),
    },
    { onFault: () => {} },
  );
  afterThis(() => live.close());
  const listening = await listenUnixSocket(live, join(await newFolder(), "s"));
  return { listening, release };
}

async function run(scenario: string): Promise<Loose> {
  const { listening } = await serve();
  return JSON.parse((await startPython("client.py", [scenario, listening.path])()) ?? "null");
}

const surfaceError = (code: string, more: object = {}) => ({ rpc: -32_000, kind: "surface", code, ...more });

describe.skipIf(!hasPython)("a client in Python", () => {
  it("is refused for another version and another name, and then accepted", async () => {
    expect(await run("versions")).toEqual({
      before: surfaceError("PROTOCOL_MISMATCH"),
      wrong: surfaceError("PROTOCOL_MISMATCH"),
      name: surfaceError("UNKNOWN_MEMBER"),
      right: 1,
      again: true,
      other: surfaceError("UNKNOWN_MEMBER"),
    });
  });

  it("computes the same hashes and shapes", async () => {
    const answeredFor = Object.keys(ci.members).toSorted();
    expect(await run("contracts")).toEqual({ surface: "ci", heartbeatMs: 5000, answeredFor, hashes: [], shapes: [] });
  });

  it("uses surfaces together", async () => {
    expect(await run("segments")).toEqual({ surface: "both", members: true, value: { value: 1 } });
  });

  it("reads, calls and waits", async () => {
    expect(await run("uses")).toMatchObject({
      get: { value: 1 },
      keys: { value: [{ value: "a" }, { value: "b" }] },
      item: { value: 1 },
      noItem: {},
      list: { value: { items: [[{ value: "a" }, { value: 1 }]], next: expect.any(String) } },
      wait: { value: { status: "timed_out", cursor: expect.any(String) } },
      recent: { value: { occurrences: [] } },
      call: { value: { ok: true } },
      void: {},
      fired: { status: "fired", occurrence: { value: "ding" } },
      progress: [1, 2],
    });
  });

  it("is told what fails", async () => {
    expect(await run("errors")).toEqual({
      refusal: { rpc: -32_000, kind: "refusal", code: "BUSY", message: "a run is in progress", details: { run: 7 } },
      internal: surfaceError("INTERNAL", { correlationId: expect.any(String) }),
      argument: surfaceError("VALIDATION_ERROR", { issues: [{ path: "node", message: expect.any(String) }] }),
      member: surfaceError("UNKNOWN_MEMBER"),
      kind: surfaceError("WRONG_KIND"),
      method: { rpc: -32_601 },
      params: { rpc: -32_602 },
      cancelled: surfaceError("ABORTED"),
      alive: { value: 1 },
    });
  });

  it("watches a cell, and gets the newest value when it grants credit", async () => {
    const report = await run("watching");
    expect(report).toEqual({ first: [{ value: 1 }], withoutCredit: 1, second: [{ value: 4 }], end: { answered: {} } });
  });

  it("follows a stream without a gap, as far as its credit goes", async () => {
    const report = await run("streaming");
    expect(report).toEqual({ before: [1, 2, 3], between: 5, all: [1, 2, 3, 4, 5, 6], end: {} });
  });

  it("loses the connection when it sends what is no message", async () => {
    const ended = { ended: true };
    const all = { garbage: ended, notJson: ended, batch: ended, nullId: ended, large: ended };
    expect(await run("endings")).toEqual(all);
  });

  it.each([
    ["leaving", { answer: { value: { ok: true } }, end: { ended: true } }],
    ["crossing", { late: { rpc: -32_001 }, answer: { value: { ok: true } } }],
  ])("is told goodbye, and its call is answered: %s", async (scenario, report) => {
    const { listening, release } = await serve();
    const next = startPython("client.py", [scenario, listening.path]);
    expect(await next()).toBe("running");
    const closing = listening.close();
    release();
    expect(JSON.parse((await next()) ?? "null")).toEqual(report);
    await closing;
  });
});

describe.skipIf(!hasPython)("a server in Python", () => {
  const connect = async () => {
    const path = join(await newFolder(), "s");
    const next = startPython("server.py", [path]);
    expect(await next()).toBe("listening");
    const connection = await unixSocket(path).connect(ci);
    afterThis(() => connection.close());
    return { path, ...connection };
  };
  const failing = (code: string) => expect.objectContaining({ code });
  const outcome = (use: Promise<unknown>) => use.catch((cause: unknown) => cause);

  it("is read, called and watched", async () => {
    const { client } = await connect();
    expect(await client.count.get()).toBe(1);
    expect(await client.places.keys()).toEqual(["a", "b"]);
    expect(await client.places.get("a")).toBe(1);
    expect(await client.places.get("c")).toBeUndefined();
    const progress: number[] = [];
    expect(await client.run.call({ node: "x" }, { onProgress: (done) => void progress.push(done) })).toEqual({
      ok: true,
    });
    expect(progress).toEqual([1, 2]);
    const values = client.count.watch()[Symbol.asyncIterator]();
    expect((await values.next()).value).toBe(1);
    await client.set.call(5);
    expect((await values.next()).value).toBe(5);
    await values.return?.();
    const lines: number[] = [];
    for await (const line of client.lines.open(100)) lines.push(line);
    expect(lines).toEqual(Array.from({ length: 100 }, (_, index) => index + 1));
  });

  it("fails uses with its errors", async () => {
    const { client } = await connect();
    expect(await outcome(client.run.call({ node: "busy" }))).toMatchObject({ code: "BUSY", details: { run: 7 } });
    expect(await outcome(client.run.call({ node: "fault" }))).toMatchObject({
      code: "INTERNAL",
      correlationId: "log-1",
    });
    expect(await outcome(client.lines.latest(1))).toEqual(failing("WRONG_KIND"));
  });

  it("refuses another surface, and goes when it says goodbye", async () => {
    const { path, client, closed } = await connect();
    const other = defineSurface("other", { count: cell({ schema: z.number() }) });
    expect(await outcome(unixSocket(path).connect(other))).toEqual(failing("UNKNOWN_MEMBER"));
    expect(await client.run.call({ node: "leave" })).toEqual({ ok: true });
    expect(await closed).toEqual({ kind: "gone" });
  });
});
