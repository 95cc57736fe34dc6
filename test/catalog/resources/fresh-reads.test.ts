import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { z } from "zod";
import { mcp } from "../../../src/builder/mcp.ts";
import { CallContext } from "../../../src/call/call-context.ts";
import { inProcess } from "../../../src/links/in-process.ts";
import type { Link } from "../../../src/links/link.ts";
import { projected } from "../../../src/links/projected.ts";
import { listenUnixSocket, unixSocket } from "../../../src/links/unix-socket.ts";
import { anonymous } from "../../../src/surface/caller.ts";
import { cell, collection, stream } from "../../../src/surface/define-members.ts";
import type { CellClient } from "../../../src/surface/client.ts";
import { defineSurface } from "../../../src/surface/define-surface.ts";
import { derive } from "../../../src/surface/derive/derive.ts";
import { implementSurface, type LiveSurface } from "../../../src/surface/implement-surface.ts";
import { projectSurface } from "../../../src/surface/project-surface.ts";
import type { Source } from "../../../src/surface/source.ts";
import { mcpResource } from "../../../src/tags/mcp-resource.ts";
import { createTestClient } from "../../../src/testing/test-client.ts";
import { handlersOf } from "../../fixtures/handlers-of.ts";
import { flakyBackend } from "./flaky-backend.ts";

const muted = defineSurface("muted", {
  n: mcpResource(cell({ schema: z.number() })),
  rows: mcpResource(collection({ key: z.string(), schema: z.number() })),
});

/** A live surface whose sources are changed by somebody else, and never tell. */
function mute() {
  let n = 0;
  let key = "b";
  const source: Source<number> = { get: () => n, subscribe: () => () => {} };
  const rows = { get: () => new Map([[key, n]]), subscribe: () => () => {} };
  const live = implementSurface(muted, { n: source, rows });
  const set = (to: number, under = "b"): void => {
    n = to;
    key = under;
  };
  return { live, link: inProcess(live), source, set };
}

const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

describe("a read of what is watched, of a source that never tells", () => {
  it("asks a source in this process each time, also one that never tells of a change", async () => {
    const { link, set } = mute();
    const client = createTestClient(mcp(muted).bridge(link).pull());
    await client.watch("n", () => {});
    await client.watch("rows", () => {});
    await client.watch("rows", () => {}, { key: "b" });
    await client.tools.wait_for_change({ uris: ["surface://muted/n"], timeout_ms: 0 });
    const found: unknown[] = [];
    for (let n = 1; n <= 3; n += 1) {
      set(n);
      const answer = await client.tools.read_resource({ uri: "surface://muted/n" });
      found.push(await client.read("n"), await client.read("rows", { key: "b" }), answer.isError || answer.structured);
    }
    set(4, "c");
    expect(await client.read("rows")).toEqual(["c"]);
    const values = [1, 2, 3].flatMap((n) => [n, n, { uri: "surface://muted/n", value: n }]);
    expect(found).toEqual(values);
    await client.close();
  });

  it.each([
    ["from a source that never tells", (_upstream: CellClient<number>, source: Source<number>) => source],
    ["derived from one that never tells", (upstream: CellClient<number>) => derive.cell(upstream, (n) => n)],
  ])("asks a projection in this process each time when its cell is %s", async (_what, cellOf) => {
    const { link, set, source } = mute();
    const shown = defineSurface("shown", { n: mcpResource(cell({ schema: z.number() })) });
    const projection = projectSurface(muted, shown, ({ n }) => ({ n: cellOf(n, source) }));
    const client = createTestClient(mcp(projection).bridge(projected(projection, link)));
    await client.watch("n", () => {});
    const found: unknown[] = [];
    for (let n = 1; n <= 3; n += 1) {
      set(n);
      found.push(await client.read("n"));
    }
    expect(found).toEqual([1, 2, 3]);
    await client.close();
  });

  it("asks an owner behind a link again when the last word of it is a second old", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    onTestFinished(() => void vi.useRealTimers());
    const { live, set, source } = mute();
    const get = vi.spyOn(source, "get");
    const runtime = mcp(muted).bridge(flakyBackend(live).link).open();
    onTestFinished(() => runtime.close());
    runtime.resources.watch(anonymous, "surface://muted/n", { changed: () => {} });
    await turns();
    const request = { era: "modern", call: new CallContext() } as const;
    const readNow = async (): Promise<string> =>
      JSON.stringify(await handlersOf(runtime)["resources/read"]({ uri: "surface://muted/n" }, request));
    set(1);
    const before = get.mock.calls.length;
    await readNow();
    expect(get.mock.calls.length).toBe(before);
    vi.advanceTimersByTime(1000);
    const answers = [await readNow(), await readNow()];
    expect(answers.map((answer) => answer.includes(String.raw`\"text\":\"1\"`))).toEqual([true, true]);
    set(2);
    expect(await readNow()).toContain(String.raw`\"text\":\"2\"`);
  });
});

