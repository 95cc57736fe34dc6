import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { EventSink, HttpReply, HttpRequest, HttpServe } from "../../../src/http/message.ts";
import { createFetchHandler } from "../../../src/http/web.ts";
import { readBody } from "../support/read-body.ts";

const url = "http://localhost:8080/mcp?q=1#part";

/** Hands out what came, and answers nothing by itself. */
function hold(init?: RequestInit & { duplex?: "half" }): {
  request: HttpRequest;
  reply: HttpReply;
  response: Promise<Response>;
} {
  const came: { request: HttpRequest; reply: HttpReply }[] = [];
  const response = createFetchHandler((request, reply) => void came.push({ request, reply }))(new Request(url, init));
  const [first] = came;
  if (first === undefined) throw new TypeError("nothing came");
  return { ...first, response };
}

function post(body: string | ReadableStream<Uint8Array>, headers: Record<string, string> = {}): HttpRequest {
  return hold({ method: "POST", body, headers, duplex: "half" }).request;
}

const never: HttpServe = () => {};

function fill(sink: EventSink): void {
  for (let count = 0; count < 1_000 && !sink.isFull; count += 1) sink.write("x".repeat(1_024));
}

describe("a web request", () => {
  it("gets the extra headers of its reply in a JSON response and in a stream", async () => {
    const [piece, stream] = [hold(), hold()];
    for (const { reply } of [piece, stream]) reply.extraHeaders = { vary: "origin" };
    piece.reply.answer({ status: 200, headers: { vary: "x" } });
    stream.reply.stream({ "content-type": "text/event-stream" }).end();
    const responses = await Promise.all([piece.response, stream.response]);
    expect(responses.map(({ headers }) => headers.get("vary"))).toEqual(["origin", "origin"]);
  });

  it("returns path and query as sent, and the host of its URL without a Host header", () => {
    const { request } = hold();
    expect(request.target).toBe("/mcp?q=1");
    expect([request.header("host"), request.count("host")]).toEqual(["localhost:8080", 1]);
    expect([request.header("origin"), request.count("origin")]).toEqual([undefined, 0]);
    expect(hold({ headers: { host: "ci.example" } }).request.header("host")).toBe("ci.example");
  });

  it("has its body when it comes in pieces", async () => {
    const pieces = ["a", "bc", "d"].map((text) => new TextEncoder().encode(text));
    const stream = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        const piece = pieces.shift();
        if (piece === undefined) controller.close();
        else controller.enqueue(piece);
      },
    });
    expect(await readBody(post(stream), 4)).toEqual(new TextEncoder().encode("abcd"));
  });

  it("has an empty body when it has none, or it was read already", async () => {
    expect(await readBody(hold({ method: "POST" }).request, 4)).toEqual(new Uint8Array(0));
    const read = new Request(url, { method: "POST", body: "x" });
    await read.text();
    const bodies: unknown[] = [];
    void createFetchHandler((request) => request.body(4, (body) => bodies.push(body)))(read);
    await turn();
    expect(bodies).toEqual([new Uint8Array(0)]);
  });

  it("is too large, and not read to its end, when there is more than the bound", async () => {
    let cancelled = false;
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new Uint8Array(10)),
      cancel: () => void (cancelled = true),
    });
    expect(await readBody(post(endless), 64)).toBe("too-large");
    await turn();
    expect(cancelled).toBe(true);
    expect(await readBody(post("xy", { "content-length": "65" }), 64)).toBe("too-large");
  });

  it("is gone when its body breaks off", async () => {
    const broken = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(new TypeError("cut")) });
    expect(await readBody(post(broken), 64)).toBe("gone");
  });

  it("is gone, and read no further, when the signal fires while it is read", async () => {
    let cancelled = false;
    const stalled = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new Uint8Array(10)),
      cancel: () => void (cancelled = true),
    });
    const leaving = new AbortController();
    const { request } = hold({ method: "POST", body: stalled, duplex: "half", signal: leaving.signal });
    const body = readBody(request, 64);
    await turn();
    leaving.abort();
    expect(await body).toBe("gone");
    expect(cancelled).toBe(true);
  });
});

