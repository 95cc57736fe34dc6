import { setImmediate as turn } from "node:timers/promises";
import { Writable } from "node:stream";
import { afterEach, describe, expect, it, vi } from "vitest";
import { FrameWriter } from "../../src/stdio/frames.ts";

type Done = (error?: Error | null) => void;

interface Recorder {
  readonly output: Writable;
  readonly writer: FrameWriter;
  /** Each write that reached the sink. */
  readonly writes: string[];
  readonly events: string[];
}

/** A writer over a sink of 100 bytes whose every write ends as `sink` says; by default at once. */
function record(sink: (done: Done) => void = (done) => done()): Recorder {
  const writes: string[] = [];
  const events: string[] = [];
  const output = new Writable({
    highWaterMark: 100,
    write(chunk, _encoding, done) {
      writes.push(String(chunk));
      sink(done);
    },
  });
  const writer = new FrameWriter(output, {
    onBroken: (cause) => void events.push(`broken: ${cause instanceof Error ? cause.message : String(cause)}`),
    onFull: () => void events.push("full"),
    onDrain: () => void events.push("drain"),
  });
  return { output, writer, writes, events };
}

const epipe = (): Error => Object.assign(new Error("write EPIPE"), { code: "EPIPE" });

describe("FrameWriter", () => {
  afterEach(() => void vi.useRealTimers());

  it("joins the frames of one turn into one write when they are small", async () => {
    const { writer, writes } = record();
    writer.write('{"a":1}');
    await Promise.resolve();
    writer.write('{"b":"é"}');
    expect(writes).toEqual([]);
    await turn();
    writer.write("{}");
    await turn();
    expect(writes).toEqual(['{"a":1}\n{"b":"é"}\n', "{}\n"]);
  });

  it("writes at once when 64 KiB are waiting", () => {
    const { writer, writes } = record();
    writer.write("small");
    writer.write("x".repeat(64 * 1024));
    expect(writes).toEqual([`small\n${"x".repeat(64 * 1024)}\n`]);
  });

  it("writes at once when 16 frames are waiting, and the rest of the turn together", async () => {
    const { writer, writes } = record();
    for (let id = 1; id <= 35; id += 1) writer.write(String(id));
    const lines = (from: number, to: number): string =>
      Array.from({ length: to - from + 1 }, (_, index) => `${from + index}\n`).join("");
    expect(writes).toEqual([lines(1, 16), lines(17, 32)]);
    await turn();
    expect(writes).toEqual([lines(1, 16), lines(17, 32), lines(33, 35)]);
  });

  it("writes now and only once when flush() is called", async () => {
    const { writer, writes } = record();
    writer.write("one");
    writer.flush();
    writer.flush();
    expect(writes).toEqual(["one\n"]);
    await turn();
    expect(writes).toEqual(["one\n"]);
  });

  it("tells once that the output is full and once that it drained when the sink is slow", async () => {
    const held: Done[] = [];
    const { writer, events, writes } = record((done) => void held.push(done));
    for (const frame of ["a", "b", "c"]) {
      writer.write(frame.repeat(150));
      writer.flush();
    }
    expect(events).toEqual(["full"]);
    while (held.length > 0) {
      held.shift()?.();
      await turn();
    }
    expect(events).toEqual(["full", "drain"]);
    expect(writes.join("")).toBe(`${"a".repeat(150)}\n${"b".repeat(150)}\n${"c".repeat(150)}\n`);
  });

  it("tells once that the output broke and drops what follows when writes fail", async () => {
    const { writer, writes, events } = record((done) => done(epipe()));
    writer.write("one");
    await turn();
    await turn();
    writer.write("two");
    writer.flush();
    await turn();
    expect(writes).toEqual(["one\n"]);
    expect(events).toEqual(["broken: write EPIPE"]);
  });

  it.each([
    ["destroyed", (output: Writable) => output.destroy()],
    ["destroyed with an error", (output: Writable) => output.destroy(epipe())],
    ["ended", (output: Writable) => output.end()],
  ])("tells once that the output broke when it was %s", async (_how, act) => {
    const { output, writer, events } = record();
    act(output);
    writer.write("one");
    writer.flush();
    await turn();
    await turn();
    expect(events).toHaveLength(1);
    expect(events[0]).toMatch(/^broken: /);
  });

  it("catches an error when it comes after close()", async () => {
    const { output, writer, events } = record();
    await writer.close();
    output.destroy(epipe());
    await turn();
    expect(events).toEqual(["broken: write EPIPE"]);
  });

  it("waits until everything is written when it is closed", async () => {
    const held: Done[] = [];
    const { writer, writes } = record((done) => void held.push(done));
    writer.write("one");
    writer.flush();
    writer.write("two");
    let isClosed = false;
    const closed = writer.close().then(() => (isClosed = true));
    writer.write("three");
    await turn();
    held.shift()?.();
    await turn();
    expect(isClosed).toBe(false);
    held.shift()?.();
    await closed;
    expect(writes).toEqual(["one\n", "two\n"]);
  });

  it("gives the same promise when it is closed twice", () => {
    const { writer } = record();
    expect(writer.close()).toBe(writer.close());
  });

  it("stops waiting when the output breaks while it is closing", async () => {
    const { output, writer, events } = record(() => {});
    writer.write("one");
    const closed = writer.close();
    output.destroy();
    await closed;
    expect(events).toEqual(["broken: Write a frame: the output is closed"]);
  });

  it("waits for an output that takes frame after frame, and half a second for one that takes none", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const held: Done[] = [];
    const { writer, writes } = record((done) => void held.push(done));
    const frames = ["a", "b", "c", "d", "e"];
    for (const frame of frames) {
      writer.write(frame);
      writer.flush();
    }
    let isClosed = false;
    const closed = writer.close().then(() => (isClosed = true));
    for (let taken = 1; taken < frames.length; taken += 1) {
      await vi.advanceTimersByTimeAsync(400);
      held.shift()?.();
      await turn();
    }
    await vi.advanceTimersByTimeAsync(499);
    expect(isClosed).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    await closed;
    expect(writes.join("")).toBe("a\nb\nc\nd\ne\n");
  });
});
