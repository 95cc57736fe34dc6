import * as api from "@opentelemetry/api";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { cell, cellSource, defineSurface, mcp, mcpResource, mcpTool, procedure, Refusal } from "../../src/index.ts";
import type { JsonObject } from "../../src/schema/json.ts";
import { otel, type OtelOptions } from "../../src/otel/index.ts";
import { httpHandler } from "../../src/http/index.ts";
import type { ServableApp } from "../../src/mcp/servable-app.ts";
import { modernPost } from "../http/support/modern-post.ts";
import { createObservedApp } from "../observe/observed-app.ts";
import { doors as transports } from "../properties/tested-transports.ts";
import { createMeter, registerSdk } from "./otel-sdk.ts";

const sdk = registerSdk();
afterEach(() => sdk.reset());
afterAll(() => sdk.remove());

const traceId = "0af7651916cd43dd8448eb211c80319c";
const spanId = "b7ad6b7169203331";
const trace = { traceparent: `00-${traceId}-${spanId}-01`, tracestate: "vendor=1", baggage: "tenant=blue" };

const surface = defineSurface("traced", {
  level: mcpResource(cell({ schema: z.int() })),
  echo: mcpTool(procedure({ input: z.object({ text: z.string() }), output: z.string() })),
});

/** Creates an app whose handlers make spans of their own. */
function createTracedApp(options: OtelOptions = {}) {
  const seen: { baggage?: string | undefined }[] = [];
  const work = (name: string): void => api.trace.getTracer("handler").startSpan(name).end();
  const app = mcp(surface, { observe: otel(options) })
    .implement({
      level: cellSource(1),
      echo: async ({ text }) => {
        await Promise.resolve();
        seen.push({ baggage: api.propagation.getActiveBaggage()?.getEntry("tenant")?.value });
        work("in echo");
        return text;
      },
    })
    .tools({
      outer: {
        canCall: ["inner"],
        handler: async (_args, { call }) => {
          const [first] = await Promise.all([call("inner", { n: 1 }), call("inner", { n: 2 })]);
          return { first };
        },
      },
      inner: {
        input: z.object({ n: z.number() }),
        mutates: false,
        handler: async ({ n }) => {
          await new Promise((resolve) => setTimeout(resolve, 5));
          work(`in inner ${n}`);
          return { n };
        },
      },
      no: {
        handler: () => {
          throw new Refusal("NOT_NOW", "sentinel-message");
        },
      },
    });
  return { app, seen };
}

/** Opens a transport of this name to an app. */
async function openApp(app: Parameters<(typeof transports)[number]["open"]>[0], name = "HTTP, legacy") {
  const transport = transports.find((one) => one.name === name);
  if (transport === undefined) throw new Error(`no transport ${name}`);
  return transport.open(app, undefined);
}

/** Closes a client, and waits for the exports of spans. */
async function close(client: { close(): Promise<void> }): Promise<void> {
  await client.close();
  await sdk.provider.forceFlush();
}

const spanNamed = (name: string) => sdk.spans().find((span) => span.name === name);
const called = (name: string, more: JsonObject = {}) => ({ name, arguments: {}, ...more });

