import { describe, expect, it } from "vitest";
import { SurfaceError } from "../../../src/errors.ts";
import { listeners, settle, take, until } from "../../surface/support.ts";
import { day } from "../support/rich-surface.ts";
import { connectRaw, connectRich, outcome, serveRaw } from "./support.ts";
import { operationsOf } from "../../surface/uses-of.ts";

describe("cancelling over a wire", () => {
  it("rejects at once, reaches the handler, and leaves nothing on the signal", async () => {
    const { channel, state, live } = await connectRich();
    const { signal, ...controller } = abortable();
    const use = outcome(operationsOf(channel).call("bury", { at: day, how: "slow" }, { signal }));
    await until(() => state.calls === 1);
    await settle(6);
    controller.abort();
    expect(await use).toMatchObject({ code: "ABORTED" });
    expect(listeners(signal)).toBe(0);
    await until(() => state.aborted === 1);
    await live.close();
  });

  it("sends nothing when the signal had fired", async () => {
    const { channel, pair, live } = await connectRich();
    const count = pair.client.sent.length;
    const use = { signal: AbortSignal.abort() };
    expect(await outcome(operationsOf(channel).get("chest", use))).toMatchObject({ code: "ABORTED" });
    expect(await take(operationsOf(channel).watch("chest", use), 1)).toEqual([]);
    await settle();
    expect(pair.client.sent.slice(count)).toEqual([]);
    await live.close();
  });

  it("reads no signal of a call that calls back when it is cancelled, and forgets it with the answer", async () => {
    const { channel, state, live } = await connectRich();
    const callbacks = new Set<(reason: unknown) => void>();
    const options = {
      get signal(): AbortSignal {
        throw new Error("it was read");
      },
      whenAborted: (callback: (reason: unknown) => void) => {
        callbacks.add(callback);
        return () => callbacks.delete(callback);
      },
    };
    const ask = (how: string): Promise<unknown> =>
      outcome(Promise.resolve(channel.request({ verb: "call", member: "bury", argument: { at: day, how }, options })));
    const use = ask("slow");
    await until(() => state.calls === 1);
    for (const callback of callbacks) callback(new SurfaceError("TIMEOUT", "late"));
    expect(await use).toMatchObject({ code: "TIMEOUT", message: "late" });
    await until(() => state.aborted === 1);
    expect(
      await outcome(Promise.resolve(channel.request({ verb: "get", member: "chest", argument: undefined, options }))),
    ).toBeDefined();
    expect(callbacks.size).toBe(0);
    await live.close();
  });

  it("leaves nothing on the signal when the use was answered", async () => {
    const { channel, live } = await connectRich();
    const { signal } = abortable();
    await operationsOf(channel).get("chest", { signal });
    await take(operationsOf(channel).open("clock", { from: 1n }, { signal }), 9);
    expect(listeners(signal)).toBe(0);
    await live.close();
  });

  it("ends a stream for its consumer at once, and its handler", async () => {
    const { channel, state, live } = await connectRich();
    const { signal, ...controller } = abortable();
    const stream = operationsOf(channel).open("ticks", "all", { signal })[Symbol.asyncIterator]();
    await stream.next();
    controller.abort();
    await take({ [Symbol.asyncIterator]: () => stream }, 99);
    await until(() => state.ended === 1);
    expect(listeners(signal)).toBe(0);
    await live.close();
  });

  it("ends a stream that waits for its next value when its consumer leaves", async () => {
    const { client, live } = await connectRich();
    const watch = client.chest.watch()[Symbol.asyncIterator]();
    await watch.next();
    const waiting = watch.next();
    await watch.return?.();
    expect(await waiting).toEqual({ done: true, value: undefined });
    await live.close();
  });

  it("does not make a signal on the server for what does not ask for one", async () => {
    const { live, peer } = serveRaw();
    await peer.hello();
    const { AbortController: Real } = globalThis;
    let made = 0;
    globalThis.AbortController = class extends Real {
      constructor() {
        super();
        made += 1;
      }
    };
    try {
      peer.ask(1, "surface/ask", { verb: "call", member: "echo", argument: 5 });
      expect((await peer.reply(1)).result).toEqual({ value: 5 });
    } finally {
      globalThis.AbortController = Real;
    }
    expect(made).toBe(0);
    await live.close();
  });

  it("answers a request that was cancelled before it was looked at", async () => {
    const { live, peer, state } = serveRaw();
    await peer.hello();
    peer.ask(1, "surface/ask", { verb: "call", member: "bury", argument: { at: day.toISOString(), how: "slow" } });
    peer.tell("$/cancelRequest", { id: 1 });
    expect((await peer.reply(1)).error).toMatchObject({ data: { code: "ABORTED" } });
    expect(state.aborted + state.calls).toBeLessThanOrEqual(2);
    peer.ask(2, "surface/follow", { verb: "open", member: "ticks", argument: "all", stream: 1, credit: 5 });
    peer.tell("$/cancelRequest", { id: 2 });
    expect(await peer.reply(2)).toBeDefined();
    await live.close();
  });

  it("keeps no count of cancels: more of them than may wait do not stop the reading", async () => {
    const { live, peer, pair, state } = serveRaw();
    await peer.hello();
    const slow = { verb: "call", member: "bury", argument: { at: day.toISOString(), how: "slow" } };
    for (let id = 0; id < 600; id += 1) {
      peer.ask(id, "surface/ask", slow);
      await until(() => state.calls === id + 1);
      for (let again = 0; again < 3; again += 1) peer.tell("$/cancelRequest", { id });
      peer.tell("$/cancelRequest", { id: "unknown" });
    }
    expect(await peer.reply(599)).toBeDefined();
    expect(pair.server.isPaused).toBe(false);
    peer.send("garbage");
    await until(() => peer.isClosed);
    await live.close();
  });

  it("ignores answers and items that come after it", async () => {
    const { channel, peer } = await connectRaw();
    const { signal, ...controller } = abortable();
    const use = outcome(operationsOf(channel).get("maybe", { signal }));
    const ask = await peer.next((message) => message.method === "surface/ask");
    const stream = operationsOf(channel).open("ticks", "all", { signal })[Symbol.asyncIterator]();
    const step = stream.next();
    const follow = await peer.next((message) => message.method === "surface/follow");
    controller.abort();
    expect(await use).toMatchObject({ code: "ABORTED" });
    expect(await step).toMatchObject({ done: true });
    for (let again = 0; again < 2; again += 1) {
      peer.answer(ask.id, {});
      peer.answer(follow.id, {});
      peer.tell("surface/item", { stream: follow.params.stream, value: 1 });
      peer.tell("surface/progress", { token: 1, value: 1 });
    }
    await settle();
    expect(peer.isClosed).toBe(false);
  });
});

function abortable(): { signal: AbortSignal; abort: () => void } {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
}
