import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { createBroadcast } from "../../examples/ci/engine/broadcast.ts";
import { findCycle } from "../../examples/ci/engine/find-cycle.ts";
import { createTailBuffer } from "../../examples/ci/engine/log-tail.ts";
import { createNodeLog } from "../../examples/ci/engine/node-log.ts";
import { parsePipeline, readPipelineFile } from "../../examples/ci/engine/pipeline-file.ts";
import { fillPlaceholders, usesPlaceholder } from "../../examples/ci/engine/placeholders.ts";
import { createPlan } from "../../examples/ci/engine/plan.ts";
import { createSource } from "../../examples/ci/engine/source.ts";
import { createTextCleaner } from "../../examples/ci/engine/text-cleaner.ts";
import { watchLatest } from "../../examples/ci/engine/watch-latest.ts";
import { collect } from "./ci-support.ts";

const node = { command: ["true"] };

describe("parsePipeline()", () => {
  const parse = (nodes: unknown, rest: object = {}): unknown =>
    parsePipeline({ name: "p", nodes, ...rest }, { folder: "/base/sub", attempt: "read it" });

  it("fills in defaults, and resolves folders against the file's folder and its cwd when given", () => {
    expect(
      parse({ a: node, b: { ...node, needs: ["a", "a"], cwd: "in", timeoutSeconds: 1.5, env: { X: "1" } } }),
    ).toEqual({
      name: "p",
      nodes: [
        { id: "a", command: ["true"], needs: [], cwd: "/base/sub", env: {}, timeoutMs: 300_000 },
        { id: "b", command: ["true"], needs: ["a"], cwd: "/base/sub/in", env: { X: "1" }, timeoutMs: 1500 },
      ],
    });
    expect(parse({ a: { command: ["{root}/x", "{root}{other}"], cwd: "y" } }, { cwd: ".." })).toMatchObject({
      nodes: [{ command: ["/base/x", "/base{other}"], cwd: "/base/y" }],
    });
  });

  it.each([
    ["an empty pipeline", {}, 'read it: "nodes" is empty, and a pipeline must have at least one node'],
    ["an unknown need", { a: { ...node, needs: ["b"] } }, 'node "a" needs "b", and there is no node of that name'],
    ["an inherited name as a need", { a: { ...node, needs: ["constructor"] } }, 'needs "constructor", and there is no'],
    ["a node that needs itself", { a: { ...node, needs: ["a"] } }, "these do: a -> a"],
    [
      "a cycle",
      { x: node, a: { ...node, needs: ["x", "b"] }, b: { ...node, needs: ["c"] }, c: { ...node, needs: ["a"] } },
      "these do: a -> b -> c -> a",
    ],
    ["an id with other characters", { A_b: node }, '"nodes.A_b": an id must be 1 to 64 of a-z, 0-9 and -'],
    ["an id that is a prototype", JSON.parse('{"a": {"command": ["true"]}, "__proto__": {}}'), 'unlike "__proto__"'],
    ["an empty id", { "": node }, "an id must be 1 to 64"],
    ["a command that is a line for a shell", { a: { command: "rm -rf" } }, '"nodes.a.command":'],
    ["an empty command", { a: { command: [] } }, '"nodes.a.command'],
    ["a NUL character", { a: { command: ["a\0b"] } }, "must not contain a NUL character"],
    ["a misspelt key", { a: { ...node, need: [] } }, '"nodes.a": Unrecognized key: "need"'],
    ["a time limit that is not one", { a: { ...node, timeoutSeconds: 0 } }, '"nodes.a.timeoutSeconds"'],
  ])("refuses %s", (_what, nodes, message) => {
    const refusal = { code: "INVALID_PIPELINE", message: expect.stringContaining(message) };
    expect(() => parse(nodes)).toThrow(expect.objectContaining(refusal));
  });
});

describe("readPipelineFile()", () => {
  let dir = "";
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), "ci-file-"));
  });
  afterEach(() => rm(dir, { recursive: true, force: true }));

  it("names the file and the reason when it is missing or not JSON", async () => {
    const path = join(dir, "p.json");
    await expect(readPipelineFile(path)).rejects.toMatchObject({
      code: "INVALID_PIPELINE",
      message: expect.stringMatching(/^read pipeline ".*p\.json": ENOENT/),
    });
    await writeFile(path, "{");
    await expect(readPipelineFile(path)).rejects.toMatchObject({ code: "INVALID_PIPELINE" });
  });

  it("reads this repository's own pipeline: real local checks, two levels, and no recursion", async () => {
    const root = resolve(import.meta.dirname, "../..");
    const pipeline = await readPipelineFile(join(root, "examples/ci/pipeline.json"));
    const plan = createPlan(pipeline.nodes);
    expect(pipeline.nodes.length).toBeGreaterThanOrEqual(6);
    expect(plan.withDependents("scratch")).toEqual(["scratch", "scratch-run", "package"]);
    expect(usesPlaceholder(pipeline, "scratch")).toBe(true);
    for (const { command } of pipeline.nodes) {
      expect(command.join(" ")).not.toMatch(
        /npm (run )?(test|start)|examples|check\.mjs|test\/(stdio|matrix|pins|architecture)/,
      );
    }
    const programs = pipeline.nodes.flatMap(({ command }) => command.filter((word) => word.startsWith(root)));
    expect(programs.length).toBeGreaterThanOrEqual(6);
    expect(programs.filter((path) => !existsSync(path))).toEqual([]);
  });
});

