import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, it, vi } from "vitest";
import { auditLog } from "../../src/audit/index.ts";
import { verifyChain, type ChainReport } from "../../src/audit/verify-chain.ts";
import { atEndOfTest } from "../setup/end-of-test.ts";
import { amount } from "../setup/test-length.ts";
import { freshPath, readLines } from "./support.ts";

const script = fileURLToPath(new URL("./fixtures/write-records.ts", import.meta.url));
const node = [process.execPath, "--import", "tsx", script];

/** Limits files to 100 KiB. The signal of the limit is ignored, so that the write fails as on a full disk, after a part. */
const onFullDisk = ["bash", "-c", `trap '' XFSZ; ulimit -S -f 100; exec "$@"`, "bash"];

/** A process that records. */
class Writer {
  readonly child: ChildProcess;
  text = "";

  constructor([command = "", ...args]: readonly string[]) {
    this.child = spawn(command, args, { stdio: ["ignore", "pipe", "inherit"] });
    this.child.stdout?.setEncoding("utf8").on("data", (text: string) => (this.text += text));
    atEndOfTest(() => this.child.kill("SIGKILL"));
  }

  /** The number of records that it knows to be written. */
  get written(): number {
    return Math.max(0, ...[...this.text.matchAll(/^written (\d+)\n/gm)].map(([, count]) => Number(count)));
  }

  async untilWritten(count: number): Promise<void> {
    while (this.written <= count) {
      if (this.child.exitCode !== null) throw new Error(`The process ended: ${this.text}`);
      await sleep(5);
    }
  }

  async end(signal: NodeJS.Signals): Promise<void> {
    const closed = once(this.child, "close");
    this.child.kill(signal);
    await closed;
  }
}

/** Returns the files of a log, the oldest first. */
function filesOf(path: string): string[] {
  const ages = readdirSync(dirname(path)).map((name) => Number(name.slice(basename(path).length + 1)));
  return ages
    .toSorted((first, second) => second - first)
    .map((age) => (age === 0 ? path : join(dirname(path), `${basename(path)}.${age}`)));
}

async function verify(path: string): Promise<ChainReport> {
  const report = await verifyChain(filesOf(path));
  expect(report.broken).toBeUndefined();
  return report;
}

/** Checks the records of a log, which are numbered from 1 in each process. Returns how many each process wrote. */
function countRecords(path: string): number[] {
  const isLine = (line: string): boolean => line.startsWith('{"v":1,') && line.endsWith("}");
  const runs: unknown[][] = [];
  for (const { type, address } of filesOf(path).flatMap((file) => readLines(file, isLine))) {
    if (type === "opened") runs.push([]);
    if (type === "refused") runs.at(-1)?.push(address);
  }
  for (const found of runs) expect(found).toEqual(found.map((_address, index) => String(index + 1)));
  return runs.map((found) => found.length);
}

// The processes share the machine with other deep tests: a bound on a hang.
describe("an audit log in a process of its own", { timeout: 180_000 }, () => {
  it("has every record that was flushed, and an intact chain, when the process is killed again and again", async () => {
    const path = freshPath();
    const rounds = amount(6, 24);
    const written: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const writer = new Writer([...node, path, "flood"]);
      await writer.untilWritten(3000 * (round % 3));
      await sleep(round * 3);
      await writer.end("SIGKILL");
      written.push(writer.written);
    }
    const { notes } = await verify(path);
    const counts = countRecords(path);
    expect(counts).toHaveLength(written.length);
    for (const [round, count] of counts.entries()) expect(count).toBeGreaterThanOrEqual(written[round] ?? 0);
    // Each start but the first says that the process before was killed.
    expect(notes.filter(({ text }) => text.includes("was killed")).length).toBeGreaterThanOrEqual(rounds - 1);
  });

  it("has every record, in order, when the process exits while a write is under way", async () => {
    const path = freshPath();
    // One thread, so that a write can be made to wait for it.
    const writer = new Writer(["env", "UV_THREADPOOL_SIZE=1", ...node, path, "exit"]);
    expect(await once(writer.child, "close")).toEqual([0, null]);
    expect(await verify(path)).toMatchObject({ notes: [], records: 4 });
    expect(countRecords(path)).toEqual([2]);
    expect(readLines(path).at(-1)).toMatchObject({ type: "closed" });
  });

  it("continues the chain of another process when it exits", async () => {
    const path = freshPath();
    const writer = new Writer([...node, path, "shared"]);
    await writer.untilWritten(0);
    await auditLog({ path }).close();
    await writer.end("SIGUSR2");
    const { notes, records } = await verify(path);
    expect(records).toBe(7);
    expect(notes.at(-1)).toMatchObject({ line: 5, text: "another program has changed the file" });
  });

  it.runIf(process.platform === "linux")("goes on after a full disk without a torn line", async () => {
    const path = freshPath();
    const writer = new Writer([...onFullDisk, ...node, path, "steady"]);
    await vi.waitFor(() => expect(writer.text).toContain("fault EFBIG"), { timeout: 30_000 });
    await sleep(1500);
    const before = writer.written;
    expect(spawnSync("prlimit", ["--pid", String(writer.child.pid), "--fsize=unlimited:unlimited"]).status).toBe(0);
    await writer.untilWritten(before + 10);
    await writer.end("SIGUSR2");
    const report = await verify(path);
    expect(report.notes).toEqual([]);
    expect(writer.text.match(/fault/g)).toHaveLength(1);
    expect(countRecords(path)).toEqual([writer.written]);
  });

  it.runIf(process.platform === "linux")("completes a torn line when the process exits after a full disk", async () => {
    const path = freshPath();
    const writer = new Writer([...onFullDisk, ...node, path, "fault"]);
    expect(await once(writer.child, "close")).toEqual([0, null]);
    expect(await verify(path)).toMatchObject({ notes: [] });
    expect(countRecords(path)).toEqual([3000]);
  });
});
