import { mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { describe, expect, it } from "vitest";
import { auditLog } from "../../src/audit/index.ts";
import { bench } from "../cli/support.ts";
import { freshPath } from "./support.ts";

/** Writes a log of two files: records 1 to 5, and 6 to 9. */
async function writeLog(path: string): Promise<void> {
  for (const part of [3, 2]) {
    const audit = auditLog({ path });
    for (let index = 0; index < part; index += 1)
      audit.record({ type: "refused", at: 0, transport: "http", stage: "token", address: `192.0.2.${index}` });
    await audit.close();
    if (part === 3) renameSync(path, `${path}.1`);
  }
}

type Change = (lines: string[], other: string[]) => void;

function change(path: string, edit: Change): void {
  const files = [path, `${path}.1`].map((file) => ({ file, lines: readFileSync(file, "utf8").split("\n") }));
  const [current, rotated] = files;
  if (current !== undefined && rotated !== undefined) edit(rotated.lines, current.lines);
  for (const { file, lines } of files) writeFileSync(file, lines.join("\n"));
}

function swap(lines: string[], index: number): void {
  lines.splice(index, 2, lines[index + 1] ?? "", lines[index] ?? "");
}

async function verify(path: string, ...args: readonly string[]) {
  const at = await bench();
  return at.run("audit", "verify", path, ...args);
}

describe("surface-mcp audit verify", () => {
  it("exits with 0, and writes the last hash, when the chain is intact over all files", async () => {
    const path = freshPath();
    await writeLog(path);
    const { code, out } = await verify(path);
    expect(out).toMatch(/^intact: 9 records, 1 to 9, in 2 files\nlast: [0-9a-f]{64}\n$/);
    expect(code).toBe(0);
    // As a shell would expand a pattern.
    expect(await verify(path, `${path}.1`)).toMatchObject({ code: 0, out });
  });

  it.each<[string, Change, file: string, line: number, problem: string]>([
    ["edited", (old) => (old[1] = old[1]?.replace("192", "193") ?? ""), ".1", 3, "one of them was changed"],
    ["edited so that it is no JSON", (old) => (old[1] = `x${old[1]}`), ".1", 2, "not a record"],
    ["removed", (old) => old.splice(2, 1), ".1", 3, "records 3 to 3 are missing"],
    ["removed at the start of a file", (_old, now) => now.splice(0, 1), "", 1, "records 6 to 6 are missing"],
    ["removed at the end of a file", (old) => old.splice(4, 1), "", 1, "records 5 to 5 are missing"],
    ["swapped with the next one", (old) => swap(old, 1), ".1", 2, "records 2 to 2 are missing"],
    ["written twice", (old) => old.splice(2, 0, old[1] ?? ""), ".1", 3, "record 2 is after record 2"],
    ["inserted", (old) => old.splice(2, 0, '{"v":1,"seq":3,"prev":"0"}'), ".1", 3, "one of them was changed"],
    ["emptied", (old) => (old[2] = ""), ".1", 3, "not a record"],
    ["cut in the middle of the log", (old) => (old[2] = old[2]?.slice(0, 20) ?? ""), ".1", 3, "not a record"],
    ["moved to the other file", (old, now) => now.unshift(...old.splice(1, 1)), ".1", 2, "records 2 to 2 are missing"],
  ])("exits with 1, and says where, when a line was %s", async (...row) => {
    const [, edit, file, line, problem] = row;
    const path = freshPath();
    await writeLog(path);
    change(path, edit);
    const { code, out } = await verify(path);
    expect(out).toContain(`broken: ${path}${file}:${line}: `);
    expect(out).toContain(problem);
    expect(code).toBe(1);
  });

  it("exits with 0, and names the line, when the last line is incomplete", async () => {
    const path = freshPath();
    await writeLog(path);
    change(path, (_old, now) => now.splice(3, 2, now[3]?.slice(0, 30) ?? ""));
    const { code, out } = await verify(path);
    expect(out).toContain(`note: ${path}:4: this line is incomplete`);
    expect(out).toContain("intact: 8 records");
    expect(code).toBe(0);
  });

  it("finds removed lines at the end, and a log that was written anew, when it knows an earlier hash", async () => {
    const path = freshPath();
    await writeLog(path);
    const hash = /last: (\w+)/.exec((await verify(path)).out)?.[1] ?? "";
    await auditLog({ path }).close();
    expect(await verify(path, "--has", hash)).toMatchObject({ code: 0 });
    change(path, (_old, now) => now.splice(3, 3));
    expect(await verify(path)).toMatchObject({ code: 0 });
    expect(await verify(path, "--has", hash)).toMatchObject({
      code: 1,
      out: expect.stringContaining("broken: no record"),
    });
  });

  it.each<[string, (path: string) => void, string]>([
    ["does not exist", () => {}, "ENOENT"],
    ["is a folder", (path) => mkdirSync(path), "not a file"],
    ["has a newer format", (path) => writeFileSync(path, '{"v":2,"seq":1,"prev":"0"}\n'), "its format is 2, not 1"],
    ["is a link to nothing", (path) => symlinkSync(`${path}-none`, path), "ENOENT"],
  ])("exits with 2 when a file %s", async (_what, make, problem) => {
    const path = freshPath();
    mkdirSync(dirname(path));
    make(path);
    expect(await verify(path)).toMatchObject({ code: 2, out: "", err: expect.stringContaining(problem) });
  });

  it.each([["audit"], ["audit", "verify"], ["audit", "check", "a"], ["audit", "verify", "a", "--hash", "b"]])(
    "exits with 2 when the command line is %s %s %s",
    async (...args) => {
      const at = await bench();
      expect(await at.run(...args)).toMatchObject({ code: 2, err: expect.stringContaining("--help") });
    },
  );

  it("ends when a line has no end", async () => {
    const path = freshPath();
    mkdirSync(dirname(path));
    writeFileSync(path, `{"v":1,"seq":${"1".repeat(3_000_000)}\n`);
    expect(await verify(path)).toMatchObject({ code: 0, out: expect.stringContaining("incomplete") });
  });
});
