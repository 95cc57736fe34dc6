import { describe, expect, it } from "vitest";
import { z } from "zod";
import { httpHandler } from "../../src/http/index.ts";
import { defineSurface, mcp, mcpTool, procedure, type Observation, type ObserverOption } from "../../src/index.ts";
import { envelope, handshake, legacyLine } from "../fixtures/envelope.ts";
import { modernPost } from "../http/support/modern-post.ts";
import { doors as transports } from "../properties/tested-transports.ts";

const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const other = "00-11111111111111111111111111111111-2222222222222222-01";
const trace = { traceparent, tracestate: "vendor=1", baggage: "tenant=blue" };

const surface = defineSurface("traced", { member: mcpTool(procedure({ output: z.unknown() })) });

/** Creates an app whose tools answer with the trace context that their handlers have. */
function createApp(observe?: ObserverOption) {
  return mcp(surface, { onFault: () => {}, ...(observe === undefined ? {} : { observe }) })
    .implement({ member: (_input, context) => context.trace ?? null })
    .tools({
      own: { handler: (_args, context) => context.trace ?? null },
      passing: { handler: (_args, context) => context.client.member.call(undefined, { trace: context.trace }) },
      nesting: { canCall: ["member"], handler: (_args, { call }) => call("member") },
    });
}

const names = ["member", "own", "passing", "nesting"];

/** Returns the trace context in the answer of a tool. */
function traceIn(result: unknown): unknown {
  const { structuredContent } = result as { structuredContent: { value?: unknown } };
  const { value = structuredContent } = structuredContent;
  return value;
}

const networkTransports = transports.filter(({ name }) => !name.startsWith("the test client"));

describe.each(networkTransports)("the trace context of a request over $name", (transport) => {
  const ask = async (observe: ObserverOption | undefined, meta: object | undefined): Promise<readonly unknown[]> => {
    const open = await transport.open(createApp(observe), undefined);
    const seen: unknown[] = [];
    const base = transport.name.endsWith("modern") ? envelope : {};
    const more = meta === undefined ? {} : { _meta: { ...base, ...meta } as never };
    for (const name of names) seen.push(traceIn((await open.ask("tools/call", { name, ...more })).result));
    await open.close();
    return seen;
  };

  it("is that of its _meta, without any observer", async () => {
    expect(await ask(undefined, trace)).toEqual([trace, trace, trace, trace]);
    expect(await ask(undefined, undefined)).toEqual([null, null, null, null]);
    expect(await ask(undefined, { ...trace, traceparent: "00-xyz" })).toEqual([null, null, null, null]);
  });

  it("is that of an observer that has one, also for nested calls", async () => {
    const observe = { record: () => {}, trace: () => ({ traceparent: other, more: "dropped" }) };
    const expected = { traceparent: other };
    expect(await ask(observe, trace)).toEqual([expected, expected, expected, expected]);
  });

  it.each([
    ["has none", () => undefined],
    ["returns a malformed one", () => ({ traceparent: "x".repeat(100_000) })],
    [
      "throws",
      () => {
        throw new Error("observer");
      },
    ],
  ])("is that of the request if the observer %s", async (_what, read) => {
    expect(await ask({ record: () => {}, trace: read }, trace)).toEqual([trace, trace, trace, trace]);
  });
});

const url = "http://localhost/mcp";

/** Calls a tool over HTTP. Returns the trace context of its handler, and the records of the call. */
type Send = (headers: Readonly<Record<string, string>>, meta?: object) => Promise<readonly [unknown, Observation[]]>;

async function withHandler(era: "legacy" | "modern", use: (send: Send) => Promise<void>): Promise<void> {
  const records: Observation[] = [];
  const handler = httpHandler(
    createApp((record) => void records.push(record)),
    { allowAnonymous: true },
  );
  let session: Readonly<Record<string, string>> = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
  };
  const post = (body: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
    handler.fetch(new Request(url, { method: "POST", headers: { ...session, ...headers }, body }));
  if (era === "legacy") {
    const opened = await post(legacyLine(0, "initialize", handshake));
    await opened.text();
    const id = opened.headers.get("mcp-session-id") ?? "";
    session = { ...session, "mcp-session-id": id, "mcp-protocol-version": handshake.protocolVersion };
  }
  await use(async (headers, meta) => {
    records.length = 0;
    const params = { name: "own", ...(meta === undefined ? {} : { _meta: meta }) };
    const modern = modernPost("tools/call", params);
    const response =
      era === "legacy"
        ? await post(legacyLine(1, "tools/call", params), headers)
        : await handler.fetch(new Request(url, { ...modern, headers: { ...Object(modern.headers), ...headers } }));
    const { result } = (await response.json()) as { result: unknown };
    return [traceIn(result), [...records]];
  });
  await handler.close();
}

describe.each(["legacy", "modern"] as const)("trace headers of the %s era", (era) => {
  it("are the trace context if _meta has none, or a malformed one", async () => {
    await withHandler(era, async (send) => {
      for (const meta of [undefined, { traceparent: "00-xyz" }]) {
        const [seen, records] = await send(trace, meta);
        expect(seen).toEqual(trace);
        expect(records).toMatchObject([
          { type: "request-start", trace, traceFrom: "headers" },
          { type: "request-end", trace, traceFrom: "headers" },
        ]);
      }
    });
  });

  it("are not read if _meta has a trace context, whose fields are never mixed", async () => {
    await withHandler(era, async (send) => {
      const [seen, records] = await send({ ...trace, traceparent: other }, { traceparent });
      expect(seen).toEqual({ traceparent });
      expect(records[0]).toMatchObject({ trace: { traceparent }, traceFrom: "meta" });
    });
  });

  it.each([
    { traceparent: "00-xyz" },
    { traceparent: `${traceparent}, ${other}` },
    { traceparent: traceparent + "0".repeat(4000) },
    { tracestate: "vendor=1", baggage: "tenant=blue" },
  ])("are dropped if they are like %j", async (headers) => {
    await withHandler(era, async (send) => {
      const [seen, [start]] = await send(headers);
      expect(seen).toBeNull();
      expect(start).not.toHaveProperty("trace");
      expect(start).not.toHaveProperty("traceFrom");
    });
  });

  it("lose a tracestate or baggage that is malformed or too long", async () => {
    await withHandler(era, async (send) => {
      const [seen] = await send({ traceparent, tracestate: "=", baggage: `a=${"b".repeat(8300)}` });
      expect(seen).toEqual({ traceparent });
    });
  });
});
