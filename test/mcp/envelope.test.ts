import { describe, expect, it } from "vitest";
import { checkEnvelope, checkInitialize, claimsModern } from "../../src/mcp/envelope.ts";
import { metaOf, progressTokenOf } from "../../src/mcp/protocol.ts";
import type { JsonObject } from "../../src/schema/json.ts";
import { envelope, handshake } from "../fixtures/envelope.ts";

const key = "io.modelcontextprotocol/";
const withMeta = (change: JsonObject): JsonObject => ({ _meta: { ...envelope, ...change } });

describe("checkEnvelope()", () => {
  it("accepts an envelope with and without optional members", () => {
    expect(checkEnvelope({ _meta: envelope })).toBeUndefined();
    const { [`${key}clientInfo`]: _info, ...required } = envelope;
    expect(checkEnvelope({ _meta: required })).toBeUndefined();
    expect(checkEnvelope(withMeta({ [`${key}logLevel`]: "info", "com.example/other": [1] }))).toBeUndefined();
  });

  it("names the served versions for another one, of which it shows at most 64 characters", () => {
    const error = checkEnvelope(withMeta({ [`${key}protocolVersion`]: "9".repeat(1000) }));
    expect(error).toMatchObject({ code: -32022, data: { supported: ["2026-07-28"], requested: "9".repeat(64) } });
  });

  it.each<JsonObject>([
    { [`${key}protocolVersion`]: null },
    { [`${key}protocolVersion`]: ["2026-07-28"] },
    { [`${key}clientCapabilities`]: null },
    { [`${key}clientCapabilities`]: [] },
    { [`${key}clientInfo`]: { name: "a" } },
    { [`${key}clientInfo`]: [] },
    { [`${key}logLevel`]: "loud" },
  ])("refuses %j", (change) => {
    expect(checkEnvelope(withMeta(change))?.code).toBe(-32602);
  });

  it("refuses params without an own envelope", () => {
    for (const params of [undefined, {}, { _meta: {} }, { _meta: [] }, Object.create({ _meta: envelope })]) {
      expect(checkEnvelope(params)?.code).toBe(-32602);
    }
    expect(checkEnvelope({ _meta: Object.create(envelope) })?.code).toBe(-32602);
  });
});

describe("claimsModern()", () => {
  it("sees a claim in either of the two keys, however wrong its value is", () => {
    expect(claimsModern({ _meta: { [`${key}protocolVersion`]: 5 } })).toBe(true);
    expect(claimsModern({ _meta: { [`${key}clientCapabilities`]: null } })).toBe(true);
    expect(claimsModern({ _meta: { [`${key}clientInfo`]: {} } })).toBe(false);
    expect(claimsModern({ _meta: "x" })).toBe(false);
    expect(claimsModern(undefined)).toBe(false);
  });
});

describe("metaOf()", () => {
  it("gives an object and nothing else", () => {
    expect(metaOf({ _meta: { a: 1 } })).toEqual({ a: 1 });
    for (const meta of [null, [], "x", 1]) expect(metaOf({ _meta: meta })).toBeUndefined();
  });
});

describe("checkInitialize()", () => {
  it.each<JsonObject>([
    {},
    { ...handshake, protocolVersion: 1 },
    { ...handshake, capabilities: [] },
    { ...handshake, capabilities: null },
    { ...handshake, clientInfo: "me" },
    { ...handshake, clientInfo: { name: "me", version: 1 } },
  ])("refuses %j", (params) => {
    expect(checkInitialize(params)?.code).toBe(-32602);
    expect(checkInitialize(handshake)).toBeUndefined();
  });
});

describe("progressTokenOf()", () => {
  it.each(["", "a", "é".repeat(512), 0, -1, 5])("gives %j", (progressToken) => {
    expect(progressTokenOf({ _meta: { progressToken } })).toBe(progressToken);
  });

  it("returns undefined without a token", () => {
    for (const params of [undefined, {}, { _meta: {} }]) expect(progressTokenOf(params)).toBeUndefined();
  });

  it.each<JsonObject>([
    ...[null, 1.5, 2 ** 53, true, {}, [], "a".repeat(1025), "é".repeat(513)].map((progressToken) => ({
      _meta: { progressToken },
    })),
    ...[null, [], "x"].map((meta) => ({ _meta: meta })),
  ])("refuses %j", (params) => {
    expect(progressTokenOf(params)).toMatchObject({ code: -32602 });
  });
});
