import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { childProcess } from "../../src/links/child-process.ts";
import { ReconnectingSurface } from "../../src/links/reconnecting-surface.ts";
import { inProcess } from "../../src/links/in-process.ts";
import type { Connection, Link } from "../../src/links/link.ts";
import { projected } from "../../src/links/projected.ts";
import { siblingLinks, surfaceClients } from "../../src/links/sibling-links.ts";
import { listenUnixSocket, unixSocket } from "../../src/links/unix-socket.ts";
import { listenWebSocket, webSocket } from "../../src/links/web-socket.ts";
import { callerKey, withIdentityClaims, withCallerKey, anonymous, type Caller } from "../../src/surface/caller.ts";
import type { SurfaceClient } from "../../src/surface/client.ts";
import { composeSurfaces } from "../../src/surface/compose-surfaces.ts";
import { createClient } from "../../src/surface/create-client.ts";
import { defineSurface } from "../../src/surface/define-surface.ts";
import { derive } from "../../src/surface/derive/derive.ts";
import { implementSurface, implementSurfaces } from "../../src/surface/implement-surface.ts";
import { procedure } from "../../src/surface/define-members.ts";
import { projectSurface } from "../../src/surface/project-surface.ts";
import { bundleScript } from "../fixtures/bundle-script.ts";
import { echo, startEcho } from "./support/echo-surface.ts";
import { afterThis, newFolder } from "./unix/support.ts";
import * as z from "zod";

const fixture = await bundleScript(new URL("stdio/fixtures/server.ts", import.meta.url), "link-server");

const ada: Caller = Object.freeze({
  id: "ada",
  issuer: "https://login.example",
  isAnonymous: false,
  scopes: Object.freeze(["ci:read", "ci:write"]),
  clientId: "cli",
  expiresAt: 4_000_000_000,
  resources: { "job:7": ["close"] },
  view: { surface: "review", project: "api", userAgent: "agent/1", client: { name: "host", version: "2" } },
  claims: { tenant: "red", groups: ["dev", { of: null }], jti: "17" },
});

/** A caller as a tool makes them, and one with a claim that changes with each token: their keys are not made of their fields. */
const tool = withCallerKey({ id: "ada", isAnonymous: false, isTool: true, scopes: ["ci:read"] }, callerKey(ada));
const tenant = withIdentityClaims(Object.freeze({ ...ada, id: "bob" }), ["tenant"]);

async function startHere(): Promise<ReturnType<typeof startEcho>["live"]> {
  const { live } = startEcho();
  afterThis(() => live.close());
  return live;
}

/** The client of a connection that ends with the test. */
async function clientOf<TSpec>(connecting: Promise<Connection<TSpec>>): Promise<SurfaceClient<TSpec>> {
  const connection = await connecting;
  afterThis(() => connection.close());
  return connection.client;
}

async function openUnix(): Promise<Link> {
  const path = join(await newFolder(), "s.sock");
  await listenUnixSocket(await startHere(), path);
  return unixSocket(path);
}

const links: readonly (readonly [string, () => Promise<Link>])[] = [
  ["in process", async () => inProcess(await startHere())],
  ["over a unix socket", openUnix],
  ["over a web socket", async () => webSocket((await listenWebSocket(await startHere(), { port: 0 })).url)],
  ["over standard input and output", async () => childProcess(process.execPath, [fixture, "plain"])],
];

const passed = defineSurface("passed", {
  who: procedure({ output: z.unknown() }),
  silent: procedure({ output: z.unknown() }),
  explicit: procedure({ output: z.unknown() }),
  narrowed: procedure({ output: z.unknown() }),
  renamed: procedure({ output: z.unknown() }),
});

const projection = projectSurface(echo, passed, (client) => ({
  who: derive.procedure(client.who),
  silent: () => client.who.call(),
  explicit: (_input, { caller }) => client.who.call(undefined, { caller }),
  narrowed: (_input, { caller }) => client.who.call(undefined, { caller: { ...caller, scopes: [] } }),
  renamed: (_input, { caller }) => client.who.call(undefined, { caller: { ...caller, id: "eve" } }),
}));

/** An answer as it is over a wire: without the symbol that carries a key. */
const toJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
const known = (caller: Caller): object => ({ caller, key: callerKey(caller) });
const unknown = known(anonymous);