describe("placeholders", () => {
  it("fillPlaceholders() replaces known names in command, folder and variables, and no others", () => {
    const pipeline = parsePipeline(
      {
        name: "p",
        nodes: { a: { command: ["x", "{scratch}/{a,b}{toString}"], cwd: "{scratch}", env: { D: "{scratch}" } } },
      },
      { folder: "/base" },
    );
    const filled = fillPlaceholders(pipeline, { scratch: "/tmp/$&" });
    expect(filled.nodes[0]).toMatchObject({
      command: ["x", "/tmp/$&/{a,b}{toString}"],
      cwd: "/tmp/$&",
      env: { D: "/tmp/$&" },
    });
    expect([usesPlaceholder(pipeline, "scratch"), usesPlaceholder(filled, "scratch")]).toEqual([true, false]);
  });
});

describe("findCycle()", () => {
  it("finds none in a chain too long for recursion, and the way round when its ends meet", () => {
    const chain = Array.from({ length: 20_000 }, (_, index) => ({ id: `n${index}`, needs: [`n${index + 1}`] }));
    expect(findCycle(chain)).toBeUndefined();
    const circle = findCycle([...chain, { id: "n20000", needs: ["n0"] }]);
    expect([circle?.[0], circle?.at(-1), circle?.length]).toEqual(["n0", "n0", 20_002]);
  });
});

describe("createTailBuffer()", () => {
  it("keeps everything up to its limit, and from a line on when it must cut", () => {
    const tail = createTailBuffer(10);
    tail.append("abc\ndefghi");
    expect(tail.text()).toBe("abc\ndefghi");
    tail.append("j");
    expect([tail.text(), tail.bytes()]).toEqual(["defghij", 11]);
    tail.clear();
    expect([tail.text(), tail.bytes()]).toEqual(["", 0]);
  });

  it("cuts nothing more than it must when a line begins exactly at the cut", () => {
    const tail = createTailBuffer(4);
    tail.append("ab\ncde\n");
    expect(tail.text()).toBe("cde\n");
  });

  it("cuts between characters when no line begins nearby", () => {
    const tail = createTailBuffer(10);
    tail.append("€".repeat(50));
    expect(tail.text()).toBe("€€€");
    const wide = createTailBuffer(100_000);
    wide.append(`${"😀".repeat(50_000)}\n`);
    expect(wide.text()).toMatch(/^(😀)+\n$/u);
    expect(Buffer.byteLength(wide.text())).toBeGreaterThan(99_990);
  });
});

describe("createTextCleaner()", () => {
  const source = Buffer.from("a\u001b[1;31mrot\u001b[0m €\r\nb\rc\u001b]8;;http://x\u0007link\u001b]8;;\u001b\\!\r\n");

  it("gives the same plain text wherever the chunks are cut", () => {
    for (let cut = 0; cut <= source.length; cut += 1) {
      const cleaner = createTextCleaner();
      const text = cleaner.push(source.subarray(0, cut)) + cleaner.push(source.subarray(cut)) + cleaner.end();
      expect(text, `cut at ${cut}`).toBe("arot €\nb\nclink!\n");
    }
  });

  it("does not hold text back for ever when an escape never ends", () => {
    const cleaner = createTextCleaner();
    expect(cleaner.push(Buffer.from("\u001b]"))).toBe("");
    expect(cleaner.push(Buffer.from("x".repeat(1000)))).toContain("xxx");
  });
});

describe("createNodeLog()", () => {
  it("puts a note on a line of its own, also when output has none or an unfinished character", () => {
    const log = createNodeLog("a", 1000);
    log.note("first");
    log.write(Buffer.from("half \u00e9").subarray(0, -1));
    log.note("second");
    expect(log.read().text).toBe("first\nhalf \ufffd\nsecond\n");
  });
});

describe("watchLatest()", () => {
  it("gives changes of one turn as one value, the newest only to a slow reader, and always the last", async () => {
    const source = createSource(0);
    const abort = new AbortController();
    const watch = watchLatest({ read: () => source.get(), subscribe: (listener) => source.subscribe(listener) }, [
      abort.signal,
    ]);
    expect((await watch.next()).value).toBe(0);
    const pending = watch.next();
    source.set(1);
    source.set(2);
    expect((await pending).value).toBe(2);
    for (let value = 3; value < 9; value += 1) {
      source.set(value);
      await new Promise((done) => setImmediate(done));
    }
    expect((await watch.next()).value).toBe(8);
    const waiting = watch.next();
    await watch.return?.();
    expect((await waiting).done).toBe(true);
  });

  it("gives nothing when its signal has aborted before", async () => {
    const watch = watchLatest({ read: () => 1, subscribe: () => () => {} }, [AbortSignal.abort()]);
    expect(await collect(watch)).toEqual([]);
  });
});

describe("createBroadcast()", () => {
  it("keeps every value from the call on for each reader, and ends them after what is queued when closed", async () => {
    const broadcast = createBroadcast<number>();
    broadcast.publish(0);
    const early = broadcast.read(new AbortController().signal);
    broadcast.publish(1);
    const abort = new AbortController();
    const aborted = broadcast.read(abort.signal);
    broadcast.publish(2);
    abort.abort();
    broadcast.close();
    broadcast.publish(3);
    expect(await collect(early)).toEqual([1, 2]);
    expect(await collect(aborted)).toEqual([]);
    expect(await collect(broadcast.read(new AbortController().signal))).toEqual([]);
  });
});

describe("createSource()", () => {
  it("leaves every listener with the newest value when one of them writes", () => {
    const source = createSource(0);
    const heard: number[] = [];
    source.subscribe((value) => value === 1 && source.set(2));
    const stop = source.subscribe((value) => heard.push(value));
    source.set(1);
    stop();
    source.set(3);
    expect(heard.at(-1)).toBe(2);
  });
});
