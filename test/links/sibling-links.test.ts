import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { mcp } from "../../src/builder/mcp.ts";
import { SurfaceError } from "../../src/errors.ts";
import { ReconnectingSurface } from "../../src/links/reconnecting-surface.ts";
import { inProcess } from "../../src/links/in-process.ts";
import type { Link } from "../../src/links/link.ts";
import { pump } from "../../src/catalog/resources/watched-resource.ts";
import { siblingLinks, surfaceClients } from "../../src/links/sibling-links.ts";
import { listenUnixSocket, unixSocket } from "../../src/links/unix-socket.ts";
import { composeSurfaces } from "../../src/surface/compose-surfaces.ts";
import type { Fault } from "../../src/surface/fault.ts";
import { createTestClient } from "../../src/testing/test-client.ts";
import { settle, until } from "../surface/support.ts";
import { operationsOf } from "../surface/uses-of.ts";
import { notes, pipeline, startNotes, startPipeline } from "./support/siblings.ts";
import { afterThis, newFolder } from "./unix/support.ts";

const both = composeSurfaces("both", { a: pipeline, b: notes });
const outcome = (use: Promise<unknown>): Promise<unknown> => use.catch((cause: unknown) => cause);
const failing = (code: string) => expect.objectContaining({ code });

/** A link that counts how often it was dialled. */
function counted(link: Link): Link & { readonly dials: number } {
  let dials = 0;
  return {
    get dials() {
      return dials;
    },
    connect(surface, use) {
      dials += 1;
      return link.connect(surface, use);
    },
  };
}

