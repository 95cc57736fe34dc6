import { describe, expect, it } from "vitest";
import { Subscriptions, type Watched, type Watcher, type WatchEvents } from "../../src/spine/subscriptions.ts";
import { FakeUser, type FakeLink, FarEnd } from "./parts/far-end.ts";

interface FakeStream extends WatchEvents<string> {
  readonly link: FakeLink;
  stops: number;
}

/** Something to watch, whose streams a test speaks for. */
class FakeSource implements Watched<FakeLink, string> {
  readonly key: string;
  readonly windowMs = 100;
  readonly streams: FakeStream[] = [];
  /** Runs within open(), and within what stops a stream. */
  onOpen: (events: WatchEvents<string>) => void = () => {};
  onStop: () => void = () => {};

  constructor(key = "a") {
    this.key = key;
  }

  open(link: FakeLink, events: WatchEvents<string>): () => void {
    const stream: FakeStream = { ...events, link, stops: 0 };
    this.streams.push(stream);
    this.onOpen(events);
    return () => {
      stream.stops += 1;
      this.onStop();
    };
  }

  /** The newest stream. */
  get stream(): FakeStream {
    const stream = this.streams.at(-1);
    if (stream === undefined) throw new Error("no stream was opened");
    return stream;
  }
}

class FakeWatcher implements Watcher {
  changes = 0;
  moves = 0;
  onChanged: () => void = () => {};

  changed(): void {
    this.changes += 1;
    this.onChanged();
  }

  moved(): void {
    this.moves += 1;
  }
}

function create(): { far: FarEnd; subscriptions: Subscriptions<FakeLink, string>; source: FakeSource } {
  const far = new FarEnd();
  const subscriptions = new Subscriptions<FakeLink, string>({
    holder: far.holder,
    clock: far.clock.lane("watch"),
    random: () => 0,
  });
  return { far, subscriptions, source: new FakeSource() };
}

