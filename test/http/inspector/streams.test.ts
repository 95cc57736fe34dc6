import { afterEach, describe, expect, it } from "vitest";
import type { EventSink, HttpReply } from "../../../src/http/message.ts";
import { PageStreams } from "../../../src/http/inspector/page-streams.ts";
import { ManualClock } from "../../links/manual-clock.ts";
import { RawClient } from "../node/raw-client.ts";
import { closePages, FakeInspector, openPage, type OpenPage, sendRaw } from "./page-harness.ts";

afterEach(closePages);

/** A reply whose reader a test slows down. */
class FakeReply implements HttpReply, EventSink {
  readonly events: string[] = [];
  isOver = false;
  isFull = false;
  ending: "ended" | "destroyed" | undefined;
  onGone: (() => void) | undefined;
  onDrain: (() => void) | undefined;

  answer(): void {}

  stream(): EventSink {
    return this;
  }

  write(text: string): void {
    this.events.push(text);
  }

  end(): void {
    this.ending = "ended";
  }

  destroy(): void {
    this.ending = "destroyed";
  }

  drain(): void {
    this.isFull = false;
    this.onDrain?.();
  }
}

const keepAlive = ": keep-alive\n\n";

function createStreams(): {
  readonly inspector: FakeInspector;
  readonly clock: ManualClock;
  readonly streams: PageStreams;
  readonly faults: unknown[];
  connect(this: void): FakeReply;
} {
  const inspector = new FakeInspector();
  const clock = new ManualClock();
  const faults: unknown[] = [];
  const streams = new PageStreams({ inspector, clock, fail: (cause) => void faults.push(cause) });
  const connect = (): FakeReply => {
    const reply = new FakeReply();
    streams.open(reply);
    return reply;
  };
  return { inspector, clock, streams, faults, connect };
}

/** Returns the kinds of events, with the number of each snapshot or the data of each update. */
function readEvents({ events }: FakeReply): string[] {
  return events.map((event) => {
    const [, kind = "", data = ""] = /^event: (\w+)\ndata: (.*)\n\n$/.exec(event) ?? [];
    return kind === "snapshot" ? `snapshot ${(JSON.parse(data) as { at: number }).at}` : data || event;
  });
}

describe("the streams of the live page", () => {
  it("begin with a snapshot, and go on with each update", () => {
    const { inspector, connect } = createStreams();
    const reply = connect();
    inspector.update('{"at":7}');
    inspector.update('{"at":8}');
    expect(readEvents(reply)).toEqual(["snapshot 1", '{"at":7}', '{"at":8}']);
  });

  it("skip updates while the reader is slow, and give it one snapshot after that", () => {
    const { inspector, connect } = createStreams();
    const [slow, fast] = [connect(), connect()];
    slow.isFull = true;
    for (let at = 1; at <= 1000; at += 1) inspector.update(`{"at":${at}}`);
    expect(readEvents(slow)).toEqual(["snapshot 1"]);
    expect(fast.events).toHaveLength(1001);
    slow.drain();
    inspector.update('{"at":1001}');
    expect(readEvents(slow)).toEqual(["snapshot 1", "snapshot 3", '{"at":1001}']);
  });

  it("give no second snapshot to a reader that missed nothing", () => {
    const { connect } = createStreams();
    const reply = connect();
    reply.isFull = true;
    reply.drain();
    expect(readEvents(reply)).toEqual(["snapshot 1"]);
  });

  it("get a comment every 15 s, unless they are full", async () => {
    const { clock, connect } = createStreams();
    const [reply, full] = [connect(), connect()];
    full.isFull = true;
    await clock.pass(45_000);
    expect(reply.events.filter((event) => event === keepAlive)).toHaveLength(3);
    expect(full.events).toHaveLength(1);
  });

  it("drop a reader that reads nothing for a minute, which connects again later", async () => {
    const { inspector, clock, connect } = createStreams();
    const reply = connect();
    reply.isFull = true;
    inspector.update("{}");
    await clock.pass(59_000);
    expect(reply.ending).toBeUndefined();
    await clock.pass(1000);
    expect([reply.ending, inspector.listeners.size, clock.size]).toEqual(["destroyed", 0, 0]);
    await clock.pass(3_600_000);
    expect(readEvents(connect())).toEqual(["snapshot 2"]);
  });

  it("listen to the inspector once for all, and only while there are any", () => {
    const { inspector, clock, connect } = createStreams();
    const replies = [connect(), connect()];
    expect(inspector.listeners.size).toBe(1);
    for (const reply of replies) reply.onGone?.();
    expect([inspector.listeners.size, clock.size]).toEqual([0, 0]);
    connect();
    expect(inspector.listeners.size).toBe(1);
  });

  it("are at most 64, and make room when one leaves", () => {
    const { streams, connect } = createStreams();
    const [first] = Array.from({ length: 64 }, connect);
    expect(streams.open(new FakeReply())).toBe(false);
    first?.onGone?.();
    expect(streams.open(new FakeReply())).toBe(true);
  });

  it("end, and leave nothing behind, when they are closed", () => {
    const { inspector, clock, streams, connect } = createStreams();
    const reply = connect();
    streams.close();
    streams.close();
    inspector.update("{}");
    reply.drain();
    expect([reply.ending, inspector.listeners.size, clock.size, reply.events.length]).toEqual(["ended", 0, 0, 1]);
  });

  it("end with a fault of the inspector, which is reported", () => {
    const { inspector, faults, connect } = createStreams();
    inspector.fault = new TypeError("broken");
    const reply = connect();
    expect([reply.events, reply.ending, faults, inspector.listeners.size]).toEqual([[], "ended", [inspector.fault], 0]);
  });
});

