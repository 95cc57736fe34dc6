import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { defaultFrameLimits as limits, parseFrame } from "../../src/mcp/parse-frame.ts";

const parse = (text: string): ReturnType<typeof parseFrame> => parseFrame(text, limits);
const refusal = (id: string | number | null, code: number): object => ({
  kind: "error",
  id,
  code,
  message: expect.stringMatching(/^[A-Z][a-z ]+: [^.]+[^.]$|"2\.0"$/),
});
const call = (rest: string): string => `{"jsonrpc":"2.0","id":1,"method":"m",${rest}}`;
const nested = (depth: number): string => call(`"params":{"v":${"[".repeat(depth - 2)}${"]".repeat(depth - 2)}}`);
/** A request with exactly that many elements: four of its own and `v`, the others are items of `v`. */
const wide = (elements: number, item = "1"): string =>
  call(
    `"params":{"v":[${Array(elements - 5)
      .fill(item)
      .join(",")}]}`,
  );

describe("parseFrame()", () => {
  it.each(["", " ", "\t", "\r", " \t\r "])("calls a frame blank when it is %j", (text) => {
    expect(parse(text)).toEqual({ kind: "blank" });
  });

  it.each([
    ["text", "hello world"],
    ["a bigint literal", call(`"params":{"n":1n}`)],
    ["two values", `${call(`"params":{}`)}{}`],
    ["an unclosed object", `{"jsonrpc":"2.0"`],
    ["an unclosed batch", `[{"jsonrpc":"2.0","id":1,"method":"m"}`],
    ["a NUL", `{"jsonrpc":"2.0",\u0000"id":1}`],
    ["a no-break space alone", "\u00a0"],
    ["a second byte order mark", "\ufeff{}"],
    ["single quotes", "{'jsonrpc':'2.0'}"],
    ["NaN", "NaN"],
  ])("answers -32700 when the frame is %s", (_what, text) => {
    expect(parse(text)).toEqual(refusal(null, -32700));
  });

  it.each(["42", "null", "true", '"text"', "[]", "[1]", `[${call(`"params":{}`)}]`, ` [ ] `, "{}"])(
    "answers -32600 without an id when the frame is %s",
    (text) => {
      expect(parse(text)).toEqual(refusal(null, -32600));
    },
  );

  it.each(["", `"jsonrpc":2.0,`, `"jsonrpc":"2.1",`, `"jsonrpc":null,`, `"JSONRPC":"2.0",`])(
    "answers -32600 when the version reads %j",
    (version) => {
      expect(parse(`{${version}"id":1,"method":"m"}`)).toEqual(refusal(null, -32600));
    },
  );

  it.each([
    "null",
    "1.5",
    "{}",
    "[1]",
    "true",
    "9007199254740993",
    "-9007199254740992",
    "1e400",
    "1e-400",
    "-0.1e-400",
    `"${"i".repeat(1025)}"`,
  ])("answers -32600 without an id when the id is %.30s", (id) => {
    expect(parse(`{"jsonrpc":"2.0","id":${id},"method":"m"}`)).toEqual(refusal(null, -32600));
  });

  it("answers -32600 without an id when the id is over 1 KiB in bytes though not in characters", () => {
    expect(parse(`{"jsonrpc":"2.0","id":"${"é".repeat(513)}","method":"m"}`)).toEqual(refusal(null, -32600));
  });

  it.each(["0", "-0", "0.00", "0e5", " 0 "])("reads the id 0 when it is written %j", (id) => {
    expect(parse(`{"jsonrpc":"2.0","method":"m","id":${id}}`)).toMatchObject({ kind: "request" });
    expect(parse(`{"jsonrpc":"2.0","\\u0069d":${id},"method":"m"}`)).toMatchObject({ kind: "request" });
  });

  it.each([1, 0, -7, 9007199254740991, "", "1", "é", "i".repeat(1024), "é".repeat(512)])(
    "echoes the id when it is %j",
    (id) => {
      const text = JSON.stringify({ jsonrpc: "2.0", id, method: "m" });
      expect(parse(text)).toEqual({ kind: "request", id, method: "m", params: undefined, text });
    },
  );

  it.each([
    `"id":3`,
    `"id":3,"method":5`,
    `"id":3,"method":null`,
    `"id":3,"Method":"m"`,
    `"id":3,"__proto__":{"method":"m"}`,
  ])("answers -32600 with the id when the method is unusable in {%s}", (body) => {
    expect(parse(`{"jsonrpc":"2.0",${body}}`)).toEqual(refusal(3, -32600));
  });

  it.each([`"method":5`, `"params":{}`])(
    "answers -32600 without an id for an object without id and method: {%s}",
    (body) => {
      expect(parse(`{"jsonrpc":"2.0",${body}}`)).toEqual(refusal(null, -32600));
    },
  );

  it.each(["null", "[1,2]", "5", `"x"`, "false"])("answers -32602 with the id when params are %s", (params) => {
    expect(parse(call(`"params":${params}`))).toEqual(refusal(1, -32602));
  });

  it("ignores a notification when its params are no object", () => {
    expect(parse(`{"jsonrpc":"2.0","method":"m","params":[1]}`)).toEqual({ kind: "ignored" });
  });

  it("reads a notification when there is no id", () => {
    const text = `{"jsonrpc":"2.0","method":"m","params":{"a":1}}`;
    expect(parse(text)).toEqual({ kind: "notification", method: "m", params: { a: 1 } });
  });

  it.each([
    `"id":1,"result":{}`,
    `"id":1,"error":{"code":1}`,
    `"id":null,"error":{"code":-32700}`,
    `"id":1.5,"result":1`,
  ])("reads a response when the frame is {%s}", (body) => {
    expect(parse(`{"jsonrpc":"2.0",${body}}`)).toMatchObject({ kind: "response" });
  });

  it("keeps the members of a response", () => {
    expect(parse(`{"jsonrpc":"2.0","id":"a","result":{"v":1}}`)).toEqual({
      kind: "response",
      id: "a",
      result: { v: 1 },
    });
    const error = { code: 1, message: "no" };
    expect(parse(`{"jsonrpc":"2.0","id":1,"error":${JSON.stringify(error)}}`)).toEqual({
      kind: "response",
      id: 1,
      error,
    });
  });

  it.each([`"result":{}`, `"result":null`, `"error":{"code":1,"message":"no"}`, `"result":{},"params":[]`])(
    "answers -32600 with the id when a method has {%s} beside it",
    (members) => {
      expect(parse(call(members))).toEqual(refusal(1, -32600));
      expect(parse(`{"jsonrpc":"2.0","method":"m",${members}}`)).toEqual(refusal(null, -32600));
    },
  );

  it("takes the last of duplicate keys", () => {
    expect(parse(`{"jsonrpc":"2.0","id":1,"id":2,"method":"a","method":"b"}`)).toMatchObject({ id: 2, method: "b" });
  });

  it("counts own properties only when Object.prototype was tampered with", () => {
    // oxlint-disable-next-line no-extend-native -- the attack itself, undone below
    Object.defineProperty(Object.prototype, "method", { value: "wipe", configurable: true });
    try {
      expect(parse(`{"jsonrpc":"2.0","id":1}`)).toEqual(refusal(1, -32600));
    } finally {
      Reflect.deleteProperty(Object.prototype, "method");
    }
  });

  it("pollutes nothing when keys are named __proto__", () => {
    const frame = parse(call(`"params":{"__proto__":{"polluted":true}}`));
    expect(frame).toMatchObject({ kind: "request" });
    expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false);
  });

  it("keeps a lone surrogate in a string", () => {
    expect(parse(call(`"params":{"t":"\\ud800"}`))).toMatchObject({ params: { t: "\ud800" } });
  });

  it("accepts depth 64 and answers -32600 under its id when it is 65", () => {
    expect(parse(nested(64))).toMatchObject({ kind: "request", id: 1 });
    expect(parse(nested(65))).toEqual(refusal(1, -32600));
  });

  it("does not count brackets in strings when it measures depth", () => {
    expect(parse(call(`"params":{"t":${JSON.stringify('["\\'.repeat(500))}}`))).toMatchObject({ kind: "request" });
  });

  it.each(["1", '""', "{}", "[]", '"a,b"', " 1 "])(
    "accepts 10,000 elements of %j and answers -32602 to one more",
    (item) => {
      expect(parse(wide(10_000, item))).toMatchObject({ kind: "request", id: 1 });
      expect(parse(wide(10_001, item))).toEqual(refusal(1, -32602));
    },
  );

  it.each([
    ["last", `{"jsonrpc":"2.0","method":"m","params":{"id":7,"v":[${"1,".repeat(20_000)}1]},"id":"x"}`, "x"],
    ["escaped", `{"jsonrpc":"2.0","method":"m","\\u0069d" : 5 ,"params":{"v":[${"1,".repeat(20_000)}1]}}`, 5],
    ["unusable", `{"jsonrpc":"2.0","method":"m","id":1.5,"params":{"v":[${"1,".repeat(20_000)}1]}}`, null],
    ["missing", `{"jsonrpc":"2.0","method":"m","params":{"id":7,"v":[${"1,".repeat(20_000)}1]}}`, null],
  ])("finds the id of a frame with too many elements when it is %s", (_where, text, id) => {
    expect(parse(text)).toEqual(refusal(id, -32602));
  });

  it("sends no answer to a response with too many elements", () => {
    expect(parse(`{"jsonrpc":"2.0","id":1,"result":{"v":[${"1,".repeat(20_000)}1]}}`)).toEqual({
      kind: "response",
      id: 1,
    });
  });

  it("answers -32600 without an id when a batch has too many elements", () => {
    expect(parse(`[${`${call(`"params":{}`)},`.repeat(50_000)}1]`)).toEqual(refusal(null, -32600));
  });

  it.each([
    ["a million brackets", "[".repeat(1_000_000)],
    ["a million objects", '{"a":'.repeat(1_000_000)],
    ["a million quotes", `{${'"'.repeat(1_000_000)}`],
    ["a million backslashes", `{"${"\\".repeat(1_000_000)}`],
    ["a million escaped quotes", `{"${'\\"'.repeat(1_000_000)}`],
    ["four million spaces", " ".repeat(4_000_000)],
  ])("does not hang when the frame is %s", (_what, text) => {
    const start = performance.now();
    expect(["error", "blank"]).toContain(parse(text).kind);
    expect(performance.now() - start).toBeLessThan(20_000);
  });

  it("never throws and never loses the message when the text is anything", () => {
    const anything = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.json(),
      fc.json().map((json) => json.slice(1)),
    );
    fc.assert(
      fc.property(anything, (text) => {
        expect(parse(text).kind).toMatch(/^(error|blank|request|notification|response|ignored)$/);
      }),
    );
  });

  it("returns any request as it was sent", () => {
    const params = fc.option(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 })), { nil: undefined });
    fc.assert(
      fc.property(fc.oneof(fc.maxSafeInteger(), fc.string()), fc.string(), params, (id, method, sent) => {
        const text = JSON.stringify({ method, params: sent, jsonrpc: "2.0", id });
        const { params: wire }: { params?: unknown } = JSON.parse(text);
        expect(parse(text)).toEqual({ kind: "request", id, method, params: wire, text });
      }),
    );
  });
});