describe("Subscriptions", () => {
  it("opens one stream for all watchers of a key, and closes it with the last", () => {
    const { far, subscriptions, source } = create();
    const held = [new FakeWatcher(), new FakeWatcher()].map((watcher) => subscriptions.subscribe(source, watcher));
    const link = far.open();
    source.stream.value("one");
    expect(source.streams).toHaveLength(1);
    expect(subscriptions.latest("a")).toEqual({ value: "one" });
    held[0]?.end();
    expect(source.stream.stops).toBe(0);
    held[1]?.end();
    held[1]?.end();
    expect([source.stream.stops, subscriptions.size, link.closes]).toEqual([1, 0, 1]);
    expect(far.clock.timers).toHaveLength(0);
    expect(subscriptions.latest("a")).toBeUndefined();
  });

  it("announces nothing for the snapshot, then four changes at once, then one a window", () => {
    const { far, subscriptions, source } = create();
    const watcher = new FakeWatcher();
    subscriptions.subscribe(source, watcher);
    far.open();
    source.stream.value("snapshot");
    expect([watcher.changes, watcher.moves]).toEqual([0, 1]);
    for (const value of "123456") source.stream.value(value);
    expect([watcher.changes, watcher.moves]).toEqual([4, 7]);
    far.pass(100);
    expect(watcher.changes).toBe(5);
    far.pass(1000);
    expect(watcher.changes).toBe(5);
  });

  it("calls no watcher before subscribe() has returned when a stream emits at once", () => {
    const { far, subscriptions, source } = create();
    subscriptions.subscribe(new FakeSource("b"), {});
    far.open();
    source.onOpen = (events) => {
      events.value("snapshot");
      events.value("one");
    };
    const watcher = new FakeWatcher();
    const subscription = subscriptions.subscribe(source, watcher);
    expect([watcher.changes, watcher.moves]).toEqual([0, 0]);
    expect([subscriptions.latest("a"), subscription.version]).toEqual([{ value: "one" }, 1]);
    source.stream.value("two");
    expect(watcher.changes).toBe(1);
  });

  it("calls no watcher that has left, also for a pending change", () => {
    const { far, subscriptions, source } = create();
    const [first, second] = [new FakeWatcher(), new FakeWatcher()];
    const other = subscriptions.subscribe(source, first);
    const subscription = subscriptions.subscribe(source, second);
    first.onChanged = () => subscription.end();
    far.open();
    source.stream.value("snapshot");
    source.stream.value("one");
    expect([first.changes, second.changes]).toEqual([1, 0]);
    for (const value of "2345") source.stream.value(value);
    other.end();
    far.pass(1000);
    expect(first.changes).toBe(4);
  });

  it("calls a watcher that came during the last announcement at once for the next change", () => {
    const { far, subscriptions, source } = create();
    const late = new FakeWatcher();
    let isFirst = true;
    const first = subscriptions.subscribe(source, {
      moved: () => {
        if (!isFirst) return;
        isFirst = false;
        subscriptions.subscribe(source, late);
        first.end();
      },
    });
    far.attempt.failed("refused");
    far.pass(25);
    far.open();
    source.stream.value("one");
    expect(late.changes).toBe(0);
    source.stream.value("two");
    expect(late.changes).toBe(1);
  });

  it("announces the snapshot of another link as a change", () => {
    const { far, subscriptions, source } = create();
    const watcher = new FakeWatcher();
    subscriptions.subscribe(source, watcher);
    far.open();
    source.stream.value("snapshot");
    far.attempt.ended();
    expect(source.stream.stops).toBe(1);
    expect(subscriptions.latest("a")).toBeUndefined();
    far.pass(25);
    far.open();
    source.stream.value("snapshot");
    expect(watcher.changes).toBe(1);
  });

  it.each([
    ["the first attempt has failed", 0, true],
    ["the first link was long in coming", 1000, false],
  ])("takes the first snapshot for news when %s", (_when, waitMs, fails) => {
    const { far, subscriptions, source } = create();
    const watcher = new FakeWatcher();
    subscriptions.subscribe(source, watcher);
    if (fails) far.attempt.failed("refused");
    far.pass(fails ? 25 : waitMs);
    far.open();
    source.stream.value("snapshot");
    expect(watcher.changes).toBe(1);
  });

  it("opens a stream again, says so once, and takes its snapshot for news when it fails by itself", () => {
    const { far, subscriptions, source } = create();
    const watcher = new FakeWatcher();
    subscriptions.subscribe(source, watcher);
    far.open();
    source.stream.value("snapshot");
    for (const delayMs of [100, 200, 400]) {
      source.stream.failed(false);
      expect(subscriptions.latest("a")).toBeUndefined();
      far.pass(delayMs);
    }
    expect(source.streams).toHaveLength(4);
    expect(watcher.changes).toBe(1);
    source.stream.value("back");
    expect(watcher.changes).toBe(2);
  });

  it.each(["ended", "failed"] as const)("opens nothing again on the same link when a stream has %s for good", (how) => {
    const { far, subscriptions, source } = create();
    subscriptions.subscribe(source, {});
    far.open();
    source.stream.value("last");
    if (how === "ended") source.stream.ended();
    else source.stream.failed(true);
    far.pass(60_000);
    expect(source.streams).toHaveLength(1);
    expect(subscriptions.latest("a")).toEqual(how === "ended" ? { value: "last" } : undefined);
    far.attempt.ended();
    far.pass(25);
    far.open();
    expect(source.streams).toHaveLength(2);
  });

  it("says that more is known when a stream ends without a value", () => {
    const { far, subscriptions, source } = create();
    const watcher = new FakeWatcher();
    subscriptions.subscribe(source, watcher);
    far.open();
    source.stream.ended();
    expect([watcher.moves, watcher.changes]).toEqual([1, 0]);
  });

  it("changes nothing when a stream that was stopped speaks", () => {
    const { far, subscriptions, source } = create();
    const watcher = new FakeWatcher();
    subscriptions.subscribe(source, watcher);
    far.open();
    const former = source.stream;
    far.attempt.ended();
    far.pass(25);
    far.open();
    former.value("late");
    former.failed(true);
    former.ended();
    expect([watcher.moves, subscriptions.latest("a")]).toEqual([0, undefined]);
    source.stream.value("new");
    expect(subscriptions.latest("a")).toEqual({ value: "new" });
  });

  it("starts a new watch when a key is watched again from the callback that stops it", () => {
    const { far, subscriptions, source } = create();
    const watcher = new FakeWatcher();
    const first = subscriptions.subscribe(source, {});
    far.open();
    source.onStop = () => {
      source.onStop = () => {};
      subscriptions.subscribe(source, watcher);
    };
    first.end();
    expect(subscriptions.size).toBe(1);
    expect(source.streams.map(({ stops }) => stops)).toEqual([1, 0]);
    source.stream.value("snapshot");
    source.stream.value("one");
    expect(watcher.changes).toBe(1);
  });

  it("opens a stream before a later watcher reads when it comes while users are given the link", () => {
    const { far, subscriptions, source } = create();
    const order: string[] = [];
    const user = new FakeUser();
    user.onTold = () => {
      subscriptions.subscribe(source, {});
      const reader = new FakeUser();
      reader.onTold = () => order.push("read");
      far.holder.join(reader);
    };
    source.onOpen = () => order.push("stream");
    far.holder.join(user);
    subscriptions.subscribe(source, {});
    far.open();
    // The snapshot is not announced, so a value that was read before it could be an older one.
    expect(order).toEqual(["stream", "read"]);
  });

  it("stops a stream that is still opening when its watcher leaves", () => {
    const { far, subscriptions, source } = create();
    const subscription = subscriptions.subscribe(source, {});
    source.onOpen = () => subscription.end();
    const link = far.open();
    expect([source.stream.stops, link.closes, subscriptions.size]).toEqual([1, 1, 0]);
  });

  it("drops everything when the manager is closed, also later subscribers", () => {
    const { far, subscriptions, source } = create();
    const watcher = new FakeWatcher();
    const subscription = subscriptions.subscribe(source, watcher);
    far.open();
    source.stream.value("snapshot");
    for (const value of "12345") source.stream.value(value);
    far.holder.close();
    expect([source.stream.stops, subscriptions.size, far.clock.timers.length]).toEqual([1, 0, 0]);
    subscriptions.subscribe(source, watcher).end();
    subscription.end();
    far.pass(1000);
    expect([watcher.changes, subscriptions.size, source.streams.length]).toEqual([4, 0, 1]);
  });

  it("keeps the other streams when one key's stream fails", () => {
    const { far, subscriptions, source } = create();
    const other = new FakeSource("b");
    subscriptions.subscribe(source, {});
    subscriptions.subscribe(other, {});
    far.open();
    other.stream.value("b");
    source.stream.failed(true);
    expect(other.stream.stops).toBe(0);
    expect(subscriptions.latest("b")).toEqual({ value: "b" });
  });

  it("opens a stream again on request, without news, and stops the one before", () => {
    const { far, subscriptions, source } = create();
    const watcher = new FakeWatcher();
    const held = subscriptions.subscribe(source, watcher);
    held.reopen();
    far.open();
    const first = source.stream;
    first.value("one");
    held.reopen();
    expect([source.streams.length, first.stops, subscriptions.latest("a")]).toEqual([2, 1, undefined]);
    first.value("late");
    expect(subscriptions.latest("a")).toBeUndefined();
    source.stream.value("two");
    expect([subscriptions.latest("a"), watcher.changes, held.version]).toEqual([{ value: "two" }, 0, 0]);
    source.stream.value("three");
    expect(watcher.changes).toBe(1);
  });

  it("leaves a stream that has failed or ended as it is when it is asked to open it again", () => {
    const { far, subscriptions, source } = create();
    const held = subscriptions.subscribe(source, new FakeWatcher());
    far.open();
    source.stream.failed(false);
    held.reopen();
    expect(source.streams).toHaveLength(1);
    far.pass(200);
    expect(source.streams).toHaveLength(2);
    source.stream.value("one");
    source.stream.ended();
    held.reopen();
    expect([source.streams.length, subscriptions.latest("a")]).toEqual([2, { value: "one" }]);
  });

  it("opens no stream again if stopping it has ended the watch", () => {
    const { far, subscriptions, source } = create();
    const held = subscriptions.subscribe(source, new FakeWatcher());
    // Keeps the link open.
    subscriptions.subscribe(new FakeSource("b"), new FakeWatcher());
    far.open();
    source.stream.value("one");
    source.onStop = () => held.end();
    held.reopen();
    expect([source.streams.length, subscriptions.size]).toEqual([1, 1]);
    held.reopen();
    expect(source.streams).toHaveLength(1);
  });

  it("announces a change that no stream has reported, at most as often as others", () => {
    const { far, subscriptions, source } = create();
    const watchers = [new FakeWatcher(), new FakeWatcher()];
    const [held] = watchers.map((watcher) => subscriptions.subscribe(source, watcher));
    far.open();
    source.stream.value("one");
    for (let n = 0; n < 10; n += 1) held?.announce();
    expect(watchers.map(({ changes }) => changes)).toEqual([4, 4]);
    far.pass(100);
    expect(watchers.map(({ changes }) => changes)).toEqual([5, 5]);
    expect([held?.version, watchers[0]?.moves]).toEqual([10, 11]);
  });
});
