import { describe, expect, it } from "vitest";
import { BodyBuffer } from "../../../src/http/body.ts";

const maxBytes = 4096;

describe("BodyBuffer", () => {
  it("returns the appended bytes for any division into pieces", () => {
    for (const size of [1, 3, 1000, maxBytes]) {
      const all = Uint8Array.from({ length: maxBytes }, (_, at) => at % 251);
      const body = new BodyBuffer(maxBytes);
      for (let at = 0; at < maxBytes; at += size) expect(body.append(all.subarray(at, at + size))).toBeUndefined();
      expect(body.take()).toEqual(all);
    }
    expect(new BodyBuffer(maxBytes).take()).toHaveLength(0);
  });

  it("keeps nothing of the store that a piece is a view of", () => {
    const read = new Uint8Array(65_536).fill(7);
    const body = new BodyBuffer(maxBytes);
    for (let at = 0; at < maxBytes; at += 1) body.append(read.subarray(at, at + 1));
    const { buffer, byteLength } = body.take();
    expect(byteLength).toBe(maxBytes);
    expect(buffer.byteLength).toBeLessThanOrEqual(maxBytes);
    const small = new BodyBuffer(maxBytes);
    small.append(read.subarray(0, 10));
    expect(small.take().buffer.byteLength).toBe(10);
  });

  it("returns a body of one piece without a copy", () => {
    const whole = Uint8Array.of(1, 2, 3);
    const body = new BodyBuffer(maxBytes);
    expect(body.append(whole, true)).toBeUndefined();
    expect(body.take()).toBe(whole);
    expect(new BodyBuffer(2).append(whole, true)).toBe("too-large");
  });

  it("refuses bytes beyond its bound, and keeps those before", () => {
    const body = new BodyBuffer(4);
    expect(body.append(Uint8Array.of(1, 2, 3))).toBeUndefined();
    expect(body.append(Uint8Array.of(4, 5))).toBe("too-large");
    expect(body.append(Uint8Array.of(6))).toBeUndefined();
    expect([...body.take()]).toEqual([1, 2, 3, 6]);
  });

  it("asks for every piece whether there is room, and keeps none for which there is not", () => {
    const asked: number[] = [];
    const body = new BodyBuffer(maxBytes, { take: (bytes) => asked.push(bytes) < 2, onEvicted: undefined });
    expect(body.append(Uint8Array.of(1, 2))).toBeUndefined();
    expect(body.append(Uint8Array.of(3))).toBe("refused");
    expect(asked).toEqual([2, 1]);
    expect([...body.take()]).toEqual([1, 2]);
  });
});
