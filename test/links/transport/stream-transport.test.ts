import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { maxFrameBytes, maxValues } from "../../../src/links/transport/base-transport.ts";
import { createStreamTransport } from "../../../src/links/transport/stream-transport.ts";
import { framed, hear, openPair, textOf, until } from "./support.ts";

const ping = { jsonrpc: "2.0", method: "ping" };

describe("createStreamTransport()", () => {
  it("carries messages both ways when both ends are transports", async () => {
    const { near, far } = await openPair();
    const [left, right] = [hear(near), hear(far)];
    const sent = Array.from({ length: 500 }, (_, id) => ({ jsonrpc: "2.0", id, method: `żółw ${"x".repeat(id)}` }));
    for (const message of sent) left.transport.write(message);
    right.transport.write(ping);
    await until(() => right.messages.length === sent.length && left.messages.length === 1);
    expect(right.messages).toEqual(sent);
    left.transport.close();
    await Promise.all([left.closed, right.closed]);
    expect([...left.errors, ...right.errors]).toEqual([]);
  });

  it("hands messages of one turn over in one write when there are many", async () => {
    const output = new PassThrough();
    const chunks: Buffer[] = [];
    output.on("data", (chunk: Buffer) => chunks.push(chunk));
    const transport = createStreamTransport({ input: new PassThrough(), output, destroy: () => {} });
    for (let count = 0; count < 3; count += 1) transport.write(ping);
    await until(() => chunks.length > 0);
    expect(chunks.map(String)).toEqual([framed(JSON.stringify(ping)).repeat(3)]);
  });

  it.each([
    ["garbage", "\0\u0001garbage\r\n\r\n", "PROTOCOL_MISMATCH"],
    ["what is not JSON", framed("{"), "PROTOCOL_MISMATCH"],
    ["JSON that is no object", framed("[]"), "PROTOCOL_MISMATCH"],
    ["null", framed("null"), "PROTOCOL_MISMATCH"],
    ["a mark of byte order", framed("\uFEFF{}"), "PROTOCOL_MISMATCH"],
    ["too many levels", framed(`{"a":${"[".repeat(300)}${"]".repeat(300)}}`), "PROTOCOL_MISMATCH"],
    ["too many values", framed(`{"a":[${"[],".repeat(maxValues)}[]]}`), "PROTOCOL_MISMATCH"],
    ["a huge length", `Content-Length: ${1024 ** 3}\r\n\r\n`, "FRAME_TOO_LARGE"],
  ])("ends with a typed cause, after what came before, when the far side sends %s", async (_what, bytes, code) => {
    const { near, far } = await openPair();
    const heard = hear(near);
    far.write(framed(JSON.stringify(ping)) + bytes + framed(JSON.stringify(ping)));
    await heard.closed;
    expect(heard.messages).toEqual([ping]);
    expect(heard.errors).toMatchObject([{ code }]);
    await until(() => near.destroyed);
    far.destroy();
  });

  it("ends with the cause, and hands on nothing more, when its listener throws", async () => {
    const { near, far } = await openPair();
    const transport = createStreamTransport({ input: near, output: near, destroy: () => near.destroy() });
    const cause = new Error("a fault");
    let count = 0;
    const ended = new Promise((resolve) =>
      transport.listen({
        message() {
          count += 1;
          throw cause;
        },
        drained: () => {},
        ended: resolve,
      }),
    );
    far.write(framed(JSON.stringify(ping)).repeat(2));
    expect(await ended).toBe(cause);
    await until(() => near.destroyed);
    expect(count).toBe(1);
    far.destroy();
  });

  it("reads no further when the far side goes on after a huge length", async () => {
    const { near, far } = await openPair();
    const heard = hear(near);
    far.write(`Content-Length: ${1024 ** 3}\r\n\r\n`);
    const isGone = new Promise((resolve) => far.on("close", resolve));
    const flood = (): void => void (far.destroyed || far.write(Buffer.alloc(65_536), () => setImmediate(flood)));
    flood();
    await heard.closed;
    await isGone;
    expect(near.bytesRead).toBeLessThan(8 * 1024 * 1024);
  });

  it.each(["Content-Le", "Content-Length: 50\r\n\r\n", 'Content-Length: 50\r\n\r\n{"jsonrpc"'])(
    "ends when the far side ends in the middle of a frame, after %j",
    async (torn) => {
      const { near, far } = await openPair();
      const heard = hear(near);
      far.end(framed(JSON.stringify(ping)) + torn);
      await heard.closed;
      expect(heard.messages).toEqual([ping]);
      expect(heard.errors).toEqual([]);
    },
  );

  it("tells messages and the end when they came before anybody listened", async () => {
    const { near, far } = await openPair();
    const transport = createStreamTransport({ input: near, output: near, destroy: () => near.destroy() });
    far.end(framed(JSON.stringify(ping)));
    await until(() => near.readableEnded);
    const told: unknown[] = [];
    transport.listen({
      message: (message) => void told.push(message),
      drained: () => {},
      ended: () => void told.push("closed"),
    });
    await until(() => told.length === 2);
    expect(told).toEqual([ping, "closed"]);
  });

  it("tells why when the stream breaks", async () => {
    const { near, far } = await openPair();
    const heard = hear(near);
    near.destroy(new Error("planted"));
    await heard.closed;
    expect(heard.errors).toMatchObject([{ code: "DISCONNECTED", cause: { message: "planted" } }]);
    far.destroy();
  });

  it("write() refuses one message and sends the next when the first is too large", async () => {
    const { near, far } = await openPair();
    const [left, right] = [hear(near), hear(far)];
    const large = { jsonrpc: "2.0", method: "x".repeat(maxFrameBytes) };
    expect(() => left.transport.write(large)).toThrow(expect.objectContaining({ code: "FRAME_TOO_LARGE" }));
    const largest = JSON.parse(textOf(maxFrameBytes));
    left.transport.write(largest);
    left.transport.write(ping);
    await until(() => right.messages.length === 2);
    expect(right.messages[0]).toEqual(largest);
    expect(left.errors).toEqual([]);
    left.transport.close();
  });

  it("write() refuses one message and sends the next when the first has more values than the far side takes", async () => {
    const { near, far } = await openPair();
    const [left, right] = [hear(near), hear(far)];
    const full = { ...ping, params: Array(maxValues).fill(1) };
    expect(() => left.transport.write(full)).toThrow(expect.objectContaining({ code: "FRAME_TOO_LARGE" }));
    left.transport.write(ping);
    await until(() => right.messages.length === 1);
    expect(right.messages).toEqual([ping]);
    left.transport.close();
  });

  it("write() throws UNAVAILABLE when it has ended", async () => {
    const { near, far } = await openPair();
    const heard = hear(near);
    heard.transport.close();
    heard.transport.close();
    expect(() => heard.transport.write(ping)).toThrow(expect.objectContaining({ code: "UNAVAILABLE" }));
    far.destroy();
    await heard.closed;
  });

  it("close() sends what was written when it is called in the same turn", async () => {
    const { near, far } = await openPair();
    const [left, right] = [hear(near), hear(far)];
    left.transport.write(ping);
    left.transport.close();
    await right.closed;
    expect(right.messages).toEqual([ping]);
  });

  it("close() lets go of the socket when the far side neither reads nor ends", async () => {
    const { near, far } = await openPair();
    far.pause();
    const heard = hear(near);
    for (let count = 0; count < 20; count += 1) heard.transport.write(JSON.parse(textOf(1024 * 1024)));
    heard.transport.close();
    await heard.closed;
    expect(near.destroyed).toBe(true);
    far.destroy();
  });

  it("isFull tells, and the listener is told, when the far side stops reading and goes on", async () => {
    const { near, far } = await openPair();
    far.pause();
    const { transport, drains } = hear(near);
    expect(transport.isFull).toBe(false);
    transport.write(JSON.parse(textOf(8 * 1024 * 1024)));
    expect(transport.isFull).toBe(true);
    far.resume();
    await until(() => drains.count === 1);
    expect(transport.isFull).toBe(false);
    far.destroy();
  });

  it("pause() holds back what comes, within bounds, when the far side goes on sending", async () => {
    const { near, far } = await openPair();
    const heard = hear(near);
    heard.transport.pause();
    const frame = framed(textOf(60_000));
    const count = 400;
    for (let sent = 0; sent < count; sent += 1) far.write(frame);
    await until(() => near.isPaused());
    const { bytesRead } = near;
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(near.bytesRead).toBe(bytesRead);
    expect(bytesRead).toBeLessThan(4 * 1024 * 1024);
    expect(heard.messages).toEqual([]);
    heard.transport.resume();
    await until(() => heard.messages.length === count);
    far.end();
    await heard.closed;
  });

  it("pause() stops at once when it is called for a message in the middle of a chunk", async () => {
    const { near, far } = await openPair();
    const seen: unknown[] = [];
    const transport = createStreamTransport({ input: near, output: near, destroy: () => near.destroy() });
    transport.listen({
      message(message) {
        seen.push(message);
        transport.pause();
      },
      drained: () => {},
      ended: () => {},
    });
    far.write(framed(JSON.stringify(ping)).repeat(3));
    await until(() => seen.length === 1);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(seen.length).toBe(1);
    transport.resume();
    expect(seen.length).toBe(2);
    far.destroy();
  });

  it("hands on what it held back, and tells the end, when the far side ends while it is paused", async () => {
    const { near, far } = await openPair();
    const heard = hear(near);
    heard.transport.pause();
    far.end(framed(JSON.stringify(ping)).repeat(3));
    await heard.closed;
    expect(heard.messages.length).toBe(3);
  });
});
