import * as fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { scanEnvelope } from "../../src/mcp/parse-frame.ts";

const envelopeKey = fc.constantFrom("id", "method", "result", "error", "jsonrpc", "params", "x");
const envelope = fc.dictionary(envelopeKey, fc.oneof(fc.integer(), fc.string(), fc.jsonValue({ maxDepth: 3 })));

describe("scanEnvelope()", () => {
  it("agrees with the parsed object when the message is any", () => {
    fc.assert(
      fc.property(envelope, fc.constantFrom("", " ", "\t"), (message, space) => {
        const text = JSON.stringify(message, null, space);
        const parsed: Record<string, unknown> = JSON.parse(text);
        const { id } = parsed;
        expect(scanEnvelope(text)).toEqual({
          id: typeof id === "string" || Number.isSafeInteger(id) ? id : null,
          isResponse: !("method" in parsed) && ("result" in parsed || "error" in parsed),
        });
      }),
    );
  });

  it("takes the last id when there are several", () => {
    expect(scanEnvelope(`{"id":1,"params":{"id":2},"id":"three"}`)).toEqual({ id: "three", isResponse: false });
  });

  it("reads a key that is written in escapes", () => {
    expect(scanEnvelope(String.raw`{"\u0069\u0064":7,"r\u0065s\u0075LT":1,"\u0065rro\u0072":1}`)).toEqual({
      id: 7,
      isResponse: true,
    });
    expect(scanEnvelope(String.raw`{"\\u0069d":7,"\U0069d":8,"\id":9}`)).toEqual({ id: null, isResponse: false });
    expect(scanEnvelope(String.raw`{"id":7,"\u006dethod":"ping","result":1}`)).toEqual({ id: 7, isResponse: false });
  });

  it.each([`"id":x`, `"id":x,`, `"id":1,`, String.raw`"\x":`, String.raw`"\U0069d":`, String.raw`"\u0069d":1,`])(
    "parses at most one token of a text that repeats %s",
    (piece) => {
      const parse = vi.spyOn(JSON, "parse");
      try {
        scanEnvelope(`{${piece.repeat(2000)}`);
        expect(parse.mock.calls.length).toBeLessThanOrEqual(1);
      } finally {
        parse.mockRestore();
      }
    },
  );

  it.each([`{"id":"${"x".repeat(9_000)}"}`, `{"id":"\\x"}`, `{"id":`, `{"id`, `{"id":12`, `"id":1`, `{"id":{"id":1}}`])(
    "gives no id or the number that stands there when the text is %.20s",
    (text) => {
      expect([null, 12]).toContain(scanEnvelope(text).id);
    },
  );

  it("never throws when the text is anything", () => {
    const unit = fc.constantFrom('"', "\\", "{", "}", ":", ",", "i", "d", "1", "u0069");
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 200 }), (text) => {
        expect(scanEnvelope(text)).toHaveProperty("isResponse");
      }),
    );
  });
});
