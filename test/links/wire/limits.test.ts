import { PeerShares } from "../../../src/links/link-options.ts";
import { describe, expect, it } from "vitest";
import { settle, until } from "../../surface/support.ts";
import { createLinkBudgets } from "../../../src/links/link-options.ts";
import { connectRaw, connectRich, outcome, type RawPeer, serveRaw } from "./support.ts";
import { operationsOf } from "../../surface/uses-of.ts";

describe("limits", () => {
  it("refuse a stream over 4,096 of one peer, leave room to ask meanwhile, and take another when one has ended", async () => {
    const { peer, live } = serveRaw();
    await peer.hello();
    const follow = (stream: number): void =>
      peer.ask(`s${stream}`, "surface/follow", { verb: "watch", member: "chest", stream, credit: 1 });
    for (let stream = 1; stream <= 4096; stream += 1) follow(stream);
    await until(() => peer.heard.filter(({ method }) => method === "surface/item").length === 4096);
    follow(4097);
    expect((await peer.reply("s4097")).error).toMatchObject({ data: { kind: "surface", code: "OVERFLOW" } });
    peer.ask("ask", "surface/ask", { verb: "get", member: "chest" });
    expect((await peer.reply("ask")).result).toBeDefined();
    peer.tell("$/cancelRequest", { id: "s7" });
    await peer.reply("s7");
    follow(4098);
    await peer.next(({ params }) => params?.stream === 4098);
    await live.close();
  });

  it("refuse a use over 1,024 of one peer, leave room to follow, and take more when some have ended", async () => {
    const { peer, state, live } = serveRaw();
    await peer.hello();
    for (let id = 0; id < 1024; id += 1) peer.ask(id, "surface/ask", { verb: "wait", member: "rang" });
    peer.ask("over", "surface/ask", { verb: "get", member: "chest" });
    expect((await peer.reply("over")).error).toMatchObject({ data: { kind: "surface", code: "OVERFLOW" } });
    peer.ask("stream", "surface/follow", { verb: "watch", member: "chest", stream: 1, credit: 1 });
    await peer.next(({ params }) => params?.stream === 1);
    peer.ask("ping", "surface/ping");
    expect((await peer.reply("ping")).result).toBe(null);
    state.ring(new Set([1]));
    await until(() => peer.heard.filter(({ result }) => result?.value?.status === "fired").length === 1024);
    peer.ask("again", "surface/ask", { verb: "get", member: "chest" });
    expect((await peer.reply("again")).result).toBeDefined();
    await live.close();
  });

  it("refuse arguments over the budget of a peer or of all peers, keep none of them, and take more when some are answered", async () => {
    const budgets = createLinkBudgets({ argumentBytes: { total: 5000, perPeer: 3000 } });
    const [one, other] = [serveRaw({ budgets }), serveRaw({ budgets })];
    const held = (): number => budgets.argumentBytes.use.used;
    await one.peer.hello();
    await other.peer.hello();
    await until(() => held() === 0);
    const argument = "x".repeat(2000);
    const hold = (peer: RawPeer, id: string): void =>
      peer.ask(id, "surface/ask", { verb: "wait", member: "rang", argument });
    hold(one.peer, "first");
    hold(one.peer, "second");
    const overflow = { data: { kind: "surface", code: "OVERFLOW" } };
    expect((await one.peer.reply("second")).error).toMatchObject(overflow);
    hold(other.peer, "first");
    await until(() => held() > 4000);
    expect(budgets.argumentBytes.use.refused).toBe(1);
    hold(other.peer, "second");
    expect((await other.peer.reply("second")).error).toMatchObject(overflow);
    one.state.ring(new Set([1]));
    await one.peer.reply("first");
    hold(one.peer, "third");
    await until(() => held() > 4000);
    await one.live.close();
    await other.live.close();
    await until(() => held() === 0);
  });

  it("end the connection of a peer that leaves more answers unread than it may", async () => {
    const budgets = createLinkBudgets({ unreadBytes: { total: 100, perPeer: 10 } });
    const { peer, pair, state, live } = serveRaw({ budgets });
    await peer.hello();
    for (let id = 0; id < 60; id += 1) peer.ask(id, "surface/ask", { verb: "wait", member: "rang" });
    peer.ask("last", "surface/ping");
    await peer.reply("last");
    pair.server.capacity = 4;
    pair.server.hold();
    state.ring(new Set([1]));
    await until(() => peer.isClosed && budgets.unreadBytes.use.used === 0);
    expect(budgets.unreadBytes.use.refused).toBe(1);
    await live.close();
  });

  it("stop reading while many messages wait for their turn, and read on after", async () => {
    const { peer, pair, live } = serveRaw();
    await peer.hello();
    let paused = 0;
    const pause = pair.server.pause.bind(pair.server);
    pair.server.pause = () => {
      paused += 1;
      pause();
    };
    for (let id = 0; id < 3000; id += 1) peer.ask(id, "surface/ping");
    await until(() => peer.heard.length > 3000);
    expect(paused).toBeGreaterThan(5);
    expect(pair.server.isPaused).toBe(false);
    await live.close();
  });

  it("stop reading while the far side does not take what is written", async () => {
    const { peer, pair, live } = serveRaw();
    await peer.hello();
    pair.server.capacity = 8;
    pair.server.hold();
    for (let id = 0; id < 500; id += 1) peer.ask(id, "surface/ask", { verb: "call", member: "echo", argument: id });
    await settle(100);
    expect(pair.server.sent.length).toBeLessThan(500);
    expect(pair.server.isPaused).toBe(true);
    pair.server.release();
    await until(() => peer.heard.filter(({ result }) => result !== undefined).length === 501);
    await live.close();
  });

  it.each(["surface/ping", "unheard/of"])(
    "end a client's connection when its far side asks %s again and again and takes no answer",
    async (method) => {
      const { peer, pair, closed } = await connectRaw();
      pair.client.capacity = 4;
      for (let id = 0; id < 100; id += 1) peer.ask(id, method);
      await peer.reply(99);
      pair.client.hold();
      for (let id = 100; id < 1000; id += 1) peer.ask(id, method);
      await until(() => pair.client.sent.some((message) => message.method === "surface/goodbye"));
      expect(pair.client.sent.length).toBeLessThan(150);
      pair.client.release();
      expect(await closed).toMatchObject({ kind: "lost", cause: { code: "PROTOCOL_MISMATCH" } });
    },
  );

  it("leave a client's connection alone when its far side asks now and then while its output is full", async () => {
    const { peer, pair, closed } = await connectRaw();
    pair.client.capacity = 1;
    let isClosed = false;
    void closed.then(() => (isClosed = true));
    for (let round = 0; round < 20; round += 1) {
      pair.client.hold();
      for (let id = 0; id < 4; id += 1) peer.ask(`${round}.${id}`, "surface/ping");
      await settle();
      pair.client.release();
      await peer.reply(`${round}.3`);
    }
    expect(isClosed).toBe(false);
  });

  it("are a client's own where it asks for too much: the others work", async () => {
    const { client, channel, live } = await connectRich();
    const controller = new AbortController();
    const waits = Array.from({ length: 1024 }, () =>
      outcome(operationsOf(channel).wait("rang", undefined, { signal: controller.signal })),
    );
    expect(await outcome(client.chest.get())).toMatchObject({ code: "OVERFLOW" });
    controller.abort();
    await Promise.all(waits);
    await until(() => true);
    await settle(1200);
    expect(await client.echo.call(1)).toBe(1);
    await live.close();
  });
});

describe("the shares of a peer", () => {
  it("hold nothing once the peer is gone, whatever ends or is written later", () => {
    const budgets = createLinkBudgets();
    const [shares, other] = [new PeerShares(budgets, () => {}), new PeerShares(budgets, () => {})];
    for (const each of [shares, other]) each.admit(100);
    shares.weigh(50);
    shares.close();
    shares.answered(100);
    expect([shares.admit(10), shares.weigh(10)]).toEqual([false, true]);
    shares.close();
    expect([budgets.argumentBytes.use.used, budgets.unreadBytes.use.used]).toEqual([100, 0]);
  });
});
