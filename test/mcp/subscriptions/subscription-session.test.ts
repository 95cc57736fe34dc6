import { describe, expect, it } from "vitest";
import { SessionHarness, acknowledged, ended, updated } from "./session-harness.ts";

const ok = (id: number): object => ({ jsonrpc: "2.0", id, result: {} });
const notFound = (id: number, uri: string): object => ({
  jsonrpc: "2.0",
  id,
  error: { code: -32002, message: "Resource not found", data: { uri } },
});
const busy = (id: number): object => ({
  jsonrpc: "2.0",
  id,
  error: { code: -32000, message: "Server busy: too many subscriptions are open" },
});

describe("SubscriptionSession in the legacy era", () => {
  it("announces changes of subscribed resources only", () => {
    const harness = new SessionHarness({ a: "open", b: "open" });
    expect(harness.subscribe(1, "a")).toEqual([ok(1)]);
    harness.resources.change("b");
    expect(harness.take()).toEqual([]);
    harness.resources.change("a");
    harness.resources.change("a");
    expect(harness.take()).toEqual([updated("a"), updated("a")]);
  });

  it("watches a URI once when it is subscribed to twice", () => {
    const harness = new SessionHarness({ a: "open" });
    harness.subscribe(1, "a");
    expect(harness.subscribe(2, "a")).toEqual([ok(2)]);
    expect(harness.resources.count).toBe(1);
    harness.resources.change("a");
    expect(harness.take()).toEqual([updated("a")]);
  });

  it("answers as for an unknown resource when a subscribed one is hidden, also without room for more watches", () => {
    const harness = new SessionHarness({ a: "open", late: "late" });
    harness.subscribe(1, "a");
    harness.subscribe(2, "late");
    delete harness.resources.known["a"];
    delete harness.resources.known["late"];
    const absent = { error: { code: -32002 } };
    expect(harness.subscribe(3, "a")).toMatchObject([{ id: 3, ...absent }]);
    expect(harness.subscribe(4, "late")).toMatchObject([{ id: 4, ...absent }]);
    expect(harness.subscribe(5, "never")).toMatchObject([{ id: 5, ...absent }]);
    const full = Array.from({ length: 1022 }, (_none, index) => `u${index}`);
    for (const uri of full) harness.resources.known[uri] = "open";
    for (const uri of full) harness.subscribe(6, uri);
    expect(harness.subscribe(7, "a")).toMatchObject([{ id: 7, ...absent }]);
    expect(harness.subscribe(8, "never")).toMatchObject([{ id: 8, ...absent }]);
  });

  it("announces nothing after unsubscribe, which may be sent twice", () => {
    const harness = new SessionHarness({ a: "open" });
    harness.subscribe(1, "a");
    const [watching] = harness.resources.watching.get("a") ?? [];
    expect(harness.unsubscribe(2, "a")).toEqual([ok(2)]);
    expect(harness.resources.count).toBe(0);
    // Late, as a watcher must not tell it.
    watching?.changed();
    watching?.opened?.(true);
    expect(harness.unsubscribe(3, "a")).toEqual([ok(3)]);
    expect(harness.unsubscribe(4, "never there")).toEqual([ok(4)]);
  });

  it("answers that there is nothing, at once or when that comes out", () => {
    const harness = new SessionHarness({ late: "late" });
    expect(harness.subscribe(1, "a")).toEqual([notFound(1, "a")]);
    expect(harness.subscribe(2, "late")).toEqual([]);
    harness.resources.open("late", false);
    expect(harness.take()).toEqual([notFound(2, "late")]);
    expect(harness.resources.count).toBe(0);
    expect(harness.clock.pending).toBe(0);
  });

  it("answers when no change can be missed, and announces meanwhile changes behind the answer", () => {
    const harness = new SessionHarness({ late: "late" });
    harness.subscribe(1, "late");
    expect(harness.subscribe(2, "late")).toEqual([]);
    harness.resources.change("late");
    expect(harness.take()).toEqual([]);
    harness.resources.open("late");
    expect(harness.take()).toEqual([ok(1), ok(2), updated("late")]);
    expect(harness.resources.count).toBe(1);
  });

  it("answers after a second when the backend is away, and announces missed changes when it is back", async () => {
    const harness = new SessionHarness({ late: "late" });
    harness.subscribe(1, "late");
    harness.clock.pass(1000);
    expect(harness.take()).toEqual([ok(1)]);
    harness.resources.open("late");
    await Promise.resolve();
    expect(harness.take()).toEqual([updated("late")]);
  });

  it("announces a missed change once when the watcher does too", async () => {
    const harness = new SessionHarness({ late: "late" });
    harness.subscribe(1, "late");
    harness.clock.pass(1000);
    harness.take();
    harness.resources.open("late");
    harness.resources.change("late");
    await Promise.resolve();
    expect(harness.take()).toEqual([updated("late")]);
  });

  it("answers a waiting subscription before the request that ends it", () => {
    const harness = new SessionHarness({ late: "late" });
    harness.subscribe(1, "late");
    expect(harness.unsubscribe(2, "late")).toEqual([ok(1), ok(2)]);
    expect(harness.resources.count + harness.clock.pending).toBe(0);
  });

  it("subscribes to nothing when the waiting request is cancelled, unless another one waits", () => {
    const harness = new SessionHarness({ late: "late" });
    harness.subscribe(1, "late");
    harness.subscribe(2, "late");
    harness.session.cancel(1);
    expect(harness.resources.count).toBe(1);
    harness.session.cancel(2);
    expect(harness.resources.count + harness.clock.pending).toBe(0);
    expect(harness.take()).toEqual([]);
    harness.subscribe(3, "late");
    harness.session.cancel(1);
    harness.resources.open("late");
    expect(harness.take()).toEqual([ok(3)]);
  });

  it("answers requests that wait when it is closed", () => {
    const harness = new SessionHarness({ late: "late", b: "open" });
    harness.subscribe(1, "late");
    harness.subscribe(2, "late");
    harness.subscribe(3, "b");
    harness.take();
    harness.session.close();
    expect(harness.take()).toMatchObject([
      { id: 1, error: { message: "Server busy: it is closing" } },
      { id: 2, error: { message: "Server busy: it is closing" } },
    ]);
    expect(harness.resources.count + harness.clock.pending).toBe(0);
  });

  it("refuses the 1,025th URI, whether or not the client hears of the list", () => {
    const uris = Array.from({ length: 1025 }, (_none, index) => `n${index}`);
    const harness = new SessionHarness(Object.fromEntries(uris.map((uri) => [uri, "open" as const])));
    harness.session.initialised();
    for (const uri of uris.slice(1)) expect(harness.subscribe(1, uri)).toEqual([ok(1)]);
    expect(harness.subscribe(2, "n0")).toEqual([busy(2)]);
    expect(harness.subscribe(3, "n1")).toEqual([ok(3)]);
    harness.unsubscribe(4, "n1");
    expect(harness.subscribe(5, "n0")).toEqual([ok(5)]);
  });

  it("announces that the list has changed once the client is initialised", () => {
    const harness = new SessionHarness();
    harness.resources.change("list");
    harness.session.initialised();
    harness.session.initialised();
    harness.resources.change("list");
    expect(harness.take()).toEqual([{ jsonrpc: "2.0", method: "notifications/resources/list_changed" }]);
  });

  it("knows no subscription of the other era", () => {
    const harness = new SessionHarness({ a: "open" });
    expect(harness.request("modern", 1, { method: "resources/subscribe", params: { uri: "a" } })).toBe(false);
    expect(harness.request("legacy", 2, { method: "subscriptions/listen", params: { notifications: {} } })).toBe(false);
    expect(harness.take()).toEqual([]);
  });
});

