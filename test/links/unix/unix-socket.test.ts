import type { Stats } from "node:fs";
import { chmod, mkdir, symlink, writeFile } from "node:fs/promises";
import { connect, createServer, type Socket } from "node:net";
import { basename, dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { listenUnixSocket, unixSocket } from "../../../src/links/unix-socket.ts";
import { openUnixClient } from "../../../src/links/unix/open-unix-client.ts";
import { assertSafeAncestors, ownAccess } from "../../../src/links/unix/safe-paths.ts";
import { defineSurface } from "../../../src/surface/define-surface.ts";
import { echo, startEcho } from "../support/echo-surface.ts";
import { until } from "../transport/support.ts";
import { accessOf, afterThis, leaveStale, listenRaw, namespaceAccess, newFolder, strangersGroup } from "./support.ts";

async function newPath(): Promise<string> {
  return join(await newFolder(), "s.sock");
}

async function serveEcho(): Promise<string> {
  const { live } = startEcho();
  afterThis(() => live.close());
  return (await listenUnixSocket(live, await newPath())).path;
}

/** A server that says nothing, and the sockets that came to it. */
async function listenSilently(path: string): Promise<Socket[]> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => sockets.push(socket.on("error", () => {}).resume()));
  await listenRaw(path, server);
  afterThis(() => sockets.forEach((socket) => socket.destroy()));
  return sockets;
}