describe("GET /events", () => {
  async function connect({ url, port, enter }: OpenPage): Promise<RawClient> {
    const client = new RawClient(port);
    const cookie = await enter();
    client.send(`GET ${new URL(url).pathname}events HTTP/1.1\r\nhost: localhost:${port}\r\ncookie: ${cookie}\r\n`);
    client.send("accept: text/event-stream\r\nsec-fetch-site: same-origin\r\n\r\n");
    return client;
  }

  it("is a stream of events that nothing stores", async () => {
    const page = await openPage();
    const client = await connect(page);
    const heard = (await client.until('"oldest":0}')).toLowerCase();
    expect(heard).toContain("http/1.1 200 ok\r\n");
    for (const line of ["content-type: text/event-stream", "cache-control: no-store", "x-frame-options: deny"]) {
      expect(heard).toContain(`\r\n${line}\r\n`);
    }
    expect(heard).toContain("event: snapshot\ndata: {");
    page.inspector.update('{"at":9}');
    await client.until('event: update\ndata: {"at":9}\n\n');
    await page.close();
    await client.closed();
  });

  it("never queues for a page that does not read", async () => {
    const page = await openPage();
    page.inspector.filler = "x".repeat(1024 * 1024);
    const client = await connect(page);
    await client.until("event: snapshot");
    client.socket.pause();
    const update = JSON.stringify({ at: 1, filler: "y".repeat(64 * 1024) });
    const before = process.memoryUsage();
    for (let count = 0; count < 2000; count += 1) {
      page.inspector.update(update);
      if (count % 100 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    }
    const { external, arrayBuffers, heapUsed } = process.memoryUsage();
    expect(external + arrayBuffers + heapUsed - before.external - before.arrayBuffers - before.heapUsed).toBeLessThan(
      64 * 1024 * 1024,
    );
    const { snapshots } = page.inspector;
    client.socket.resume();
    while (page.inspector.snapshots === snapshots) await new Promise((resolve) => setTimeout(resolve, 1));
    client.socket.destroy();
  });

  it("is no stream without a cookie, or for another method", async () => {
    const { url, inspector, enter } = await openPage();
    expect((await sendRaw(url, "GET /events")).status).toBe(401);
    expect((await sendRaw(url, "HEAD /events", [`cookie: ${await enter()}`])).status).toBe(405);
    expect(inspector.listeners.size).toBe(0);
  });
});