describe("SubscriptionSession in the modern era", () => {
  it("acknowledges the known URIs first, and names the subscription in every notification", () => {
    const harness = new SessionHarness({ a: "open", b: "open" });
    expect(harness.listen("s", "a", "hidden", "b", "a")).toEqual([
      acknowledged("s", { resourceSubscriptions: ["a", "b"] }),
    ]);
    harness.resources.change("b");
    expect(harness.take()).toEqual([updated("b", "s")]);
  });

  it("waits for all of its URIs, and leaves out impossible ones", () => {
    const harness = new SessionHarness({ a: "open", b: "late", c: "late" });
    expect(harness.listen(1, "a", "b", "c")).toEqual([]);
    harness.resources.change("a");
    harness.resources.open("c", false);
    expect(harness.take()).toEqual([]);
    harness.resources.open("b");
    expect(harness.take()).toEqual([acknowledged(1, { resourceSubscriptions: ["a", "b"] }), updated("a", 1)]);
    expect(harness.resources.count).toBe(2);
    expect(harness.clock.pending).toBe(0);
  });

  it("honours no list that cannot change, and announces the one that can", () => {
    const harness = new SessionHarness();
    const notifications = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };
    harness.request("modern", 1, { method: "subscriptions/listen", params: { notifications } });
    expect(harness.take()).toEqual([acknowledged(1, { resourcesListChanged: true })]);
    harness.resources.change("list");
    expect(harness.take()).toEqual([
      {
        jsonrpc: "2.0",
        method: "notifications/resources/list_changed",
        params: { _meta: { "io.modelcontextprotocol/subscriptionId": 1 } },
      },
    ]);
  });

  it("announces a change to each subscription of the URI", () => {
    const harness = new SessionHarness({ a: "open" });
    harness.listen(1, "a");
    harness.listen("1", "a");
    harness.resources.change("a");
    expect(harness.take()).toEqual([updated("a", 1), updated("a", "1")]);
  });

  it("holds an empty subscription open until it is cancelled, which is not answered", () => {
    const harness = new SessionHarness({ a: "open" });
    expect(harness.listen(1)).toEqual([acknowledged(1, {})]);
    harness.session.cancel(1);
    harness.listen(1, "a");
    harness.session.cancel(1);
    expect(harness.resources.count).toBe(0);
    expect(harness.take()).toEqual([]);
  });

  it("acknowledges a request that is cancelled while it waits, and sends nothing behind it", () => {
    const harness = new SessionHarness({ late: "late" });
    harness.listen(1, "late");
    harness.session.cancel(1);
    expect(harness.take()).toEqual([acknowledged(1, { resourceSubscriptions: ["late"] })]);
    expect(harness.resources.count + harness.clock.pending).toBe(0);
  });

  it("refuses the 65th subscription, and more than 1,024 URIs in all of them", () => {
    const uris = Array.from({ length: 1024 }, (_none, index) => `n${index}`);
    const harness = new SessionHarness(Object.fromEntries(uris.map((uri) => [uri, "open" as const])));
    expect(harness.listen(1, ...uris, "one more")).toEqual([busy(1)]);
    expect(harness.resources.lookups).toBe(0);
    expect(harness.listen(1, ...uris)).toHaveLength(1);
    expect(harness.listen(2, "n0")).toEqual([busy(2)]);
    for (let id = 2; id <= 64; id += 1) expect(harness.listen(id)).toEqual([acknowledged(id, {})]);
    expect(harness.listen(65)).toEqual([busy(65)]);
    harness.session.cancel(1);
    expect(harness.listen(65, "n0")).toHaveLength(1);
    expect(harness.resources.count).toBe(1);
  });

  it("ends every subscription with an answer that names it when it is closed, and says nothing after that", () => {
    const harness = new SessionHarness({ a: "open", late: "late" });
    harness.listen(1, "a");
    harness.listen("b", "late");
    harness.session.close();
    expect(harness.take()).toEqual([ended(1), acknowledged("b", { resourceSubscriptions: ["late"] }), ended("b")]);
    expect(harness.resources.count + harness.clock.pending).toBe(0);
    harness.session.close();
    harness.session.setOutputFull(true);
    harness.session.setOutputFull(false);
    harness.session.initialised();
    harness.listen(2, "a");
    expect(harness.lines).toEqual([]);
    expect(harness.resources.count + harness.clock.pending).toBe(0);
  });
});

