import { Buffer } from "node:buffer";
import { once } from "node:events";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FrameReader } from "../../src/stdio/frames.ts";
import { finish, start } from "./fixtures/run.ts";
import { draws } from "../setup/test-length.ts";

interface Recorder {
  readonly reader: FrameReader;
  /** Frames as text, faults as symbols of their name. */
  readonly seen: string[];
}

const OVERSIZE = "<oversize>";
const BAD_ENCODING = "<bad encoding>";

function record(maxBytes = 1024, onFrame: (text: string, reader: FrameReader) => void = () => {}): Recorder {
  const seen: string[] = [];
  const reader: FrameReader = new FrameReader({
    maxBytes,
    onFrame: (text) => {
      seen.push(text);
      onFrame(text, reader);
    },
    onOversize: () => void seen.push(OVERSIZE),
    onBadEncoding: () => void seen.push(BAD_ENCODING),
  });
  return { reader, seen };
}

function read(bytes: Uint8Array | string, maxBytes?: number): string[] {
  const { reader, seen } = record(maxBytes);
  reader.push(Buffer.from(bytes));
  reader.end();
  return seen;
}

/** Cuts bytes at random places into chunks. */
const cut = (bytes: Uint8Array, cuts: readonly number[]): Uint8Array[] => {
  const places = [0, ...cuts.map((place) => place % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length];
  return places.slice(1).map((place, index) => bytes.subarray(places[index], place));
};

describe("FrameReader", () => {
  it("gives each line when a chunk holds several", () => {
    expect(read("one\ntwo\n\nthree\n")).toEqual(["one", "two", "", "three"]);
  });

  it("drops one CR before the line end and no other when lines end with CR LF", () => {
    expect(read("one\r\n\r\ntwo\r\r\nth\rree\n")).toEqual(["one", "", "two\r", "th\rree"]);
  });

  it("drops a frame silently when the input ends inside it", () => {
    expect(read('one\n{"jsonrpc":"2.0","id":1,"met')).toEqual(["one"]);
  });

  it("ignores what is pushed when it has ended", () => {
    const { reader, seen } = record();
    reader.end();
    reader.push(Buffer.from("one\n"));
    expect(seen).toEqual([]);
  });

  it("joins a frame when it spans chunks, also inside a character", () => {
    const { reader, seen } = record();
    for (const byte of Buffer.from("h\u00e9llo \u{1f600}\nnext\n")) reader.push(Uint8Array.of(byte));
    expect(seen).toEqual(["h\u00e9llo \u{1f600}", "next"]);
  });

  it("keeps its own copy of a partial frame when the caller reuses the chunk", () => {
    const { reader, seen } = record();
    const chunk = Buffer.from("abc");
    reader.push(chunk);
    chunk.fill("x");
    reader.push(Buffer.from("def\n"));
    expect(seen).toEqual(["abcdef"]);
  });

  it("reads a view when it is a part of a larger buffer", () => {
    const bytes = new TextEncoder().encode("..one\n..");
    expect(read(bytes.subarray(2, 6))).toEqual(["one"]);
  });

  it("drops a byte order mark when it opens the stream, and only there", () => {
    expect(read("\ufeffone\n\ufefftwo\n")).toEqual(["one", "\ufefftwo"]);
    expect(read("\ufeff\ufeffone\n")).toEqual(["\ufeffone"]);
    expect(read("one\n\ufefftwo\n")).toEqual(["one", "\ufefftwo"]);
  });

  it.each([
    ["a stray continuation byte", [0x61, 0x80]],
    ["an overlong slash", [0xc0, 0xaf]],
    ["an encoded surrogate", [0xed, 0xa0, 0x80]],
    ["a cut character", [0xe2, 0x82]],
    ["a byte that is never used", [0xff]],
  ])("reports the encoding once and goes on when a frame holds %s", (_what, bytes) => {
    expect(read(Buffer.from([...bytes, 0x0a, 0x6f, 0x6b, 0x0a]))).toEqual([BAD_ENCODING, "ok"]);
  });

  it("accepts U+FFFD when the sender wrote it", () => {
    expect(read("a\ufffdb\n")).toEqual(["a\ufffdb"]);
  });

  it("accepts a frame of exactly the cap and reports one byte more when the limit is 8", () => {
    expect(read("12345678\n123456789\nok\n", 8)).toEqual(["12345678", OVERSIZE, "ok"]);
  });

  it("reports an oversized frame at once and only once when its end is not there yet", () => {
    const { reader, seen } = record(8);
    reader.push(Buffer.from("12345678"));
    expect(seen).toEqual([]);
    reader.push(Buffer.from("9"));
    expect(seen).toEqual([OVERSIZE]);
    reader.push(Buffer.from("0".repeat(100)));
    reader.push(Buffer.from("tail\nok\n"));
    expect(seen).toEqual([OVERSIZE, "ok"]);
  });

  it("stops in the middle of a chunk when a callback pauses, and goes on where it was", () => {
    const { reader, seen } = record(1024, (text, self) => {
      if (text === "two") self.pause();
    });
    reader.push(Buffer.from("one\ntwo\nthree\nfo"));
    reader.push(Buffer.from("ur\n"));
    expect(seen).toEqual(["one", "two"]);
    expect(reader.backlog).toBe("three\nfour\n".length);
    reader.resume();
    expect(seen).toEqual(["one", "two", "three", "four"]);
    expect(reader.backlog).toBe(0);
  });

  it("delivers the backlog when it ended while paused", () => {
    const { reader, seen } = record();
    reader.pause();
    reader.push(Buffer.from("one\ntwo"));
    reader.end();
    reader.resume();
    expect(seen).toEqual(["one"]);
  });

  it("keeps the order when callbacks pause, resume and push", () => {
    const { reader, seen } = record(1024, (text, self) => {
      self.pause();
      if (text === "one") self.push(Buffer.from("three\n"));
      self.resume();
    });
    reader.push(Buffer.from("one\ntwo\n"));
    expect(seen).toEqual(["one", "two", "three"]);
  });

  it("reads a hundred thousand frames in one chunk when every callback pauses and resumes", () => {
    const { reader, seen } = record(1024, (_text, self) => {
      self.pause();
      self.resume();
    });
    reader.push(Buffer.from("x\n".repeat(100_000)));
    expect(seen).toHaveLength(100_000);
  });

  it("goes on with the next frame when a callback threw", () => {
    const { reader, seen } = record(1024, (text) => {
      if (text === "bad") throw new TypeError(text);
    });
    expect(() => reader.push(Buffer.from("bad\ngood\n"))).toThrow("bad");
    reader.push(Buffer.from("next\n"));
    expect(seen).toEqual(["bad", "good", "next"]);
  });

  it("gives the same when the bytes are cut at any places", () => {
    const frame = fc.oneof(
      fc.string({ unit: "binary", maxLength: 40 }).map((text) => Buffer.from(text)),
      fc.uint8Array({ maxLength: 40 }),
      fc.constantFrom(Buffer.from("\ufeff"), Buffer.from("\r"), Buffer.from("\n")),
    );
    const stream = fc.array(frame, { maxLength: 20 }).map((frames) => {
      return Buffer.concat(frames.flatMap((part) => [part, Buffer.from("\n")]));
    });
    fc.assert(
      fc.property(
        stream,
        fc.array(fc.nat(), { maxLength: 30 }),
        fc.integer({ min: 0, max: 60 }),
        (bytes, cuts, max) => {
          const { reader, seen } = record(max);
          for (const chunk of cut(bytes, cuts)) reader.push(chunk);
          expect(seen).toEqual(read(bytes, max));
        },
      ),
      { numRuns: 500 },
    );
  });

  it("makes exactly one callback a line when the bytes are any", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.integer({ min: 0, max: 100 }), (bytes, max) => {
        const lines = Buffer.from([...bytes, 0x0a]);
        expect(read(lines, max)).toHaveLength(lines.filter((byte) => byte === 0x0a).length);
      }),
      { numRuns: 500 },
    );
  });

  it("gives the same when it is paused after any frame and resumed later", () => {
    const text = Array.from({ length: 30 }, (_, index) => `${index}\n`).join("");
    fc.assert(
      fc.property(fc.array(fc.nat(), { maxLength: 10 }), fc.array(fc.boolean(), { minLength: 30 }), (cuts, pauses) => {
        const { reader, seen } = record(1024, (line, self) => void (pauses[Number(line)] && self.pause()));
        for (const chunk of cut(Buffer.from(text), cuts)) reader.push(chunk);
        for (let turn = 0; turn < 31; turn += 1) reader.resume();
        expect(seen.join("\n")).toBe(text.trimEnd());
      }),
    );
  });

  it("holds little memory when a frame of 50 MiB never ends", async () => {
    const child = start("swallow.ts");
    const done = finish(child);
    const chunk = Buffer.alloc(64 * 1024, "A");
    for (let sent = 0; sent < 50 * 16; sent += 1) {
      if (child.stdin?.write(chunk) === false) await once(child.stdin, "drain");
    }
    child.stdin?.end("\nok\n");
    const { stdout } = await done;
    const report: { frames: string[]; oversize: number; grownMiB: number } = JSON.parse(stdout);
    expect(report).toMatchObject({ frames: ["ok"], oversize: 1 });
    expect(report.grownMiB).toBeLessThan(40);
  });

  it("takes linear time and little memory when a frame arrives byte by byte", () => {
    const bytes = draws(1, 4) * 1024 * 1024;
    const { reader, seen } = record(bytes);
    const byte = Buffer.from("A");
    const begin = process.cpuUsage();
    for (let sent = 0; sent < bytes; sent += 1) reader.push(byte);
    reader.push(Buffer.from("\n"));
    expect(seen[0]).toHaveLength(bytes);
    const { user, system } = process.cpuUsage(begin);
    expect((user + system) / 1000).toBeLessThan(draws(2500, 10_000));
  });
});
