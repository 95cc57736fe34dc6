import { describe, expect, it } from "vitest";
import { checkParamHeaders, checkRequestHeaders, type HeaderParam } from "../../../src/http/check-envelope.ts";
import type { HttpRequest } from "../../../src/http/message.ts";
import { rpcCodes } from "../../../src/mcp/protocol.ts";
import type { JsonObject } from "../../../src/schema/json.ts";

const region: HeaderParam = { header: "mcp-param-region", path: ["region"], isNumeric: false };

const envelope = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};

function toRequest(headers: Readonly<Record<string, string>>): HttpRequest {
  return {
    method: "POST",
    target: "/mcp",
    header: (name) => headers[name],
    count: (name) => (name in headers ? 1 : 0),
    body: (_maxBytes, done) => done("gone"),
  };
}

/** The code that a call of a tool with such an argument is refused with. */
function judged(era: "modern" | "legacy", header?: string, args: JsonObject = { region: "eu" }): number | undefined {
  const version = era === "modern" ? "2026-07-28" : "2025-11-25";
  const request = toRequest({
    "mcp-protocol-version": version,
    ...(era === "modern" ? { "mcp-method": "tools/call", "mcp-name": "routed" } : {}),
    ...(header === undefined ? {} : { "mcp-param-region": header }),
  });
  const params = { name: "routed", arguments: args, ...(era === "modern" ? { _meta: envelope } : {}) };
  const frame = { kind: "request", id: 1, method: "tools/call", params } as const;
  return (checkRequestHeaders(request, frame, era) ?? checkParamHeaders(request, frame, [region]))?.error.code;
}

describe("an argument that a header mirrors", () => {
  it("is refused when its header says something else, in either era", () => {
    expect(judged("modern", "us")).toBe(rpcCodes.headerMismatch);
    expect(judged("legacy", "us")).toBe(rpcCodes.headerMismatch);
  });

  it("is taken when its header says the same, in either era", () => {
    expect(judged("modern", "eu")).toBeUndefined();
    expect(judged("legacy", "eu")).toBeUndefined();
  });

  it("has to be in its header only when its client is of the era that has such headers", () => {
    expect(judged("modern")).toBe(rpcCodes.headerMismatch);
    expect(judged("legacy")).toBeUndefined();
  });

  it.each<JsonObject>([{}, { region: null }, { region: ["eu"] }, { region: 2 ** 53 }])(
    "is refused when there is a header, and the arguments %j have no value for it, in either era",
    (args) => {
      for (const era of ["modern", "legacy"] as const) {
        expect(judged(era, "eu", args)).toBe(rpcCodes.headerMismatch);
        expect(judged(era, undefined, args)).toBeUndefined();
      }
    },
  );
});

describe("Mcp-Name beside a method that is not named by it", () => {
  const judge = (method: string, params: JsonObject): number | undefined => {
    const request = toRequest({ "mcp-protocol-version": "2025-11-25", "mcp-name": "app://a" });
    return checkRequestHeaders(request, { kind: "request", id: 1, method, params }, "legacy")?.error.code;
  };

  it("is refused when the body names something else, and let through when it names the same, or nothing", () => {
    expect(judge("resources/subscribe", { uri: "app://b" })).toBe(rpcCodes.headerMismatch);
    expect(judge("resources/subscribe", { uri: "app://a" })).toBeUndefined();
    expect(judge("tools/list", {})).toBeUndefined();
  });

  it.each(["resources/subscribe", "resources/unsubscribe"])(
    "is compared with the URI of a %s, not with a decoy",
    (method) => {
      expect(judge(method, { name: "app://a", uri: "app://b" })).toBe(rpcCodes.headerMismatch);
      expect(judge(method, { name: "app://b", uri: "app://a" })).toBeUndefined();
    },
  );
});
