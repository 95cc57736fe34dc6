import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, symlink, utimes } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Claim, withLock } from "../../../src/links/unix/with-lock.ts";
import { afterThis, listenRaw, newFolder } from "./support.ts";

/** A bound on a hang that is well below what the lock of a process that is stuck costs. */
const longMs = 8000;

const module = new URL("../../../src/links/unix/with-lock.ts", import.meta.url).href;

/** A process that takes the lock of a path, and keeps it; it says so when it has it. */
async function hold(path: string): Promise<ChildProcess> {
  const code = `
    const { createServer } = await import("node:net");
    const { withLock } = await import(${JSON.stringify(module)});
    const [path, from] = ${JSON.stringify([path, `${path}-child`])};
    createServer().listen(from, () => withLock({ path, from }, () => new Promise(() => console.log("held"))));`;
  const args = ["--import", import.meta.resolve("tsx"), "--input-type=module", "-e", code];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  afterThis(() => child.kill("SIGKILL"));
  await once(child.stdout, "data");
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  const gone = once(child, "exit");
  child.kill("SIGKILL");
  await gone;
}

/** A path to claim, and a socket to claim it with, on which this process listens. */
async function newClaim(): Promise<Claim> {
  const path = join(await newFolder(), "s");
  const from = `${path}-own`;
  await listenRaw(from);
  return { path, from };
}

/** What the work comes to, or that it is not done by then. */
async function within(ms: number, work: Promise<unknown>): Promise<unknown> {
  return Promise.race([work, new Promise((resolve) => setTimeout(resolve, ms, "waits").unref())]);
}

const act = async (): Promise<string> => "done";

describe("withLock()", { timeout: 30_000 }, () => {
  it("goes on at once when whoever had the lock was killed", async () => {
    const claim = await newClaim();
    await kill(await hold(claim.path));
    expect(await within(longMs, withLock(claim, act))).toBe("done");
    expect(await readdir(dirname(claim.path))).toEqual(["s-child", "s-own"]);
  });

  it("waits when another process has the lock, and no longer", async () => {
    const claim = await newClaim();
    const child = await hold(claim.path);
    const waiting = withLock(claim, act);
    expect(await within(150, waiting)).toBe("waits");
    await kill(child);
    expect(await within(longMs, waiting)).toBe("done");
  });

  it("lets one act after the other when several of one process want the same lock", async () => {
    const claim = await newClaim();
    let acting = 0;
    let most = 0;
    const alone = async (): Promise<void> => {
      acting += 1;
      most = Math.max(most, acting);
      await new Promise((resolve) => setTimeout(resolve, 5));
      acting -= 1;
    };
    await Promise.all(Array.from({ length: 8 }, () => withLock(claim, alone)));
    expect(most).toBe(1);
  });

  it("lets go when what it was taken for fails", async () => {
    const claim = await newClaim();
    const failing = withLock(claim, async () => {
      throw new Error("failed");
    });
    await expect(failing).rejects.toThrow("failed");
    expect(await withLock(claim, act)).toBe("done");
  });

  it("takes the lock of a process that is stuck when that is old", async () => {
    const claim = await newClaim();
    await hold(claim.path);
    await utimes(`${claim.path}.lock`, 1, 1);
    expect(await within(longMs, withLock(claim, act))).toBe("done");
  });

  it("waits when nobody can tell whether there is somebody", async () => {
    const claim = await newClaim();
    // A link that leads to itself: it is there, and cannot be connected to.
    await symlink("s.lock", `${claim.path}.lock`);
    expect(await within(150, withLock(claim, act))).toBe("waits");
  });
});