describe("SubscriptionSession while the output is full", () => {
  it("keeps one bit for each subscription and URI, and writes each once when there is room", () => {
    const harness = new SessionHarness({ a: "open", b: "open" });
    harness.listen(1, "a", "b");
    harness.listen(2, "a");
    harness.session.setOutputFull(true);
    for (let count = 0; count < 1000; count += 1) harness.resources.change("b");
    harness.resources.change("a");
    expect(harness.take()).toEqual([]);
    harness.session.setOutputFull(false);
    expect(harness.take()).toEqual([updated("b", 1), updated("a", 1), updated("a", 2)]);
    harness.resources.change("a");
    expect(harness.take()).toEqual([updated("a", 1), updated("a", 2)]);
    expect(harness.clock.pending).toBe(0);
  });

  it("stops when the output is full again, and continues with the longest waiting ones", () => {
    const harness = new SessionHarness({ a: "open", b: "open", c: "open" });
    harness.listen(1, "a", "b", "c");
    harness.session.setOutputFull(true);
    for (const uri of ["a", "b", "c"]) harness.resources.change(uri);
    harness.onSend = () => harness.session.setOutputFull(true);
    harness.session.setOutputFull(false);
    expect(harness.take()).toEqual([updated("a", 1)]);
    harness.resources.change("a");
    harness.session.setOutputFull(false);
    harness.session.setOutputFull(false);
    harness.session.setOutputFull(false);
    expect(harness.take()).toEqual([updated("b", 1), updated("c", 1), updated("a", 1)]);
  });

  it("writes nothing that was cancelled or unsubscribed meanwhile", () => {
    const harness = new SessionHarness({ a: "open" });
    harness.listen(1, "a");
    harness.subscribe(2, "a");
    harness.session.setOutputFull(true);
    harness.resources.change("a");
    harness.session.cancel(1);
    harness.unsubscribe(3, "a");
    harness.take();
    harness.session.setOutputFull(false);
    expect(harness.take()).toEqual([]);
  });

  it("ends the modern subscriptions after 30 s, with a result when there is room, and one report", () => {
    const harness = new SessionHarness({ a: "open", b: "open" });
    harness.listen(1, "a", "b");
    harness.listen(2, "b");
    harness.session.setOutputFull(true);
    harness.resources.change("a");
    harness.clock.pass(29_999);
    expect(harness.resources.count).toBe(3);
    harness.clock.pass(1);
    expect(harness.resources.count).toBe(0);
    // Cancelled before it could be told: it is not told at all.
    harness.session.cancel(2);
    expect(harness.take()).toEqual([]);
    harness.session.setOutputFull(false);
    expect(harness.take()).toEqual([ended(1)]);
    expect(harness.faults).toMatchObject([{ cause: { code: "TIMEOUT" } }]);
    expect(harness.listen(1, "a")).toEqual([acknowledged(1, { resourceSubscriptions: ["a"] })]);
  });

  it("stops watching for a legacy client after 30 s, and announces each URI once when there is room", async () => {
    const harness = new SessionHarness({ a: "open", b: "open" });
    harness.session.initialised();
    harness.subscribe(1, "a");
    harness.subscribe(2, "b");
    harness.session.setOutputFull(true);
    harness.resources.change("a");
    harness.clock.pass(30_000);
    expect(harness.resources.count).toBe(0);
    harness.unsubscribe(3, "b");
    harness.take();
    harness.session.setOutputFull(false);
    await Promise.resolve();
    expect(harness.take()).toEqual(
      expect.arrayContaining([updated("a"), { jsonrpc: "2.0", method: "notifications/resources/list_changed" }]),
    );
    expect(harness.resources.count).toBe(2);
    harness.resources.change("a");
    expect(harness.take()).toEqual([updated("a")]);
  });

  it("restarts the 30 s whenever there was room", () => {
    const harness = new SessionHarness({ a: "open" });
    harness.listen(1, "a");
    for (let count = 0; count < 5; count += 1) {
      harness.session.setOutputFull(true);
      harness.clock.pass(20_000);
      harness.session.setOutputFull(false);
    }
    expect(harness.resources.count).toBe(1);
    expect(harness.faults).toEqual([]);
  });

  it("opens no subscription after 30 s until there is room", () => {
    const harness = new SessionHarness({ a: "open" });
    harness.session.setOutputFull(true);
    harness.clock.pass(30_000);
    expect(harness.faults).toEqual([]);
    expect(harness.subscribe(1, "a")).toEqual([ok(1)]);
    harness.listen(2, "a");
    harness.session.initialised();
    expect(harness.resources.count).toBe(0);
    harness.take();
    harness.session.setOutputFull(false);
    expect(harness.take()).toEqual([ended(2)]);
    expect(harness.resources.count).toBe(2);
  });

  it("opens a waiting subscription when there is room again", () => {
    const harness = new SessionHarness({ late: "late" });
    harness.session.setOutputFull(true);
    harness.clock.pass(30_000);
    harness.listen(1, "late");
    harness.session.setOutputFull(false);
    expect(harness.take()).toEqual([]);
    harness.resources.open("late");
    harness.resources.change("late");
    expect(harness.take()).toEqual([acknowledged(1, { resourceSubscriptions: ["late"] }), updated("late", 1)]);
  });

  it("answers requests that wait for a resource that is gone when there is room again", () => {
    const harness = new SessionHarness({ late: "late" });
    harness.session.initialised();
    harness.session.setOutputFull(true);
    harness.clock.pass(29_500);
    harness.subscribe(1, "late");
    harness.subscribe(2, "late");
    harness.clock.pass(500);
    delete harness.resources.known["late"];
    harness.session.setOutputFull(false);
    expect(harness.take()).toEqual([notFound(1, "late"), notFound(2, "late")]);
    harness.clock.pass(500);
    expect(harness.take()).toEqual([]);
    expect(harness.clock.pending).toBe(0);
  });

  it("writes no notification when the ends of subscriptions fill the output again", async () => {
    const harness = new SessionHarness({ a: "open" });
    harness.subscribe(1, "a");
    harness.listen(2);
    harness.session.setOutputFull(true);
    harness.clock.pass(30_000);
    harness.onSend = () => harness.session.setOutputFull(true);
    harness.session.setOutputFull(false);
    await Promise.resolve();
    expect(harness.take()).toEqual([ended(2)]);
    harness.session.setOutputFull(false);
    expect(harness.take()).toEqual([updated("a")]);
  });
});