describe("a reply to a web request", () => {
  it("sends only the first answer", async () => {
    const { reply, response } = hold();
    reply.answer({ status: 201, headers: { "x-a": "1" }, body: "é" });
    reply.answer({ status: 500 });
    reply.stream({}).write("no");
    const answer = await response;
    expect([answer.status, answer.headers.get("x-a"), await answer.text(), reply.isOver]).toEqual([
      201,
      "1",
      "é",
      true,
    ]);
  });

  it("has no body when its status allows none", async () => {
    const { reply, response } = hold();
    reply.answer({ status: 204 });
    expect((await response).body).toBeNull();
  });

  it("reports once that its client is gone, and settles, when the signal fires before the answer", async () => {
    const leaving = new AbortController();
    const { reply, response } = hold({ signal: leaving.signal });
    let told = 0;
    reply.onGone = () => void (told += 1);
    leaving.abort();
    reply.answer({ status: 200 });
    expect([told, reply.isOver, (await response).status]).toEqual([1, true, 499]);
  });

  it("runs nothing when its client was gone before it came", async () => {
    let asked = 0;
    const serve: HttpServe = () => void (asked += 1);
    expect((await createFetchHandler(serve)(new Request(url, { signal: AbortSignal.abort() }))).status).toBe(499);
    expect(asked).toBe(0);
  });

  it("reports nothing when the signal fires after the answer", async () => {
    const leaving = new AbortController();
    const { reply, response } = hold({ signal: leaving.signal });
    let told = 0;
    reply.onGone = () => void (told += 1);
    reply.answer({ status: 200 });
    await response;
    leaving.abort();
    expect(told).toBe(0);
  });

  it("waits for its answer as long as its client stays", async () => {
    const asked = createFetchHandler(never)(new Request(url));
    expect(await Promise.race([asked, turn("waiting")])).toBe("waiting");
  });
});

describe("a stream of events to a web request", () => {
  it("carries the written events, and ends", async () => {
    const { reply, response } = hold();
    const sink = reply.stream({ "content-type": "text/event-stream" });
    sink.write("one ");
    sink.write("é");
    expect(reply.isOver).toBe(false);
    sink.end();
    sink.end();
    sink.write("late");
    const answer = await response;
    expect([reply.isOver, answer.headers.get("content-type"), await answer.text()]).toEqual([
      true,
      "text/event-stream",
      "one é",
    ]);
  });

  it("is full, and says when it is not any more, when its reader is late", async () => {
    const { reply, response } = hold();
    const sink = reply.stream({});
    fill(sink);
    expect(sink.isFull).toBe(true);
    const drained = new Promise<void>((resolve) => (sink.onDrain = resolve));
    const reader = (await response).body?.getReader();
    while (sink.isFull) await reader?.read();
    await drained;
  });

  it.each([
    ["cancelled by its reader", async (response: Response) => response.body?.cancel()],
    ["left by its client", async (_response: Response, leaving: AbortController) => leaving.abort()],
  ])("reports once that its client is gone, and accepts no more, when it is %s", async (_how, leave) => {
    const leaving = new AbortController();
    const { reply, response } = hold({ signal: leaving.signal });
    let told = 0;
    reply.onGone = () => void (told += 1);
    const sink = reply.stream({});
    sink.write("one");
    await leave(await response, leaving);
    leaving.abort();
    sink.write("two");
    sink.end();
    sink.destroy();
    expect([told, reply.isOver]).toEqual([1, true]);
  });

  it.each([
    ["open", (sink: EventSink) => sink],
    ["ended and not read", (sink: EventSink) => (sink.end(), sink)],
  ])("drops unread events without a report when it is %s and dropped", async (_how, prepare) => {
    const { reply, response } = hold();
    let told = 0;
    reply.onGone = () => void (told += 1);
    const sink = reply.stream({});
    sink.write("one");
    prepare(sink).destroy();
    await expect((await response).text()).rejects.toMatchObject({ code: "CLOSED" });
    expect(told).toBe(0);
  });
});
