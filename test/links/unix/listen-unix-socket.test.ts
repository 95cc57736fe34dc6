import { once } from "node:events";
import { chmod, lstat, mkdir, readdir, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { dirname, join, relative } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { listenUnixSocket, unixSocket } from "../../../src/links/unix-socket.ts";
import { openUnixListener } from "../../../src/links/unix/open-unix-listener.ts";
import { echo, startEcho } from "../support/echo-surface.ts";
import { until } from "../transport/support.ts";
import { accessOf, afterThis, leaveStale, listenRaw, newFolder } from "./support.ts";

async function newPath(): Promise<string> {
  return join(await newFolder(), "s.sock");
}

function openEcho(): ReturnType<typeof startEcho> {
  const started = startEcho();
  afterThis(() => started.live.close());
  return started;
}

async function say(path: string): Promise<string> {
  const connection = await unixSocket(path).connect(echo);
  const said = await connection.client.say.call("hello");
  await connection.close();
  return said;
}

async function dial(path: string): Promise<Socket> {
  const socket = connect(path);
  socket.on("error", () => {});
  afterThis(() => socket.destroy());
  await once(socket, "connect");
  return socket;
}

describe("listenUnixSocket()", () => {
  it("serves many at once, on a socket and in a directory of its user alone, when nothing is there", async () => {
    const { live } = openEcho();
    const path = join(await newFolder(), "a", "b", "s.sock");
    const listening = await listenUnixSocket(live, path);
    expect(listening.path).toBe(path);
    expect(await Promise.all(Array.from({ length: 40 }, () => say(path)))).toEqual(Array(40).fill("hello"));
    expect((await lstat(path)).mode & 0o777).toBe(0o600);
    expect((await lstat(dirname(path))).mode & 0o777).toBe(0o700);
    expect(await readdir(dirname(path))).toEqual(["s.sock"]);
    await listening.close();
    await listening.close();
    await listening.closed;
    expect(await readdir(dirname(path))).toEqual([]);
  });

  it("names its path in full when it was given a relative one", async () => {
    const { live } = openEcho();
    const path = await newPath();
    const listening = await listenUnixSocket(live, relative(process.cwd(), path));
    expect(listening.path).toBe(path);
  });

  it("takes a path of 107 bytes, also one that leaves no room for a name beside it, and refuses a longer one", async () => {
    const { live } = openEcho();
    const folder = await newFolder();
    const deep = join(folder, "d".repeat(107 - Buffer.byteLength(folder) - 3));
    const path = join(deep, "s");
    expect(Buffer.byteLength(path)).toBe(107);
    await listenUnixSocket(live, path);
    expect(await say(path)).toBe("hello");
    expect(await readdir(deep)).toEqual(["s"]);
    await expect(listenUnixSocket(live, `${path}s`)).rejects.toMatchObject({ code: "INVALID_OPTION" });
    await expect(listenUnixSocket(live, join(folder, "a\0b"))).rejects.toMatchObject({ code: "INVALID_OPTION" });
  });

  it.each([0o710, 0o701, 0o770, 0o707, 0o755])(
    "refuses a directory that others can reach into when it has mode %o",
    async (mode) => {
      const { live } = openEcho();
      const path = await newPath();
      await chmod(dirname(path), mode);
      await expect(listenUnixSocket(live, path)).rejects.toMatchObject({
        code: "UNSAFE_DIRECTORY",
        message: expect.stringContaining(`chmod 700 "${dirname(path)}"`),
      });
      expect(await readdir(dirname(path))).toEqual([]);
    },
  );

  it("proposes no other mode for the folder of the project", async () => {
    const { live } = openEcho();
    const path = await newPath();
    await chmod(dirname(path), 0o755);
    const cwd = vi.spyOn(process, "cwd").mockReturnValue(join(dirname(path), "src"));
    afterThis(() => cwd.mockRestore());
    await expect(listenUnixSocket(live, path)).rejects.toMatchObject({
      code: "UNSAFE_DIRECTORY",
      message: expect.stringMatching(/; use a directory of the application alone, for example "[^"]+my-app"$/),
    });
  });

  it.each(["/tmp", "/", "/var"])(
    "proposes a directory of the application alone when it is to listen in %s",
    async (folder) => {
      const { live } = openEcho();
      const listening = openUnixListener({
        live: { ...live },
        path: join(folder, "x.sock"),
        access: accessOf({ uid: 0 }),
      });
      await expect(listening).rejects.toMatchObject({
        code: "UNSAFE_DIRECTORY",
        message: expect.stringMatching(/use a directory of the application alone, for example/),
      });
      await expect(listening).rejects.not.toMatchObject({ message: expect.stringContaining("chmod") });
    },
  );

  it("refuses a directory when others can write above it", async () => {
    const { live } = openEcho();
    const folder = await newFolder();
    await chmod(folder, 0o777);
    await expect(listenUnixSocket(live, join(folder, "mine", "s"))).rejects.toMatchObject({
      code: "UNSAFE_DIRECTORY",
      message: expect.stringContaining(`others can write to "${folder}"`),
    });
  });

  it("refuses a directory of another user, a link to a directory, and a file in its place", async () => {
    const { live } = openEcho();
    const folder = await newFolder();
    await mkdir(join(folder, "real"), { mode: 0o700 });
    await symlink(join(folder, "real"), join(folder, "link"));
    await writeFile(join(folder, "file"), "");
    const unsafe = { code: "UNSAFE_DIRECTORY" };
    const access = accessOf({ uid: 4711 });
    await expect(openUnixListener({ live: { ...live }, path: join(folder, "s"), access })).rejects.toMatchObject(
      unsafe,
    );
    await expect(listenUnixSocket(live, join(folder, "link", "s"))).rejects.toMatchObject(unsafe);
    await expect(listenUnixSocket(live, join(folder, "file", "s"))).rejects.toMatchObject(unsafe);
  });

  it("takes the place of a socket that nobody answers on", async () => {
    const { live } = openEcho();
    const path = await newPath();
    await leaveStale(path);
    await listenUnixSocket(live, path);
    expect(await say(path)).toBe("hello");
    expect(await readdir(dirname(path))).toEqual(["s.sock"]);
  });

  it("leaves a socket alone when somebody answers there", async () => {
    const { live } = openEcho();
    const path = await newPath();
    await listenUnixSocket(live, path);
    const { ino } = await lstat(path);
    await expect(listenUnixSocket(openEcho().live, path)).rejects.toMatchObject({ code: "SOCKET_IN_USE" });
    expect((await lstat(path)).ino).toBe(ino);
    expect(await say(path)).toBe("hello");
    expect(await readdir(dirname(path))).toEqual(["s.sock"]);
  });

  it("leaves a stale socket of another user alone", async () => {
    const { live } = openEcho();
    const path = await newPath();
    await leaveStale(path);
    const own = accessOf({});
    const access = { ...own, lstat: (at: string) => (at === path ? accessOf({ ownerUid: 4711 }) : own).lstat(at) };
    await expect(openUnixListener({ live: { ...live }, path, access })).rejects.toMatchObject({ code: "WRONG_OWNER" });
    expect((await lstat(path)).isSocket()).toBe(true);
  });

  it.each([
    ["a file", (path: string) => writeFile(path, "precious")],
    ["a directory", (path: string) => mkdir(path)],
    ["a link to nothing", (path: string) => symlink(`${path}-gone`, path)],
    [
      "a link to a stale socket",
      async (path: string) => {
        await leaveStale(`${path}-stale`);
        await symlink(`${path}-stale`, path);
      },
    ],
  ])("leaves %s alone when it is at the path", async (_what, put) => {
    const { live } = openEcho();
    const path = await newPath();
    await put(path);
    const before = await lstat(path);
    await expect(listenUnixSocket(live, path)).rejects.toMatchObject({ code: "NOT_A_SOCKET" });
    expect((await lstat(path)).ino).toBe(before.ino);
  });

  it("gives the path to one of many when they start at once over a stale socket", async () => {
    const path = await newPath();
    for (let round = 0; round < 10; round += 1) {
      await leaveStale(path);
      const starts = Array.from({ length: 12 }, () => listenUnixSocket(openEcho().live, path));
      const settled = await Promise.allSettled(starts);
      const started = settled.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
      const codes = settled.flatMap((one) => (one.status === "rejected" ? [Reflect.get(one.reason, "code")] : []));
      expect(started.length).toBe(1);
      expect(new Set(codes)).toEqual(new Set(["SOCKET_IN_USE"]));
      expect(await say(path)).toBe("hello");
      expect(await readdir(dirname(path))).toEqual(["s.sock"]);
      await started[0]?.close();
    }
  }, 120_000);

  it("close() leaves the path alone when another has taken it meanwhile", async () => {
    const path = await newPath();
    const first = await listenUnixSocket(openEcho().live, path);
    await rm(path);
    await listenUnixSocket(openEcho().live, path);
    await first.close();
    expect(await say(path)).toBe("hello");
  });

  it("close() says goodbye, lets calls be answered and leaves the live surface alone", async () => {
    const { live, release, waiting } = openEcho();
    const path = await newPath();
    const listening = await listenUnixSocket(live, path);
    const connection = await unixSocket(path).connect(echo);
    const call = connection.client.wait.call();
    await until(() => waiting() === 1);
    const closing = listening.close();
    await connection.leaving;
    release();
    expect(await call).toBe("released");
    expect(await connection.closed).toEqual({ kind: "gone" });
    await closing;
    const again = await listenUnixSocket(live, path);
    expect(await say(again.path)).toBe("hello");
  });

  it("closes, with goodbye, when the live surface does", async () => {
    const { live } = openEcho();
    const path = await newPath();
    const listening = await listenUnixSocket(live, path);
    const connection = await unixSocket(path).connect(echo);
    await live.close();
    await listening.closed;
    expect(await connection.closed).toEqual({ kind: "gone" });
    await expect(lstat(path)).rejects.toMatchObject({ code: "ENOENT" });
    await expect(listenUnixSocket(live, path)).rejects.toMatchObject({ code: "CLOSED" });
  });

  it("aborts what a peer asked for when it goes without a word", async () => {
    const { live, waiting, aborted } = openEcho();
    const path = await newPath();
    await listenUnixSocket(live, path);
    const connection = await unixSocket(path).connect(echo);
    const call = connection.client.wait.call();
    await until(() => waiting() === 1);
    await Promise.all([expect(call).rejects.toMatchObject({ code: "DISCONNECTED" }), connection.close()]);
    await until(() => aborted() === 1);
  });

  it("drops a peer that says nothing", async () => {
    const { live } = openEcho();
    const path = await newPath();
    await openUnixListener({ live: { ...live }, path, handshakeMs: 50 });
    const socket = await dial(path);
    await once(socket.resume(), "close");
    // On a busy machine this one is slow as well.
    await expect.poll(() => say(path).catch(() => "refused")).toBe("hello");
  });

  it("drops the oldest of 256 peers that are silent for one that comes", async () => {
    const { live } = openEcho();
    const path = await newPath();
    const { stats } = await listenUnixSocket(live, path);
    const sockets = await Promise.all(Array.from({ length: 256 }, () => dial(path)));
    await until(() => stats().limits.peers.used === 256);
    expect(await say(path)).toBe("hello");
    expect(stats().limits.peers).toMatchObject({ refused: 0, evicted: 1 });
    for (const socket of sockets) socket.destroy();
  });

  it("keeps a default bound where a limit is undefined", async () => {
    const { live } = openEcho();
    // A caller without `exactOptionalPropertyTypes` can pass it, for example from an environment variable that is not set.
    const unset = undefined as unknown as number;
    const limits = { peers: { total: unset }, argumentBytes: { total: unset, perPeer: unset } };
    const { stats } = await listenUnixSocket(live, await newPath(), { limits });
    expect(stats().limits).toMatchObject({ peers: { limit: 256 }, argumentBytes: { limit: 64 * 1024 * 1024 } });
  });

  it("turns a peer away while all places are taken by peers that have said who they are, until one goes", async () => {
    const { live } = openEcho();
    const path = await newPath();
    const { stats } = await listenUnixSocket(live, path, { limits: { peers: { total: 1 } } });
    const first = await unixSocket(path).connect(echo);
    await expect(unixSocket(path).connect(echo)).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect(stats().limits.peers).toEqual({ used: 1, limit: 1, refused: 1, evicted: 0 });
    await first.close();
    await until(() => stats().limits.peers.used === 0);
    expect(await say(path)).toBe("hello");
  });

  it("rejects with UNAVAILABLE, and leaves the live surface alone, when the system refuses the directory", async () => {
    const { live } = openEcho();
    const folder = await newFolder();
    await writeFile(join(folder, "file"), "");
    const refused = { code: "UNAVAILABLE", cause: { code: "ENOTDIR" } };
    await expect(listenUnixSocket(live, join(folder, "file", "a", "s"))).rejects.toMatchObject(refused);
    const path = join(folder, "s");
    await listenUnixSocket(live, path);
    expect(await say(path)).toBe("hello");
  });

  it.runIf(process.platform === "linux")(
    "rejects with UNAVAILABLE when a directory is there that takes no other",
    async () => {
      const refused = { code: "UNAVAILABLE", cause: { code: "ENOENT" } };
      await expect(listenUnixSocket(openEcho().live, "/proc/none/a/s")).rejects.toMatchObject(refused);
    },
  );

  it("does not wait for the lock of a process that was killed a while ago", async () => {
    const { live } = openEcho();
    const path = await newPath();
    await leaveStale(path);
    await writeFile(`${path}.lock`, "");
    await utimes(`${path}.lock`, 1, 1);
    await listenUnixSocket(live, path);
    expect(await say(path)).toBe("hello");
    expect(await readdir(dirname(path))).toEqual(["s.sock"]);
  });

  it("refuses a path where another protocol's server listens", async () => {
    const path = await newPath();
    await listenRaw(path);
    await expect(listenUnixSocket(openEcho().live, path)).rejects.toMatchObject({ code: "SOCKET_IN_USE" });
  });
});
