import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { maxFrameBytes } from "../../../src/links/transport/base-transport.ts";
import { FrameCutter } from "../../../src/links/transport/stream-transport.ts";
import { framed } from "./support.ts";

/** What a cutter makes of bytes that come in slices of a size. */
function cut(bytes: Buffer, size: number): string[] {
  const texts: string[] = [];
  const cutter = new FrameCutter((text) => texts.push(text));
  for (let at = 0; at < bytes.length; at += size) cutter.push(bytes.subarray(at, at + size));
  return texts;
}

function codeOf(act: () => unknown): unknown {
  try {
    act();
  } catch (cause) {
    return Reflect.get(cause as object, "code");
  }
  return undefined;
}

const texts = ['{"a":1}', '{"b":"żółw 🐢"}', `{"c":"${"x".repeat(5000)}"}`, "{}"];

describe("FrameCutter", () => {
  it.each([1, 2, 3, 7, 64, 4096, 1_000_000])("push() gives every text when bytes come in slices of %i", (size) => {
    expect(cut(Buffer.from(texts.map(framed).join("")), size)).toEqual(texts);
  });

  it("push() gives the same texts when the bytes are cut anywhere", () => {
    const some = fc.array(fc.string({ unit: "grapheme", minLength: 1, maxLength: 80 }), { maxLength: 12 });
    fc.assert(
      fc.property(some, fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1 }), (sent, sizes) => {
        const got: string[] = [];
        const cutter = new FrameCutter((text) => got.push(text));
        let rest = Buffer.from(sent.map(framed).join(""));
        for (let turn = 0; rest.length > 0; turn += 1) {
          const size = sizes[turn % sizes.length] ?? 1;
          cutter.push(rest.subarray(0, size));
          rest = rest.subarray(size);
        }
        expect(got).toEqual(sent);
      }),
    );
  });

  const names = [
    "Content-Length: ",
    "content-length: ",
    "Content-Length:",
    "Content-Length:  ",
    "X: 1\r\nContent-Length: ",
  ];
  const lengths = ["2", "02", "0", "", "2 ", "2x", "000000000000002", "0000000000000002", "99999999"];
  const ends = ["\r\n\r\n", "\r\n", "\n\n", "\r\nContent-Length: 2\r\n\r\n"];
  const headers = names.flatMap((name) => lengths.flatMap((length) => ends.map((end) => `${name}${length}${end}`)));

  it.each(headers)("push() reads the whole header %j as it reads one byte by byte", (header) => {
    const outcomeOf = (size: number): unknown => {
      let got: unknown;
      return [codeOf(() => (got = cut(Buffer.from(`${header}{}`), size))), got];
    };
    expect(outcomeOf(1_000_000)).toEqual(outcomeOf(1));
  });

  it("push() gives the text when its header has other fields, in any case", () => {
    const header = "content-type: application/vscode-jsonrpc; charset=utf-8\r\nCONTENT-LENGTH:  2  \r\n\r\n";
    expect(cut(Buffer.from(`${header}{}`), 5)).toEqual(["{}"]);
  });

  it.each([
    ["another protocol", "GET / HTTP/1.1\r\nHost: a\r\n\r\n"],
    ["no length", "Content-Type: a\r\n\r\n{}"],
    ["two lengths", "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}"],
    ["a negative length", "Content-Length: -2\r\n\r\n{}"],
    ["a length that is no number", "Content-Length: 2x\r\n\r\n{}"],
    ["a hexadecimal length", "Content-Length: 0x2\r\n\r\n{}"],
    ["no length after its name", "Content-Length:\r\n\r\n{}"],
    ["an empty frame", "Content-Length: 0\r\n\r\n"],
    ["a header that never ends", "x".repeat(5000)],
    ["a header that ends too late", `Content-Length: 2\r\nx: ${"x".repeat(5000)}\r\n\r\n{}`],
    ["an empty header", "\r\n\r\n{}"],
    ["garbage that is no line yet", "\u0000"],
    ["garbage that ends no line of a header", "garbage\n"],
    ["a line without a colon, before its header ends", "garbage\r\n"],
    ["half the end of a line", "a: b\nContent-Length: 2\r\n\r\n{}"],
    ["bytes that are not UTF-8", Buffer.from('Content-Length: 4\r\n\r\n"\xff\xfe"', "latin1")],
    ["half a character", Buffer.from('Content-Length: 3\r\n\r\n"\xc5"', "latin1")],
  ])("push() throws PROTOCOL_MISMATCH when it meets %s", (_what, bytes) => {
    expect(codeOf(() => cut(Buffer.from(bytes), 1_000_000))).toBe("PROTOCOL_MISMATCH");
    expect(codeOf(() => cut(Buffer.from(bytes), 1))).toBe("PROTOCOL_MISMATCH");
  });

  it("push() gives a text that holds the replacement character when it was sent as one", () => {
    expect(cut(Buffer.from(framed('"\uFFFD"')), 3)).toEqual(['"\uFFFD"']);
  });

  it.each([String(maxFrameBytes + 1), String(1024 ** 3), "999999999999999"])(
    "push() throws FRAME_TOO_LARGE when a header names %s bytes, before any has come",
    (length) => {
      expect(codeOf(() => cut(Buffer.from(`Content-Length: ${length}\r\n\r\n`), 8))).toBe("FRAME_TOO_LARGE");
    },
  );

  it("push() gives the largest text when it has just so many bytes", () => {
    const text = `"${"x".repeat(maxFrameBytes - 2)}"`;
    expect(cut(Buffer.from(framed(text)), 65_536).map((one) => one.length)).toEqual([maxFrameBytes]);
  });

  it("push() sets no memory aside when lengths are promised and nothing comes", () => {
    const before = process.memoryUsage().arrayBuffers;
    const cutters = Array.from({ length: 256 }, () => new FrameCutter(() => {}));
    for (const cutter of cutters) cutter.push(Buffer.from(`Content-Length: ${maxFrameBytes}\r\n\r\nx`));
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(16 * 1024 * 1024);
  });
});
