import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { lstat, mkdir, readdir, rm, symlink, utimes } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { type Claim, withLock } from "../../../src/links/unix/open-unix-listener.ts";
import { bundleScript } from "../../fixtures/bundle-script.ts";
import { afterThis, leaveStale, listenRaw, newFolder } from "./support.ts";

/** A bound on a hang that is below the patience of a starter. */
const longMs = 4000;

const script = await bundleScript(
  new URL("../../../src/links/unix/open-unix-listener.ts", import.meta.url),
  "with-lock",
);
const module = pathToFileURL(script).href;

/** A process that takes the lock of a path, and keeps it; it says so when it has it. */
async function hold(path: string): Promise<ChildProcess> {
  const code = `
    const { createServer } = await import("node:net");
    const { withLock } = await import(${JSON.stringify(module)});
    const [path, from] = ${JSON.stringify([path, `${path}-child`])};
    createServer().listen(from, () => withLock({ path, from }, () => new Promise(() => console.log("held"))));`;
  const args = ["--input-type=module", "-e", code];
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

  it("gives up with SOCKET_IN_USE when it waits for too long", async () => {
    const claim = await newClaim();
    await hold(claim.path);
    const { ino } = await lstat(`${claim.path}.lock`);
    await expect(withLock(claim, act, 100)).rejects.toMatchObject({ code: "SOCKET_IN_USE" });
    expect((await lstat(`${claim.path}.lock`)).ino).toBe(ino);
  });

  it("leaves what no process has put there alone when it gives up", async () => {
    const claim = await newClaim();
    await mkdir(`${claim.path}.lock`);
    await utimes(`${claim.path}.lock`, 1, 1);
    await expect(withLock(claim, act, 100)).rejects.toMatchObject({ code: "SOCKET_IN_USE" });
    expect(await readdir(dirname(claim.path))).toEqual(["s-own", "s.lock"]);
  });

  it("lets one act at a time when many want a lock that was left", async () => {
    const claim = await newClaim();
    await leaveStale(`${claim.path}.lock`);
    let acting = 0;
    let most = 0;
    const alone = async (): Promise<void> => {
      acting += 1;
      most = Math.max(most, acting);
      await new Promise((resolve) => setTimeout(resolve, 2));
      acting -= 1;
    };
    const wanting = Array.from({ length: 12 }, async (_, index) => {
      const from = `${claim.path}-${index}`;
      await listenRaw(from);
      await withLock({ path: claim.path, from }, alone);
    });
    await Promise.all(wanting);
    expect(most).toBe(1);
  });

  it("leaves the lock of another alone when its own was taken from it", async () => {
    const claim = await newClaim();
    await withLock(claim, async () => {
      await rm(`${claim.path}.lock`);
      await listenRaw(`${claim.path}.lock`);
    });
    expect(await readdir(dirname(claim.path))).toEqual(["s-own", "s.lock"]);
  });

  it("waits when nobody can tell whether there is somebody", async () => {
    const claim = await newClaim();
    // A link that leads to itself: it is there, and cannot be connected to.
    await symlink("s.lock", `${claim.path}.lock`);
    expect(await within(150, withLock(claim, act))).toBe("waits");
  });
});