const logs = defineSurface("logs", {
  log: mcpResource(stream({ output: z.string() })),
  of: mcpResource(stream({ input: z.object({ node: z.string() }), output: z.string() })),
});
type Logs = (typeof logs)["members"];

async function overSocket(live: LiveSurface<Logs>): Promise<Link> {
  const dir = await mkdtemp(join(tmpdir(), "fresh-"));
  await listenUnixSocket(live, join(dir, "s"));
  onTestFinished(async () => {
    await live.close();
    await rm(dir, { recursive: true, force: true });
  });
  return unixSocket(join(dir, "s"));
}

/** A projection of the logs, whose upstream has no log of a node: that is read from elsewhere. */
function projectionOf(text: () => string) {
  return projectSurface(logs, logs, ({ log, of }) => ({
    log: derive.stream(log, (line) => line),
    of: derive.stream(of, (line) => line, {
      async *otherwise() {
        yield text();
      },
    }),
  }));
}

describe("a read of a stream that ends", () => {
  it.each<[string, (live: LiveSurface<Logs>) => Link | Promise<Link>, boolean]>([
    ["in this process", (live) => inProcess(live), false],
    ["behind a socket", overSocket, false],
    ["of a projection in this process", (live) => inProcess(live), true],
    ["of a projection over a socket", overSocket, true],
  ])("starts it again and answers that run, watched or not, when it is %s", async (where, toLink, isProjected) => {
    let text = "none";
    const ran = { count: 0 };
    const live = implementSurface(logs, {
      async *log() {
        ran.count += 1;
        yield text;
      },
      async *of() {
        if (!isProjected) yield text;
      },
    });
    const link = await toLink(live);
    const projection = projectionOf(() => text);
    const app = isProjected ? mcp(projection).bridge(projected(projection, link)) : mcp(logs).bridge(link);
    const client = createTestClient(app);
    const found: unknown[] = [];
    for (text of ["one", "two", "three", "four"]) {
      found.push(await client.read("log"), await client.read("of", { node: "a" }));
      if (text !== "two") continue;
      await client.watch("log", () => {});
      await client.watch("of", () => {}, { node: "a" });
      if (where !== "behind a socket") continue;
      // The end comes after the frame, over a wire: until then the frame answers reads.
      const before = ran.count;
      while (ran.count === before) await client.read("log");
    }
    expect(found).toEqual(["one", "one", "two", "two", "three", "three", "four", "four"]);
    await client.close();
  });
});

describe("a watch of a stream that fails each time", () => {
  it("tells its watcher once, and again when there is a frame", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    onTestFinished(() => void vi.useRealTimers());
    let runs = 0;
    let isWell = false;
    const client = createTestClient(
      mcp(logs, { onFault: () => {} }).implement({
        async *log(_input, { signal }) {
          runs += 1;
          if (!isWell) throw new Error("secret");
          yield "well";
          await new Promise((resolve) => signal.addEventListener("abort", resolve));
        },
        async *of() {},
      }),
    );
    const changed = vi.fn<() => void>();
    await client.watch("log", changed);
    const pass = async (seconds: number): Promise<void> => {
      for (let tenth = 0; tenth < seconds * 10; tenth += 1) {
        vi.advanceTimersByTime(100);
        await turns();
      }
    };
    await pass(7);
    expect(runs).toBeGreaterThan(4);
    expect(changed.mock.calls.length).toBeLessThanOrEqual(1);
    changed.mockClear();
    isWell = true;
    await pass(7);
    expect(changed).toHaveBeenCalledTimes(1);
    await client.close();
  });
});