describe("siblingLinks()", () => {
  it("dials each sibling when it is first used, once, and closes all with the connection", async () => {
    const [one, other] = [startPipeline(), startNotes()];
    const [a, b] = [counted(inProcess(one.live)), counted(inProcess(other.live))];
    const connection = await siblingLinks({ a, b }).connect(both);
    const { client, closed } = connection;
    expect([a.dials, b.dials]).toEqual([0, 0]);
    expect(await client["a.node.rerun"].call({ node: "x" })).toBe("again x");
    expect(await client["a.nodes"].get()).toBe(1);
    expect([a.dials, b.dials]).toEqual([1, 0]);
    expect(await client["b.nodes"].get()).toBe("one");
    await connection.close();
    expect(await closed).toEqual({ kind: "closed" });
    expect(await outcome(client["a.nodes"].get())).toEqual(failing("CLOSED"));
    await Promise.all([one.live.close(), other.live.close()]);
  });

  it("answers for those that are there while one is not, and for that one when it comes", async () => {
    const { live } = startPipeline();
    const path = join(await newFolder(), "s.sock");
    const faults: Fault[] = [];
    const links = siblingLinks(
      { a: inProcess(live), b: unixSocket(path) },
      { onFault: (fault) => void faults.push(fault) },
    );
    const held = new ReconnectingSurface({ link: links, surface: both });
    afterThis(() => held.close());
    const channel = operationsOf(held.channel);
    expect(await outcome(channel.call("b.bump", undefined, {}))).toEqual(failing("UNAVAILABLE"));
    expect(faults.map(({ where }) => where)).toEqual(['reaching surface "notes"']);
    expect(await channel.get("a.nodes", {})).toBe(1);
    const waiting = channel.get("b.nodes", {});
    const other = startNotes();
    await listenUnixSocket(other.live, path);
    expect(await waiting).toBe("one");
    expect(await channel.call("b.bump", undefined, {})).toBe(1);
    await Promise.all([live.close(), other.live.close()]);
  });

  it.each(["in process", "over a socket"])(
    "has what is watched watched again when a sibling was away %s, and nobody's else disturbed",
    async (way) => {
      const one = startPipeline();
      const path = join(await newFolder(), "s.sock");
      let other = startNotes();
      const listen = async (): Promise<void> => {
        if (way === "over a socket") await listenUnixSocket(other.live, path);
      };
      await listen();
      // As the author's process that starts again: while there is none, it says that one may come.
      let isAway = false;
      const away = new SurfaceError("UNAVAILABLE", "Connecting: it starts again");
      const again: Link = {
        connect: (surface, use) => (isAway ? Promise.reject(away) : inProcess(other.live).connect(surface, use)),
      };
      const b = way === "in process" ? again : unixSocket(path);
      const links = siblingLinks({ a: inProcess(one.live), b }, { onFault: () => {} });
      const held = new ReconnectingSurface({ link: links, surface: both });
      afterThis(() => held.close());
      const heard: string[] = [];
      const watch = (key: string): void => {
        const subscription = held.subscriptions.subscribe(
          {
            key,
            windowMs: 1,
            open: ({ channel }, events) => pump((signal) => operationsOf(channel).watch(key, { signal }), events),
          },
          { changed: () => void heard.push(key) },
        );
        afterThis(() => subscription.end());
      };
      watch("a.nodes");
      watch("b.nodes");
      const latest = (key: string): unknown => held.subscriptions.latest(key)?.value;
      await until(() => latest("a.nodes") === 1 && latest("b.nodes") === "one");
      isAway = true;
      await other.live.close();
      await until(() => latest("b.nodes") === undefined);
      expect(latest("a.nodes")).toBe(1);
      other = startNotes();
      other.nodes.set("two");
      isAway = false;
      await listen();
      await until(() => latest("b.nodes") === "two");
      expect(heard.filter((key) => key === "a.nodes")).toEqual([]);
      await Promise.all([one.live.close(), other.live.close()]);
    },
  );

  it("says that the outcome of a call is unknown when its sibling was lost under it, and sends none again", async () => {
    const [one, other] = [startPipeline(), startNotes()];
    const path = join(await newFolder(), "s.sock");
    const listening = await listenUnixSocket(other.live, path);
    const held = new ReconnectingSurface({
      link: siblingLinks({ a: inProcess(one.live), b: unixSocket(path) }),
      surface: both,
    });
    afterThis(() => held.close());
    const call = outcome(operationsOf(held.channel).call("b.slow", undefined, {}));
    await until(() => other.state.calls === 1);
    await Promise.all([other.live.close(), listening.close()]);
    expect(await call).toEqual(failing("OUTCOME_UNKNOWN"));
    expect(other.state.calls).toBe(1);
    await one.live.close();
  });

  it("says that a sibling in this process was dropped when it was closed, and what becomes of what was under way", async () => {
    const [one, other] = [startPipeline(), startNotes()];
    const held = new ReconnectingSurface({
      link: siblingLinks({ a: inProcess(one.live), b: inProcess(other.live) }, { onFault: () => {} }),
      surface: both,
    });
    afterThis(() => held.close());
    const channel = operationsOf(held.channel);
    const [mutation, read] = ["b.slow", "b.look"].map((key) => outcome(channel.call(key, undefined, {})));
    await until(() => other.state.calls === 2);
    await other.live.close();
    expect(await mutation).toEqual(failing("OUTCOME_UNKNOWN"));
    expect(await read).toEqual(failing("DROPPED"));
    for (const key of ["b.bump", "b.look"])
      expect(await outcome(channel.call(key, undefined, {}))).toEqual(failing("DROPPED"));
    expect(await outcome(channel.get("b.nodes", {}))).toEqual(failing("DROPPED"));
    expect(await outcome(channel.watch("b.nodes", {})[Symbol.asyncIterator]().next())).toEqual(failing("DROPPED"));
    expect(await channel.get("a.nodes", {})).toBe(1);
    await one.live.close();
    await held.close();
    expect(await outcome(channel.get("b.nodes", {}))).toEqual(failing("CLOSED"));
  });

  it("says that a call was cancelled when its caller has done so while its sibling closed", async () => {
    const other = startNotes();
    const connection = await siblingLinks({ b: inProcess(other.live) }).connect(composeSurfaces("one", { b: notes }));
    afterThis(() => connection.close());
    const abort = new AbortController();
    const call = outcome(connection.client["b.slow"].call(undefined, { signal: abort.signal }));
    await until(() => other.state.calls === 1);
    abort.abort();
    await other.live.close();
    expect(await call).toEqual(failing("ABORTED"));
  });

  it("says that a sibling behind a socket cannot be reached when it has said goodbye, and finds it when it is back", async () => {
    const [one, other] = [startPipeline(), startNotes()];
    const path = join(await newFolder(), "s.sock");
    await listenUnixSocket(other.live, path);
    const held = new ReconnectingSurface({
      link: siblingLinks({ a: inProcess(one.live), b: unixSocket(path) }, { onFault: () => {} }),
      surface: both,
    });
    afterThis(() => held.close());
    const channel = operationsOf(held.channel);
    expect(await channel.get("b.nodes", {})).toBe("one");
    await other.live.close();
    expect(await outcome(channel.call("b.bump", undefined, {}))).toEqual(failing("UNAVAILABLE"));
    expect(await channel.get("a.nodes", {})).toBe(1);
    const back = startNotes();
    await listenUnixSocket(back.live, path);
    expect(await channel.get("b.nodes", {})).toBe("one");
    expect(await channel.call("b.bump", undefined, {})).toBe(1);
    await Promise.all([one.live.close(), back.live.close()]);
  });

  it("has an agent told that a part was dropped when its live surface was closed", async () => {
    const [one, other] = [startPipeline(), startNotes()];
    const links = siblingLinks({ a: inProcess(one.live), b: inProcess(other.live) }, { onFault: () => {} });
    const agent = createTestClient(mcp(both).bridge(links));
    afterThis(() => agent.close());
    expect(await agent.tools.b_bump()).toMatchObject({ structured: { value: 1 } });
    await other.live.close();
    expect(await agent.tools.b_bump()).toMatchObject({
      isError: true,
      text: expect.stringMatching(/^DROPPED: .*dropped/),
    });
    await expect(agent.read("b.nodes")).rejects.toThrow(/dropped/);
    expect(await agent.read("a.nodes")).toBe(1);
    await one.live.close();
  });

  it("reaches what is composed again, and siblings that are served together", async () => {
    const [one, other] = [startPipeline(), startNotes()];
    const links = siblingLinks({
      x: siblingLinks({ a: inProcess(one.live), b: inProcess(other.live) }),
      c: inProcess(other.live),
    });
    const { clients, close } = await surfaceClients(links, { x: both, c: notes });
    expect(await clients.x["a.nodes"].get()).toBe(1);
    expect(await clients.x["b.nodes"].get()).toBe("one");
    expect(await clients.c.nodes.get()).toBe("one");
    await close();
    await Promise.all([one.live.close(), other.live.close()]);
  });

  it("keeps what its links keep for as long as an app is open, and lets go of it when one of them cannot be kept", async () => {
    const { live } = startPipeline();
    const kept: string[] = [];
    const keeping = (name: string): Link => ({
      ...inProcess(live),
      keep: () => ({
        ...inProcess(live),
        close: async () => void kept.splice(kept.indexOf(name), 1),
        [String(kept.push(name))]: true,
      }),
    });
    const link = siblingLinks({ a: keeping("a"), b: keeping("b"), c: inProcess(live) }).keep?.();
    expect(kept).toEqual(["a", "b"]);
    const { clients, close } = await surfaceClients(link ?? inProcess(live), { a: pipeline, c: pipeline });
    expect([await clients.a.nodes.get(), await clients.c.nodes.get()]).toEqual([1, 1]);
    await close();
    await link?.close();
    expect(kept).toEqual([]);
    const broken: Link = {
      ...inProcess(live),
      keep() {
        throw new RangeError("not today");
      },
    };
    expect(() => siblingLinks({ a: keeping("a"), b: broken }).keep?.()).toThrow("not today");
    await until(() => kept.length === 0);
    await live.close();
  });

  it("refuses what is no link, and before it is served a surface that it does not fit", async () => {
    const { live } = startPipeline();
    expect(() => siblingLinks({ a: {} as Link })).toThrow(failing("INVALID_OPTION"));
    expect(() => siblingLinks({ "a b": inProcess(live) })).toThrow(failing("INVALID_NAME"));
    const half = siblingLinks({ a: inProcess(live) });
    expect(() => half.check?.(both)).toThrow(failing("CONTRACT_MISMATCH"));
    expect(() => half.check?.(pipeline)).toThrow(failing("CONTRACT_MISMATCH"));
    expect(await outcome(half.connect(both))).toEqual(failing("CONTRACT_MISMATCH"));
    expect(() => half.check?.(composeSurfaces("x", { a: notes }))).toThrow(failing("UNKNOWN_MEMBER"));
    expect(() => half.check?.(composeSurfaces("x", { a: pipeline }))).not.toThrow();
    await settle();
    await live.close();
  });

  it("names a link that is of no sibling when an app is opened over it, and connects to fewer all the same", async () => {
    const [one, other] = [startPipeline(), startNotes()];
    const links = siblingLinks({ a: inProcess(one.live), b: inProcess(other.live), bb: inProcess(other.live) });
    const surplus = { code: "UNKNOWN_MEMBER", message: expect.stringContaining('"bb"') };
    expect(() => mcp(both).bridge(links).open()).toThrow(expect.objectContaining(surplus));
    const misspelt = siblingLinks({ a: inProcess(one.live), bb: inProcess(other.live) });
    const message = expect.stringMatching(/"b" has no link; there are links to .*"bb"/);
    expect(() => misspelt.check?.(both)).toThrow(expect.objectContaining({ code: "CONTRACT_MISMATCH", message }));
    const { clients, close } = await surfaceClients(links, { a: pipeline });
    expect(await clients.a.nodes.get()).toBe(1);
    await close();
    await Promise.all([one.live.close(), other.live.close()]);
  });
});