describe("unixSocket()", () => {
  it("refuses a path that no socket can have when it is made", () => {
    expect(() => unixSocket(`/${"x".repeat(107)}`)).toThrow(expect.objectContaining({ code: "INVALID_OPTION" }));
    expect(() => unixSocket("")).toThrow(expect.objectContaining({ code: "INVALID_OPTION" }));
  });

  it("connect() rejects with UNAVAILABLE when nothing is there, and connects when it is there later", async () => {
    const { live } = startEcho();
    afterThis(() => live.close());
    const path = await newPath();
    const link = unixSocket(path);
    await expect(link.connect(echo)).rejects.toMatchObject({ code: "UNAVAILABLE", cause: { code: "ENOENT" } });
    await listenUnixSocket(live, path);
    const { client } = await link.connect(echo);
    expect(await client.say.call("hello")).toBe("hello");
  });

  it("connect() rejects with UNAVAILABLE when nobody answers on the socket", async () => {
    const path = await newPath();
    await leaveStale(path);
    const refused = { code: "UNAVAILABLE", cause: { code: "ECONNREFUSED" } };
    await expect(unixSocket(path).connect(echo)).rejects.toMatchObject(refused);
  });

  it("connect() rejects with UNAVAILABLE when the system refuses it", async () => {
    const denied = Object.assign(new Error("denied"), { code: "EACCES" });
    const access = { ...ownAccess, lstat: () => Promise.reject(denied) };
    const path = await newPath();
    await expect(openUnixClient(echo, { path, access })).rejects.toMatchObject({ code: "UNAVAILABLE", cause: denied });
  });

  it("connect() refuses what is not a socket", async () => {
    const path = await newPath();
    await writeFile(path, "");
    await expect(unixSocket(path).connect(echo)).rejects.toMatchObject({ code: "NOT_A_SOCKET" });
  });

  it("connect() refuses a socket of another user, and takes one of root", async () => {
    const path = await serveEcho();
    const lstat = (at: string): Promise<Stats> => accessOf({ ownerUid: at === path ? 4712 : 0 }).lstat(at);
    const refused = openUnixClient(echo, { path, access: { ...ownAccess, uid: 4711, lstat } });
    await expect(refused).rejects.toMatchObject({ code: "WRONG_OWNER" });
    const taken = await openUnixClient(echo, { path, access: accessOf({ uid: 4711, ownerUid: 0 }) });
    expect(await taken.client.say.call("hello")).toBe("hello");
  });

  it("connect() refuses a link to a socket", async () => {
    const path = await serveEcho();
    await symlink(path, `${path}-link`);
    await expect(unixSocket(`${path}-link`).connect(echo)).rejects.toMatchObject({ code: "NOT_A_SOCKET" });
  });

  it.each(["720", "702", "777"])(
    "connect() refuses a directory when others can write there, by mode %s",
    async (mode) => {
      const path = await serveEcho();
      await chmod(dirname(path), Number.parseInt(mode, 8));
      await expect(unixSocket(path).connect(echo)).rejects.toMatchObject({
        code: "UNSAFE_DIRECTORY",
        message: expect.stringContaining(`chmod go-w "${dirname(path)}"`),
      });
    },
  );

  it("connect() refuses a sticky directory, and proposes one of the application's own", async () => {
    const path = await serveEcho();
    await chmod(dirname(path), 0o1777);
    await expect(unixSocket(path).connect(echo)).rejects.toMatchObject({
      code: "UNSAFE_DIRECTORY",
      message: expect.stringMatching(/(?!.*chmod).*use a directory of the application alone/),
    });
  });

  it.each([0o777, 0o702, 0o720])("connect() refuses a path when others can write above its directory", async (mode) => {
    const top = await newFolder();
    const path = join(top, "mine", "s.sock");
    const { live } = startEcho();
    afterThis(() => live.close());
    await listenUnixSocket(live, path);
    const access = strangersGroup();
    await chmod(top, mode);
    await expect(openUnixClient(echo, { path, access })).rejects.toMatchObject({
      code: "UNSAFE_DIRECTORY",
      message: expect.stringContaining(`others can write to "${top}"`),
    });
    await symlink(join(top, "mine"), join(top, "link"));
    await expect(
      openUnixClient(echo, { path: join(top, "link", "..", "mine", "s.sock"), access }),
    ).rejects.toMatchObject({ code: "UNSAFE_DIRECTORY" });
    await chmod(top, 0o1777);
    const { client } = await openUnixClient(echo, { path, access });
    expect(await client.say.call("hello")).toBe("hello");
  });

  it("connect() refuses a path when a directory above its own belongs to another user", async () => {
    const path = await serveEcho();
    const above = dirname(dirname(path));
    const lstat = (at: string): Promise<Stats> => accessOf({ ownerUid: at === above ? 4712 : 4711 }).lstat(at);
    await expect(openUnixClient(echo, { path, access: { ...ownAccess, uid: 4711, lstat } })).rejects.toMatchObject({
      code: "UNSAFE_DIRECTORY",
      message: expect.stringContaining(`"${above}" on the way to it belongs to user 4712`),
    });
  });

  it("connect() takes directories of root above its own in a user namespace that does not map root", async () => {
    const top = await newFolder();
    const path = join(top, "mine", "s.sock");
    const { live } = startEcho();
    afterThis(() => live.close());
    await listenUnixSocket(live, path);
    const rootless = "      1000       1001          1\n";
    const { client } = await openUnixClient(echo, { path, access: namespaceAccess(rootless, ["/", dirname(top)]) });
    expect(await client.say.call("hello")).toBe("hello");
    const whole = namespaceAccess("0 0 4294967295\n", ["/"]);
    const folder = namespaceAccess(rootless, [dirname(path)]);
    const socket = namespaceAccess(rootless, [path]);
    // The directory of temporary files has its sticky bit set: everyone can make an entry there.
    await chmod(top, 0o1777);
    const squatted = namespaceAccess(rootless, ["/", join(top, "link")]);
    await symlink(join(top, "mine"), join(top, "link"));
    await expect(openUnixClient(echo, { path, access: whole })).rejects.toMatchObject({
      message: expect.stringContaining('"/" on the way to it belongs to user 65534'),
    });
    await expect(openUnixClient(echo, { path, access: folder })).rejects.toMatchObject({ code: "UNSAFE_DIRECTORY" });
    await expect(openUnixClient(echo, { path, access: socket })).rejects.toMatchObject({ code: "WRONG_OWNER" });
    await expect(openUnixClient(echo, { path: `${top}/link//s.sock`, access: squatted })).rejects.toMatchObject({
      message: expect.stringContaining(`"${join(top, "link")}" on the way to it belongs`),
    });
  });

  it("connect() refuses a path through a link that another user can change", async () => {
    const path = await serveEcho();
    const street = await newFolder();
    await symlink(dirname(dirname(path)), join(street, "link"));
    const detour = join(street, "link", basename(dirname(path)), basename(path));
    const { client } = await unixSocket(detour).connect(echo);
    expect(await client.say.call("hello")).toBe("hello");
    await chmod(street, 0o777);
    await expect(unixSocket(detour).connect(echo)).rejects.toMatchObject({ code: "UNSAFE_DIRECTORY" });
  });

  it("both sides refuse a chain of links when another user can change one in the middle", async () => {
    const top = await newFolder();
    for (const name of ["safe", "open", "real"]) await mkdir(join(top, name), { mode: 0o755 });
    await symlink("../real", join(top, "open", "second"));
    await symlink(join(top, "open", "second"), join(top, "safe", "first"));
    const path = join(top, "safe", "first", "mine", "s.sock");
    const { live } = startEcho();
    afterThis(() => live.close());
    await listenUnixSocket(live, path);
    const { client } = await unixSocket(path).connect(echo);
    expect(await client.say.call("hello")).toBe("hello");
    await chmod(join(top, "open"), 0o777);
    const unsafe = {
      code: "UNSAFE_DIRECTORY",
      message: expect.stringContaining(`others can write to "${join(top, "open")}"`),
    };
    await expect(unixSocket(path).connect(echo)).rejects.toMatchObject(unsafe);
    await expect(listenUnixSocket(live, join(dirname(path), "other.sock"))).rejects.toMatchObject(unsafe);
  });

  it("connect() follows a link before the `..` behind it, and ends at links without an end", async () => {
    const path = await serveEcho();
    const open = await newFolder();
    await chmod(open, 0o777);
    const street = await newFolder();
    await mkdir(join(open, "below"));
    await symlink(join(open, "below"), join(street, "link"));
    await symlink(dirname(path), join(open, "mine"));
    const detour = `${street}/link/../mine//${basename(path)}`;
    await expect(unixSocket(detour).connect(echo)).rejects.toMatchObject({
      code: "UNSAFE_DIRECTORY",
      message: expect.stringContaining(`others can write to "${open}"`),
    });
    await symlink("loop", join(street, "loop"));
    await expect(assertSafeAncestors(join(street, "loop"), "Connecting", ownAccess)).rejects.toMatchObject({
      code: "UNSAFE_DIRECTORY",
      message: expect.stringContaining("more than 40 symbolic links"),
    });
  });

  it("connect() refuses a socket that others can connect to, unless they cannot enter its directory", async () => {
    const path = await serveEcho();
    await chmod(path, 0o666);
    const { client } = await unixSocket(path).connect(echo);
    expect(await client.say.call("hello")).toBe("hello");
    await chmod(dirname(path), 0o755);
    await expect(unixSocket(path).connect(echo)).rejects.toMatchObject({
      code: "UNSAFE_DIRECTORY",
      message: expect.stringContaining(`chmod 600 "${path}"`),
    });
  });

  it("connect() takes a directory when others can only read it", async () => {
    const path = await serveEcho();
    await chmod(dirname(path), 0o755);
    const { client } = await unixSocket(path).connect(echo);
    expect(await client.say.call("hello")).toBe("hello");
  });

  it("connect() refuses a directory of another user, and a link to one", async () => {
    const path = await serveEcho();
    const folder = dirname(path);
    const lstat = (at: string): Promise<Stats> => accessOf({ ownerUid: at === folder ? 4712 : 4711 }).lstat(at);
    const access = { ...ownAccess, uid: 4711, lstat };
    const unsafe = { code: "UNSAFE_DIRECTORY" };
    await expect(openUnixClient(echo, { path, access })).rejects.toMatchObject(unsafe);
    await symlink(folder, join(folder, "link"));
    const through = join(folder, "link", "s.sock");
    await expect(openUnixClient(echo, { path: through })).rejects.toMatchObject(unsafe);
  });

  it("connect() refuses a surface of another name", async () => {
    const path = await serveEcho();
    const other = defineSurface("other", {});
    await expect(unixSocket(path).connect(other)).rejects.toMatchObject({ code: "UNKNOWN_MEMBER" });
  });

  it("connect() ends at once and lets go of its socket when its signal fires", async () => {
    const path = await newPath();
    const sockets = await listenSilently(path);
    const abort = new AbortController();
    const connecting = unixSocket(path).connect(echo, { signal: abort.signal });
    void until(() => sockets.length === 1).then(() => abort.abort());
    await expect(connecting).rejects.toMatchObject({ code: "ABORTED" });
    await until(() => sockets[0]?.readableEnded === true);
    await expect(unixSocket(path).connect(echo, { signal: abort.signal })).rejects.toMatchObject({ code: "ABORTED" });
  });

  it("connect() rejects with UNAVAILABLE when the far side goes before it answers", async () => {
    const path = await newPath();
    await listenRaw(
      path,
      createServer((socket) => socket.destroy()),
    );
    await expect(unixSocket(path).connect(echo)).rejects.toMatchObject({ code: "UNAVAILABLE" });
  });

  it("closed says that the connection was lost when the far side breaks", async () => {
    const path = await serveEcho();
    const cuts: (() => void)[] = [];
    const server = createServer((near) => {
      // A bridge that is cut: neither side says goodbye.
      const far = connect(path);
      near
        .on("error", () => {})
        .pipe(far.on("error", () => {}))
        .pipe(near);
      cuts.push(() => [near, far].forEach((socket) => socket.destroy()));
    });
    const bridge = await newPath();
    await listenRaw(bridge, server);
    const connection = await unixSocket(bridge).connect(echo);
    const call = connection.client.wait.call();
    void connection.client.say.call("hello").then(() => cuts.forEach((cut) => cut()));
    await expect(call).rejects.toMatchObject({ code: "DISCONNECTED" });
    expect(await connection.closed).toMatchObject({ kind: "lost" });
    await expect(connection.client.say.call("hello")).rejects.toMatchObject({ code: "UNAVAILABLE" });
  });
});
