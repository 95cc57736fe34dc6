import { describe, expect, it } from "vitest";
import type { Observation, Refused } from "../../src/index.ts";
import { bearer, httpHandler, type HttpHandlerOptions } from "../../src/http/index.ts";
import { handshake, legacyLine } from "../fixtures/envelope.ts";
import { modernPost } from "../http/support/modern-post.ts";
import { ConnectionHarness } from "../mcp/connection-harness.ts";
import { createObservedApp } from "./observed-app.ts";

const url = "http://localhost/mcp";
const json = { "content-type": "application/json", accept: "application/json, text/event-stream" };

function isRefused(record: Observation): record is Refused {
  return record.type === "refused";
}

/** Sends one request to an app over HTTP, and returns its records. */
async function send(request: Request, options: Partial<HttpHandlerOptions> = {}): Promise<readonly Observation[]> {
  const { app, records } = createObservedApp();
  const handler = httpHandler(app, { allowAnonymous: true, ...options });
  await (await handler.fetch(request)).text();
  await handler.close();
  return records;
}

function post(
  body: string | Uint8Array<ArrayBuffer>,
  headers: Readonly<Record<string, string>> = {},
  target = url,
): Request {
  return new Request(target, { method: "POST", headers: { ...json, ...headers }, body });
}

const call = (params: object): RequestInit => modernPost("tools/call", { ...params });

const withTokens: Partial<HttpHandlerOptions> = {
  allowAnonymous: false,
  auth: bearer({
    resource: "https://s.example/mcp",
    verify: async (token) =>
      token === "good" ? { id: "ann", scopes: ["observed:read"], resource: "https://s.example/mcp" } : undefined,
  }),
};

describe("a request that HTTP refuses before it can start", () => {
  it.each([
    ["head", 403, () => post("{}", { origin: "https://evil.example" })],
    ["head", 404, () => post("{}", {}, "http://localhost/sentinel")],
    ["head", 405, () => new Request(url, { method: "PUT" })],
    ["view", 400, () => post("{}", {}, `${url}?surface=a&surface=b`)],
    ["frame", 400, () => post(new Uint8Array([0xff, 0xfe]))],
    ["frame", 400, () => post("{sentinel")],
    ["frame", 400, () => post("[]")],
    [
      "envelope",
      400,
      () =>
        new Request(url, { ...modernPost("tools/list"), headers: { ...json, "mcp-protocol-version": "2026-07-28" } }),
    ],
    ["session", 400, () => post(legacyLine(1, "tools/list"))],
    ["session", 404, () => post(legacyLine(1, "tools/list"), { "mcp-session-id": "sentinel" })],
    ["params", undefined, () => post(legacyLine(1, "initialize", { sentinel: 1 }))],
  ] as const)("has one record, of the stage %s with status %s", async (stage, status, request) => {
    const records = await send(request());
    expect(records).toHaveLength(1);
    const [record] = records.filter(isRefused);
    expect(record).toMatchObject({ type: "refused", stage, transport: "http", at: expect.any(Number) });
    expect([undefined, record?.status]).toContain(status);
    expect(JSON.stringify(records)).not.toContain("sentinel");
  });

  it.each([
    ["no token", {}],
    ["a token that is not valid", { authorization: "Bearer sentinel-token" }],
    ["two words", { authorization: "Bearer sentinel token" }],
  ])("has a record of the stage token without the token, for %s", async (_what, headers) => {
    const records = await send(post("{}", headers), withTokens);
    expect(records).toMatchObject([{ type: "refused", stage: "token", status: 401 }]);
    expect(JSON.stringify(records)).not.toContain("sentinel");
  });
});

describe("a request that is refused after its start", () => {
  it("says scope, and the operation that the caller may learn of", async () => {
    const { headers, ...init } = call({ name: "guarded" });
    const request = new Request(url, { ...init, headers: { ...Object(headers), authorization: "Bearer good" } });
    const records = await send(request, withTokens);
    expect(records).toMatchObject([
      { type: "request-start", caller: { id: "ann", isAnonymous: false } },
      { type: "request-end", outcome: "refused", refusedAt: "scope", rpcCode: -32011, operation: { id: "guarded" } },
    ]);
  });

  it("says rate when the caller sends too many", async () => {
    const { app, records } = createObservedApp();
    const rateLimit = { limit: () => ({ ok: false, retryAfterMs: 5 }) } as const;
    const handler = httpHandler(app, { ...withTokens, rateLimit });
    const { headers, ...init } = call({ name: "inner", arguments: { deep: 1 } });
    const full = { ...Object(headers), authorization: "Bearer good" };
    await (await handler.fetch(new Request(url, { ...init, headers: full }))).text();
    await handler.close();
    expect(records.at(-1)).toMatchObject({ type: "request-end", outcome: "refused", refusedAt: "rate" });
  });
});

describe("a message that stdio refuses", () => {
  it.each([
    ["frame", "{sentinel"],
    ["frame", "[]"],
    ["envelope", legacyLine(1, "tools/list")],
    ["envelope", legacyLine(1, "initialize", { sentinel: 1 })],
    ["method", legacyLine(1, "notifications/sentinel")],
  ])("has one record, of the stage %s: %s", async (stage, line) => {
    const { app, records } = createObservedApp();
    const harness = new ConnectionHarness(app.open());
    harness.receive(line);
    await harness.until(() => harness.sent.length === 1);
    await harness.close();
    expect(records).toMatchObject([{ type: "refused", stage, transport: "stdio" }]);
    expect(JSON.stringify(records)).not.toContain("sentinel");
  });

  it("has a record and no start when its id is in use", async () => {
    const { app, records } = createObservedApp();
    const harness = await new ConnectionHarness(app.open()).open("legacy");
    const before = records.length;
    harness.receive(legacyLine(1, "tools/call", { name: "slow" }));
    harness.receive(legacyLine(1, "tools/list"));
    await harness.until(() => harness.sent.length === 1);
    await harness.close();
    // The aborted handler ends a turn after its connection.
    const types = records.slice(before).map(({ type }) => type);
    expect(types).toEqual(["request-start", "refused", "session-end", "request-end"]);
    expect(handshake.protocolVersion).toBe(Reflect.get(Object(records.at(-1)), "protocol"));
  });
});