describe.each(links)("the caller of a procedure %s", (_where, open) => {
  it("is the caller that the client names, with all fields and the same key", async () => {
    const client = await clientOf((await open()).connect(echo));
    expect(await client.who.call(undefined, { caller: ada })).toEqual(known(ada));
    for (const [caller, key] of [
      [tool, callerKey(ada)],
      [tenant, callerKey(tenant)],
    ] as const) {
      const answer = await client.who.call(undefined, { caller });
      expect(toJson(answer)).toEqual(toJson({ caller, key }));
    }
    const local = { ...anonymous, scopes: ["ci:read"] };
    expect(await client.who.call(undefined, { caller: local })).toEqual(known(local));
  });

  it("is the caller as the client's object is at the time of each call", async () => {
    const client = await clientOf((await open()).connect(echo));
    const scopes = ["ci:read"];
    const mutable = { id: "ada", isAnonymous: false, scopes };
    const frozen = Object.freeze({ ...mutable });
    for (const caller of [mutable, frozen]) await client.who.call(undefined, { caller });
    mutable.id = "bob";
    scopes.pop();
    for (const { id, caller } of [
      { id: "bob", caller: mutable },
      { id: "ada", caller: frozen },
    ]) {
      const now = { id, isAnonymous: false, scopes: [] };
      expect(await client.who.call(undefined, { caller })).toEqual({ caller: now, key: callerKey(now) });
    }
  });

  it("has the same key with fewer scopes, and no other user's key under another id", async () => {
    const client = await clientOf(projected(projection, await open()).connect(passed));
    for (const caller of [ada, tool, tenant]) {
      const key = callerKey(caller);
      expect(await client.narrowed.call(undefined, { caller })).toMatchObject({ key, caller: { scopes: [] } });
      expect(await client.renamed.call(undefined, { caller })).not.toMatchObject({ key });
    }
  });

  it("is anonymous if the client names none", async () => {
    const client = await clientOf((await open()).connect(echo));
    expect(await client.who.call()).toEqual(unknown);
    expect(await client.who.call(undefined, { caller: anonymous })).toEqual(unknown);
  });

  it("is sent by a held connection", async () => {
    const held = new ReconnectingSurface({ link: await open(), surface: echo });
    afterThis(() => held.close());
    const { who } = createClient(echo, held.channel);
    expect(await who.call(undefined, { caller: ada })).toEqual(known(ada));
  });

  it("is passed on by a projection's derived procedure, and by a handler only if it names the caller", async () => {
    const client = await clientOf(projected(projection, await open()).connect(passed));
    expect(await client.who.call(undefined, { caller: ada })).toEqual(known(ada));
    expect(await client.explicit.call(undefined, { caller: ada })).toEqual(known(ada));
    expect(await client.silent.call(undefined, { caller: ada })).toEqual(unknown);
    expect(await client.who.call()).toEqual(unknown);
  });

  it("reaches the members of siblings", async () => {
    const link = siblingLinks({ near: await open(), far: await open() });
    const both = composeSurfaces("both", { near: echo, far: echo });
    const client = await clientOf(link.connect(both));
    expect(await client["far.who"].call(undefined, { caller: ada })).toEqual(known(ada));
    expect(await client["near.who"].call()).toEqual(unknown);
  });
});

describe("the caller of a procedure", () => {
  it("reaches siblings that are served together, also through a client of one of them", async () => {
    const both = implementSurfaces({ one: await startHere(), other: implementSurface(passed, { ...noHandlers }) });
    const path = join(await newFolder(), "s.sock");
    await listenUnixSocket(both, path);
    afterThis(() => both.close());
    for (const link of [inProcess(both), unixSocket(path)]) {
      const opened = await surfaceClients(link, { one: echo, other: passed });
      afterThis(() => opened.close());
      const { clients } = opened;
      expect(await clients.one.who.call(undefined, { caller: ada })).toEqual(known(ada));
      expect(await clients.other.who.call(undefined, { caller: ada })).toBe("ada");
    }
  });

  it("is the object itself in process, and a frozen one over a wire", async () => {
    let seen: Caller | undefined;
    const live = implementSurface(passed, { ...noHandlers, who: (_input, { caller }) => void (seen = caller) });
    afterThis(() => live.close());
    const path = join(await newFolder(), "s.sock");
    await listenUnixSocket(live, path);
    const here = await inProcess(live).connect(passed);
    await here.client.who.call(undefined, { caller: ada });
    expect(seen).toBe(ada);
    await here.client.who.call();
    expect(seen).toBe(anonymous);
    const there = await unixSocket(path).connect(passed);
    afterThis(() => there.close());
    await there.client.who.call();
    expect(seen).toBe(anonymous);
    await there.client.who.call(undefined, { caller: ada });
    expect(seen).toEqual(ada);
    for (const part of [seen, seen?.scopes, seen?.claims, seen?.view, seen?.resources]) {
      expect(Object.isFrozen(part)).toBe(true);
    }
  });
});

const noHandlers = {
  who: (_input: undefined, { caller }: { readonly caller: Caller }) => caller.id,
  silent: () => undefined,
  explicit: () => undefined,
  narrowed: () => undefined,
  renamed: () => undefined,
};
