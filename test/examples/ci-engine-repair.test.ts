import { link, mkdir, mkdtemp, readFile, readdir, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";

import { parseCompilerErrors } from "../../examples/ci/engine/compiler-errors.ts";
import { createEngine } from "../../examples/ci/engine/engine.ts";
import { readPipelineFile } from "../../examples/ci/engine/pipeline-file.ts";
import { fillPlaceholders } from "../../examples/ci/engine/placeholders.ts";
import { repair } from "../../examples/ci/engine/repair.ts";
import { prepareScratch } from "../../examples/ci/engine/scratch.ts";
import { nextVerdict } from "./ci-support.ts";

describe("prepareScratch()", () => {
  it("makes a private folder of its own each time, and dispose() removes it, twice without harm", async () => {
    const [one, two] = await Promise.all([prepareScratch(), prepareScratch()]);
    expect(one.dir).not.toBe(two.dir);
    expect((await stat(one.dir)).mode & 0o777).toBe(0o700);
    expect((await readdir(one.dir)).toSorted()).toEqual(["package.json", "src", "tsconfig.json"]);
    await Promise.all([one.dispose(), two.dispose()]);
    await one.dispose();
    await expect(stat(one.dir)).rejects.toThrow("ENOENT");
  });

  it("goes from red to green through the engine when the compiler's own proposal is applied", async () => {
    const scratch = await prepareScratch();
    onTestFinished(() => scratch.dispose());
    const file = await readPipelineFile(resolve(import.meta.dirname, "../../examples/ci/pipeline.json"));
    const nodes = fillPlaceholders(file, { scratch: scratch.dir }).nodes.filter(({ id }) => id.startsWith("scratch"));
    const engine = createEngine({ name: "scratch", nodes });
    onTestFinished(() => engine.close());

    const red = nextVerdict(engine, "settled");
    engine.start();
    expect(await red).toMatchObject({ verdict: "red", red: ["scratch"], skipped: 1 });
    const [error, ...others] = parseCompilerErrors(engine.log("scratch").text);
    expect(others).toEqual([]);
    expect(error).toMatchObject({ file: "src/basket.ts", line: 10, code: "TS2551", suggestion: "count" });
    if (!error) return;
    expect(await repair(scratch.dir, error)).toMatchObject({ file: "src/basket.ts", from: "cuont", to: "count" });

    const green = nextVerdict(engine, "settled");
    expect(engine.rerun("scratch").nodes).toEqual(["scratch", "scratch-run"]);
    expect(await green).toMatchObject({ run: 1, verdict: "green", passed: 2 });
    expect(engine.log("scratch-run").text).toMatch(/\ntotal is 430\n$/);
    await expect(repair(scratch.dir, error)).rejects.toMatchObject({ code: "NOT_REPAIRABLE" });
  });
});

describe("parseCompilerErrors()", () => {
  it("reads plain and pretty lines, and passes over everything else", () => {
    const log = [
      "$ tsc -p .",
      "src/a.ts(3,14): error TS2345: Argument of type 'string' is not assignable to parameter of type 'number'.",
      "  Elaboration error TS1: not this",
      "../b c.ts:7:2 - error TS2551: Property 'lenght' does not exist on type 'A'. Did you mean 'length'?",
      "error TS18003: No inputs were found",
      "src/(group)/a.ts(1,1): warning TS1: x",
    ].join("\n");
    expect(parseCompilerErrors(log)).toEqual([
      {
        file: "src/a.ts",
        line: 3,
        column: 14,
        code: "TS2345",
        message: "Argument of type 'string' is not assignable to parameter of type 'number'.",
      },
      {
        file: "../b c.ts",
        line: 7,
        column: 2,
        code: "TS2551",
        message: "Property 'lenght' does not exist on type 'A'. Did you mean 'length'?",
        suggestion: "length",
      },
    ]);
  });

  it("reads a file below a folder with brackets in its name", () => {
    expect(parseCompilerErrors("app/(shop)/a.ts(1,2): error TS1: x")[0]).toMatchObject({
      file: "app/(shop)/a.ts",
      line: 1,
    });
  });

  it("does not take long for a line made to be slow", () => {
    const started = performance.now();
    expect(parseCompilerErrors("a(1".repeat(20_000) + "\n" + "a(1,1".repeat(13_000))).toEqual([]);
    expect(performance.now() - started).toBeLessThan(5000);
  });
});

describe("repair()", () => {
  let outer = "";
  let dir = "";
  const text = "const a = 1;\r\nexport const x = point.lenght + lenghts; // lenght\r\n";
  const message = "Property 'lenght' does not exist on type 'Point'. Did you mean 'length'?";
  const error = { file: "src/a.ts", line: 2, column: 24, code: "TS2551", message };
  const outcome = (change: object): Promise<unknown> => repair(dir, { ...error, ...change }).catch((e: unknown) => e);

  beforeEach(async () => {
    outer = await mkdtemp(join(tmpdir(), "ci-repair-"));
    dir = join(outer, "inside");
    await mkdir(join(dir, "src"), { recursive: true });
    await writeFile(join(dir, "src/a.ts"), text);
    await writeFile(join(outer, "outside.ts"), text);
  });
  afterEach(() => rm(outer, { recursive: true, force: true }));

  it("replaces the name at the position by the proposed one, and nothing else", async () => {
    expect(await repair(dir, error)).toEqual({
      file: "src/a.ts",
      line: 2,
      column: 24,
      from: "lenght",
      to: "length",
      before: "export const x = point.lenght + lenghts; // lenght",
      after: "export const x = point.length + lenghts; // lenght",
    });
    expect(await readFile(join(dir, "src/a.ts"), "utf8")).toBe(text.replace("lenght", "length"));
    expect(await readdir(join(dir, "src"))).toEqual(["a.ts"]);
  });

  it("accepts an absolute path inside, and leaves a hard link elsewhere as it was", async () => {
    await link(join(dir, "src/a.ts"), join(outer, "linked.ts"));
    expect(await outcome({ file: join(dir, "src/a.ts") })).toMatchObject({ file: "src/a.ts", to: "length" });
    expect(await readFile(join(outer, "linked.ts"), "utf8")).toBe(text);
  });

  it.each(["../outside.ts", "src/../../outside.ts", ".", "..", "/etc/hostname", "../inside-not/a.ts"])(
    "refuses the path %s, which is not inside",
    async (file) => {
      expect(await outcome({ file })).toMatchObject({ code: "OUTSIDE_SCRATCH" });
    },
  );

  it("refuses links that lead out, of a file or of a folder, and changes nothing behind them", async () => {
    await symlink(join(outer, "outside.ts"), join(dir, "src/link.ts"));
    await symlink(outer, join(dir, "up"));
    expect(await outcome({ file: "src/link.ts" })).toMatchObject({ code: "OUTSIDE_SCRATCH" });
    expect(await outcome({ file: "up/outside.ts" })).toMatchObject({ code: "OUTSIDE_SCRATCH" });
    expect(await readFile(join(outer, "outside.ts"), "utf8")).toBe(text);
  });

  it.each([
    ["another code", { code: "TS2322" }],
    ["no proposal", { message: "Property 'lenght' does not exist on type 'Point'." }],
    ["a proposal that is not a name", { message: "Property 'lenght' … Did you mean 'a; b()'?" }],
    ["a name that begins elsewhere", { column: 25 }],
    ["a longer name than the message's", { column: 33 }],
    ["a position without a name", { column: 23 }],
    ["a line that is not there", { line: 99 }],
    ["a column that is not there", { column: 999 }],
    ["a position that is not a number", { line: Number.NaN, column: -4 }],
    ["a file that is not there", { file: "src/b.ts" }],
    ["a folder", { file: "src" }],
  ])("refuses %s", async (_what, change) => {
    expect(await outcome(change)).toMatchObject({ code: "NOT_REPAIRABLE" });
    expect(await readFile(join(dir, "src/a.ts"), "utf8")).toBe(text);
  });
});