describe("spans", () => {
  it("have the client's span as parent, whose trace and baggage the handler has, if the request has a trace", async () => {
    const { app, seen } = createTracedApp();
    const client = await openApp(app);
    await client.ask("tools/call", { name: "echo", arguments: { text: "a" }, _meta: trace });
    await close(client);
    const server = spanNamed("tools/call echo");
    expect(server).toMatchObject({ kind: api.SpanKind.SERVER, status: { code: api.SpanStatusCode.UNSET } });
    expect(server?.parentSpanContext).toMatchObject({ traceId, spanId, isRemote: true });
    expect(server?.spanContext().traceState?.get("vendor")).toBe("1");
    const inside = spanNamed("in echo");
    expect(inside?.spanContext().traceId).toBe(traceId);
    expect(inside?.parentSpanContext?.spanId).toBe(server?.spanContext().spanId);
    expect(seen).toEqual([{ baggage: "blue" }]);
  });

  it("start a trace each if the requests have none, or a malformed one", async () => {
    const client = await openApp(createTracedApp().app);
    for (const traceparent of [undefined, "00-xyz", `00-${traceId}-${"0".repeat(16)}-01`])
      await client.ask("tools/call", { name: "echo", arguments: { text: "a" }, _meta: { traceparent } as never });
    await close(client);
    const servers = sdk.spans().filter(({ name }) => name === "tools/call echo");
    expect(servers.map((span) => span.parentSpanContext)).toEqual([undefined, undefined, undefined]);
    expect(new Set(servers.map((span) => span.spanContext().traceId)).size).toBe(3);
  });

  it("of nested calls are children of their caller's, and have the spans of their handlers, also at the same time", async () => {
    const client = await openApp(createTracedApp().app);
    await client.ask("tools/call", called("outer", { _meta: trace }));
    await close(client);
    const outer = spanNamed("tools/call outer");
    const inner = sdk.spans().filter(({ name }) => name === "execute_tool inner");
    expect(inner).toHaveLength(2);
    for (const span of inner) {
      expect(span.kind).toBe(api.SpanKind.INTERNAL);
      expect(span.parentSpanContext?.spanId).toBe(outer?.spanContext().spanId);
      expect(span.attributes).toMatchObject({ "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "inner" });
      expect(span.attributes).not.toHaveProperty("mcp.method.name");
    }
    const within = [1, 2].map((n) => spanNamed(`in inner ${n}`)?.parentSpanContext?.spanId);
    expect(new Set(within)).toEqual(new Set(inner.map((span) => span.spanContext().spanId)));
  });

  it("are children of the active span without a trace, and link to it with one", async () => {
    const client = await openApp(createTracedApp().app);
    const ambient = api.trace.getTracer("http").startSpan("POST /mcp");
    await api.context.with(api.trace.setSpan(api.ROOT_CONTEXT, ambient), async () => {
      await client.ask("tools/call", { name: "echo", arguments: { text: "a" } });
      await client.ask("tools/call", called("no", { _meta: trace }));
    });
    ambient.end();
    await close(client);
    const { spanId: ambientId } = ambient.spanContext();
    expect(spanNamed("tools/call echo")?.parentSpanContext?.spanId).toBe(ambientId);
    expect(spanNamed("tools/call echo")?.links).toEqual([]);
    expect(spanNamed("tools/call no")?.parentSpanContext?.spanId).toBe(spanId);
    expect(spanNamed("tools/call no")?.links.map(({ context }) => context.spanId)).toEqual([ambientId]);
  });
});

describe("spans of requests with trace headers", () => {
  const call = async (app: ServableApp, headers: Readonly<Record<string, string>>): Promise<void> => {
    const handler = httpHandler(app, { allowAnonymous: true });
    const { headers: own, ...init } = modernPost("tools/call", { name: "echo", arguments: { text: "a" } });
    const request = new Request("http://localhost/mcp", { ...init, headers: { ...Object(own), ...headers } });
    await (await handler.fetch(request)).text();
    await close(handler);
  };

  it("are children of the headers' span if no span is active", async () => {
    await call(createTracedApp().app, trace);
    expect(spanNamed("tools/call echo")?.parentSpanContext).toMatchObject({ traceId, spanId, isRemote: true });
    expect(spanNamed("tools/call echo")?.links).toEqual([]);
  });

  it("are children of the active span, which the instrumentation of the HTTP server made of the headers", async () => {
    const outer = api.propagation.extract(api.ROOT_CONTEXT, trace);
    const ambient = api.trace.getTracer("http").startSpan("POST /mcp", {}, outer);
    await api.context.with(api.trace.setSpan(outer, ambient), () => call(createTracedApp().app, trace));
    ambient.end();
    expect(spanNamed("tools/call echo")?.parentSpanContext?.spanId).toBe(ambient.spanContext().spanId);
    expect(spanNamed("tools/call echo")?.links).toEqual([]);
  });
});

describe("spans over stdio", () => {
  it("are no children of the span that was active when the server started", async () => {
    const boot = api.trace.getTracer("boot").startSpan("boot");
    const client = await api.context.with(api.trace.setSpan(api.ROOT_CONTEXT, boot), async () => {
      const opened = await openApp(createTracedApp().app, "stdio, legacy");
      await opened.ask("tools/call", { name: "echo", arguments: { text: "a" } });
      return opened;
    });
    await close(client);
    expect(spanNamed("tools/call echo")).toMatchObject({ parentSpanContext: undefined, links: [] });
  });
});

const script: readonly (readonly [method: string, params: JsonObject])[] = [
  ["tools/list", {}],
  ["tools/call", { name: "echo", arguments: { text: "sentinel-argument" } }],
  ["tools/call", { name: "echo", arguments: { text: 1 } }],
  ["tools/call", { name: "fault" }],
  ["tools/call", { name: "sentinel-name" }],
  ["resources/read", { uri: "surface://observed/level" }],
  ["resources/read", { uri: "surface://observed/sentinel-uri" }],
  ["prompts/get", { name: "greet", arguments: { who: "sentinel-argument" } }],
  ["prompts/get", { name: "sentinel-prompt" }],
  ["sentinel/method", {}],
];

describe.each(transports.filter(({ name }) => !name.startsWith("the test client")))("over $name", (transport) => {
  const { name } = transport;
  it("spans and measurements have the attributes of the conventions, and no text of the client", async () => {
    const { meter, measured } = createMeter();
    const { app, faults } = createObservedApp({ observe: otel({ meter }) });
    const client = await transport.open(app, undefined);
    for (const [method, params] of script) await client.ask(method, params);
    await close(client);
    const methods = new Set([...script.map(([method]) => method), "_OTHER"]);
    const spans = sdk.spans().filter(({ attributes }) => methods.has(String(attributes["mcp.method.name"])));
    const unknownUri = name.includes("legacy") ? "-32002" : "-32602";
    const summary = spans.map(({ name: span, status, attributes: of }) =>
      [span, status.code, of["error.type"], of["rpc.response.status_code"], of["surface_mcp.outcome"]].join(" | "),
    );
    expect(summary).toEqual([
      "tools/list | 0 |  |  | ok",
      "tools/call echo | 0 |  |  | ok",
      "tools/call echo | 2 | tool_error |  | refused",
      "tools/call fault | 2 | tool_error |  | failed",
      "tools/call | 0 |  | -32602 | refused",
      "resources/read | 0 |  |  | ok",
      `resources/read | 0 |  | ${unknownUri} | refused`,
      "prompts/get greet | 0 |  |  | ok",
      "prompts/get | 0 |  | -32602 | refused",
      "_OTHER | 0 |  | -32601 | refused",
    ]);
    const isHttp = name.includes("HTTP");
    const network = isHttp
      ? { "network.transport": "tcp", "network.protocol.name": "http" }
      : { "network.transport": "pipe" };
    const version = { "mcp.protocol.version": expect.stringMatching(/^20\d\d-\d\d-\d\d$/) as string };
    const tool = {
      "mcp.method.name": "tools/call",
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": "echo",
    };
    expect(spans[1]?.attributes).toMatchObject({
      ...tool,
      ...network,
      ...version,
      "jsonrpc.request.id": expect.any(String) as string,
      "surface_mcp.operation.id": "echo",
    });
    const durations = measured.filter(({ name: metric }) => metric === "mcp.server.operation.duration");
    expect(durations.map(({ attributes }) => attributes)).toContainEqual({ ...tool, ...network, ...version });
    expect(durations.every(({ value }) => value >= 0 && value < 60)).toBe(true);
    const text = JSON.stringify([
      measured,
      sdk.spans().map((span) => [span.name, span.attributes, span.events, span.status]),
    ]);
    expect(text).not.toContain("sentinel");
    expect(faults).toHaveLength(1);
  });
});

describe("metrics", () => {
  it("have the unit and buckets of the conventions, and the duration of sessions", async () => {
    const { meter, measured, histograms } = createMeter();
    const { app } = createObservedApp({ observe: otel({ meter }) });
    await close(await openApp(app, "stdio, legacy"));
    const boundaries = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300];
    const options = { unit: "s", advice: { explicitBucketBoundaries: boundaries } };
    expect(histograms).toEqual([
      ["mcp.server.operation.duration", expect.objectContaining(options)],
      ["mcp.server.session.duration", expect.objectContaining(options)],
    ]);
    expect(measured.at(-1)).toEqual({
      name: "mcp.server.session.duration",
      value: expect.any(Number) as number,
      attributes: { "network.transport": "pipe", "mcp.protocol.version": "2025-11-25" },
    });
  });
});

describe("otel()", () => {
  const globalKey = Symbol.for("opentelemetry.js.api.1");

  it("takes the module, a tracer and a meter of @opentelemetry/api", async () => {
    const { app } = createTracedApp({
      api,
      tracer: sdk.provider.getTracer("mine"),
      meter: api.metrics.getMeter("mine"),
    });
    const client = await openApp(app);
    await client.ask("tools/call", { name: "echo", arguments: { text: "a" }, _meta: trace });
    await close(client);
    expect(spanNamed("tools/call echo")).toMatchObject({ instrumentationScope: { name: "mine" } });
    expect(spanNamed("in echo")?.spanContext().traceId).toBe(traceId);
  });

  it("does nothing while no SDK is registered, and begins when one is", async () => {
    const registered: unknown = Reflect.get(globalThis, globalKey);
    Reflect.deleteProperty(globalThis, globalKey);
    const client = await openApp(createTracedApp().app);
    try {
      const { result } = await client.ask("tools/call", { name: "echo", arguments: { text: "a" } });
      expect(result).toMatchObject({ structuredContent: { value: "a" } });
    } finally {
      Reflect.set(globalThis, globalKey, registered);
    }
    await sdk.provider.forceFlush();
    expect(spanNamed("tools/call echo")).toBeUndefined();
    await client.ask("tools/call", { name: "echo", arguments: { text: "b" } });
    await close(client);
    expect(spanNamed("tools/call echo")).toBeDefined();
  });

  it("makes spans without a parent if a tracer is given and no context is registered", async () => {
    const registered: unknown = Reflect.get(globalThis, globalKey);
    const { app } = createTracedApp({ tracer: sdk.provider.getTracer("mine") });
    Reflect.deleteProperty(globalThis, globalKey);
    try {
      const client = await openApp(app);
      await client.ask("tools/call", { name: "echo", arguments: { text: "a" }, _meta: trace });
      await close(client);
    } finally {
      Reflect.set(globalThis, globalKey, registered);
    }
    expect(spanNamed("tools/call echo")?.parentSpanContext).toBeUndefined();
  });

  it("answers as before if the SDK throws", async () => {
    const onFault = vi.fn<() => void>();
    const fail = (): never => {
      throw new Error("broken SDK");
    };
    const tracer = { startSpan: fail };
    const app = mcp(surface, { observe: otel({ tracer, meter: { createHistogram: fail } }), onFault }).implement({
      level: cellSource(1),
      echo: ({ text }) => text,
    });
    const client = await openApp(app);
    const { result } = await client.ask("tools/call", { name: "echo", arguments: { text: "a" } });
    expect(result).toMatchObject({ structuredContent: { value: "a" } });
    await close(client);
    expect(onFault).toHaveBeenCalledTimes(1);
  });

  it.each([
    [{ tracer: {} }, `Cannot trace an app: "tracer" must be a tracer of OpenTelemetry, and is an object`],
    [{ meter: 1 }, `Cannot trace an app: "meter" must be a meter of OpenTelemetry, and is 1`],
    [{ api: "api" }, `Cannot trace an app: "api" must be the module @opentelemetry/api, and is a text`],
    [{ tracers: 1 }, /^Cannot trace an app: .*"tracers"/],
  ])("refuses %j", (options, message) => {
    expect(() => otel(options as never)).toThrow(message);
  });
});
