import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
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
