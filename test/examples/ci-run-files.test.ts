import { execFileSync } from "node:child_process";
import { link, mkdir, mkdtemp, readFile, readdir, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { LOG_BYTES } from "../../examples/ci/engine/log-tail.ts";
import { readRunLog } from "../../examples/ci/engine/read-run-log.ts";
import { CUT_MARK, openRunFiles } from "../../examples/ci/engine/run-files.ts";
import { rigOf } from "./ci-support.ts";

const MAKE_PIPE = "mkfifo";

let dir = "";
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "ci-run-files-"));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const fileOf = (run: number, node: string): string => join(dir, String(run), `${node}.log`);

describe("openRunFiles()", () => {
  it("has written everything that a node's log says when the engine has settled", async () => {
    const rig = rigOf(
      {
        a: { script: `console.log("one"); console.error("two")` },
        b: { script: "process.exit(3)" },
        c: { needs: ["b"] },
      },
      { files: openRunFiles(dir) },
    );
    const settled = rig.settled();
    rig.engine.start();
    await settled;
    for (const node of ["a", "b", "c"]) {
      expect(await readFile(fileOf(1, node), "utf8")).toBe(rig.engine.log(node).text);
    }
    expect((await stat(fileOf(1, "a"))).mode & 0o777).toBe(0o600);
    expect(await readRunLog(dir, "c")).toEqual({
      run: 1,
      node: "c",
      text: '[ci] skipped: it needs "b"\n',
      truncated: false,
    });
  });

  it("begins a file anew with each attempt, and a folder with each run", async () => {
    const files = openRunFiles(dir);
    files.begin(1, ["a"]);
    files.append(1, "a", "first\n");
    files.begin(1, ["a"]);
    files.append(1, "a", "second\n");
    expect((await readRunLog(dir, "a"))?.text).toBe("second\n");
    files.begin(2, ["a"]);
    expect(await readRunLog(dir, "a")).toEqual({ run: 2, node: "a", text: "", truncated: false });
  });

  it("keeps the last ten runs, and none of a state that has begun again", async () => {
    const files = openRunFiles(dir);
    for (let run = 1; run <= 12; run += 1) files.begin(run, ["a"]);
    expect((await readdir(dir)).map(Number).toSorted((a, b) => a - b)).toEqual([3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    files.begin(1, ["a"]);
    expect(await readdir(dir)).toEqual(["1"]);
  });

  it("cuts a file that has grown too large to its newest part, and says so in it", async () => {
    const files = openRunFiles(dir);
    files.begin(1, ["a"]);
    const line = `${"x".repeat(1023)}\n`;
    for (let lines = 0; lines < 1025; lines += 1) files.append(1, "a", line);
    expect((await stat(fileOf(1, "a"))).size).toBe(LOG_BYTES + CUT_MARK.length);
    files.append(1, "a", "the end\n");
    expect(await readFile(fileOf(1, "a"), "utf8")).toMatch(
      /^\[ci\] the beginning of this log was cut off\nx+\n[^]*the end\n$/,
    );
    expect(await readRunLog(dir, "a")).toMatchObject({ truncated: true });
  });

  it("lets the run go on when nothing can be written", async () => {
    await writeFile(join(dir, "file"), "");
    const rig = rigOf({ a: { script: `console.log("said")` } }, { files: openRunFiles(join(dir, "file")) });
    const settled = rig.settled();
    rig.engine.start();
    expect((await settled).verdict).toBe("green");
    expect(rig.engine.log("a").text).toContain("said");
  });

  it("writes through no link that somebody has put there", async () => {
    const files = openRunFiles(dir);
    files.begin(1, ["a"]);
    await rm(fileOf(1, "a"));
    await writeFile(join(dir, "victim"), "kept");
    await symlink(join(dir, "victim"), fileOf(1, "a"));
    files.append(1, "a", "lost");
    files.begin(1, ["a"]);
    expect(await readFile(join(dir, "victim"), "utf8")).toBe("kept");
  });

  it("neither empties nor writes what has a name elsewhere too", async () => {
    await mkdir(join(dir, "1"));
    await writeFile(join(dir, "victim"), "kept");
    await link(join(dir, "victim"), fileOf(1, "a"));
    const files = openRunFiles(dir);
    files.begin(1, ["a", "b"]);
    for (const node of ["a", "b"]) files.append(1, node, "said");
    expect(await readFile(join(dir, "victim"), "utf8")).toBe("kept");
    expect(await readFile(fileOf(1, "b"), "utf8")).toBe("said");
  });

  it("neither empties nor writes what is in another folder, to which a link stands in the place of a run's", async () => {
    await mkdir(join(dir, "elsewhere"));
    await writeFile(join(dir, "elsewhere", "a.log"), "kept");
    await symlink(join(dir, "elsewhere"), join(dir, "1"));
    const files = openRunFiles(dir);
    files.begin(1, ["a", "b"]);
    for (const node of ["a", "b"]) files.append(1, node, "said");
    expect(await readFile(join(dir, "elsewhere", "a.log"), "utf8")).toBe("kept");
    expect(await readdir(join(dir, "elsewhere"))).toEqual(["a.log"]);
  });

  it("waits for nobody at a pipe", async () => {
    await mkdir(join(dir, "1"));
    execFileSync(MAKE_PIPE, [fileOf(1, "a")]);
    const files = openRunFiles(dir);
    files.begin(1, ["a"]);
    files.append(1, "a", "said");
    expect((await stat(fileOf(1, "a"))).isFIFO()).toBe(true);
  });
});

describe("readRunLog()", () => {
  const write = async (text: string | Buffer, node = "a"): Promise<void> => {
    await mkdir(join(dir, "1"), { recursive: true });
    await writeFile(fileOf(1, node), text);
  };

  it.each([
    ["of exactly the bound", "é".repeat(LOG_BYTES / 2), LOG_BYTES, false],
    ["of a byte more, at a character", `a${"é".repeat(LOG_BYTES / 2)}`, LOG_BYTES, true],
    ["that is cut inside a character", `ab${"é".repeat(LOG_BYTES / 2)}a`, LOG_BYTES - 1, true],
    ["of long lines, at a character", "x".repeat(3 * LOG_BYTES), LOG_BYTES, true],
    ["that was cut before", `${CUT_MARK}rest\n`, CUT_MARK.length + 5, true],
    ["that is empty", "", 0, false],
  ])("answers the newest part of a file %s, and says whether it was cut", async (...[, text, bytes, truncated]) => {
    await write(text);
    const log = await readRunLog(dir, "a");
    expect(log?.truncated).toBe(truncated);
    expect(Buffer.byteLength(log?.text ?? "")).toBe(bytes);
    expect(text.endsWith(log?.text ?? "-")).toBe(true);
  });

  it("begins at a line when one begins near the cut", async () => {
    await write(`first\n${"x".repeat(100)}\n${"y".repeat(LOG_BYTES - 50)}`);
    expect((await readRunLog(dir, "a"))?.text).toMatch(/^y+$/);
  });

  it("keeps to its bound when the bytes are no text", async () => {
    await write(Buffer.alloc(2 * LOG_BYTES, 0xff));
    const log = await readRunLog(dir, "a");
    expect(Buffer.byteLength(log?.text ?? "")).toBeLessThanOrEqual(LOG_BYTES);
    expect(log?.truncated).toBe(true);
  });

  it("answers from the newest run by number, and from no other folder", async () => {
    for (const run of ["9", "10", "011", "-1", "2x"]) {
      await mkdir(join(dir, run));
      await writeFile(join(dir, run, "a.log"), run);
    }
    expect(await readRunLog(dir, "a")).toEqual({ run: 10, node: "a", text: "10", truncated: false });
  });

  it.each([
    "../1/a",
    "..",
    ".",
    "",
    "a.log",
    "A",
    "a/../a",
    "a\0",
    "a\n",
    "/etc/passwd",
    "..%2f1%2fa",
    "a".repeat(65),
    "ä",
  ])("makes no path of %j", async (node) => {
    await write("secret");
    await writeFile(join(dir, "1", "a.log.log"), "secret");
    expect(await readRunLog(dir, node)).toBeUndefined();
  });

  it("follows no link: of the file, of the run, or a second name", async () => {
    await mkdir(join(dir, "elsewhere"));
    await writeFile(join(dir, "elsewhere", "a.log"), "secret");
    await write("own");
    await rm(fileOf(1, "a"));
    await symlink(join(dir, "elsewhere", "a.log"), fileOf(1, "a"));
    expect(await readRunLog(dir, "a")).toBeUndefined();
    await rm(fileOf(1, "a"));
    await link(join(dir, "elsewhere", "a.log"), fileOf(1, "a"));
    expect(await readRunLog(dir, "a")).toBeUndefined();
    await rename(join(dir, "1"), join(dir, "moved"));
    await symlink(join(dir, "elsewhere"), join(dir, "1"));
    expect(await readRunLog(dir, "a")).toBeUndefined();
  });

  it("waits for nobody at a pipe, and answers nothing for a folder or where there is no run", async () => {
    expect(await readRunLog(join(dir, "nowhere"), "a")).toBeUndefined();
    expect(await readRunLog(dir, "a")).toBeUndefined();
    await mkdir(fileOf(1, "a"), { recursive: true });
    expect(await readRunLog(dir, "a")).toBeUndefined();
    execFileSync(MAKE_PIPE, [fileOf(1, "pipe")]);
    expect(await readRunLog(dir, "pipe")).toBeUndefined();
  });
});
