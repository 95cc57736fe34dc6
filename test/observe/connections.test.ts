import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import {
  defineSurface,
  implementSurface,
  listenUnixSocket,
  mcp,
  mcpTool,
  operationRegistry,
  procedure,
  unixSocket,
  type Observation,
} from "../../src/index.ts";
import { httpHandler } from "../../src/http/index.ts";
import { doors as transports } from "../properties/tested-transports.ts";
import { envelope, handshake, legacyLine, modernLine } from "../fixtures/envelope.ts";
import { modernPost } from "../http/support/modern-post.ts";
import { createAskingApp } from "../mcp/asking-app.ts";
import { ConnectionHarness } from "../mcp/connection-harness.ts";
import { createObservedApp } from "./observed-app.ts";

const url = "http://localhost/mcp";
const of = (records: readonly Observation[], ...types: readonly string[]): readonly Observation[] =>
  records.filter(({ type }) => types.includes(type));

describe.each(transports.filter(({ name }) => !name.startsWith("the test client")))(
  "a client over $name",
  (transport) => {
    it("has a session with one start and one end, unless it has none", async () => {
      const { app, records } = createObservedApp();
      const open = await transport.open(app, undefined);
      await open.ask("tools/list", {});
      await open.ask("tools/list", {});
      await open.close();
      const sessions = of(records, "session-start", "session-end");
      const [start, end] = sessions;
      const isStateless = transport.name === "HTTP, modern";
      const expected = [
        { type: "session-start", client: { version: "1" }, protocol: expect.any(String) },
        { type: "session-end", id: Reflect.get(Object(start), "id"), ms: expect.any(Number), reason: "closed" },
      ];
      expect(sessions).toMatchObject(isStateless ? [] : expected);
      const last = of(records, "request-end").at(-1);
      expect(Reflect.get(Object(last), "session")).toBe(Reflect.get(Object(end), "id"));
    });
  },
);

describe("a session over HTTP", () => {
  it("ends when its client says so, and its stream of notices has one start and one end", async () => {
    const { app, records } = createObservedApp();
    const handler = httpHandler(app, { allowAnonymous: true });
    const accept = "application/json, text/event-stream";
    const headers: Record<string, string> = { "content-type": "application/json", accept };
    const opened = await handler.fetch(
      new Request(url, { method: "POST", headers, body: legacyLine(1, "initialize", handshake) }),
    );
    await opened.text();
    const id = opened.headers.get("mcp-session-id") ?? "";
    headers["mcp-session-id"] = id;
    const stream = await handler.fetch(new Request(url, { headers: { ...headers, accept: "text/event-stream" } }));
    await (await handler.fetch(new Request(url, { method: "DELETE", headers }))).text();
    await stream.text();
    await handler.close();
    expect(records.map(({ type }) => type)).toEqual([
      ...["request-start", "session-start", "request-end", "stream-start", "session-end", "stream-end"],
    ]);
    expect(records[4]).toMatchObject({ reason: "client" });
    const session = Reflect.get(Object(records[1]), "id");
    expect(of(records, "stream-start", "stream-end")).toMatchObject([{ session }, { session }]);
    // The id of the protocol gives access.
    expect(JSON.stringify(records)).not.toContain(id);
  });
});

describe("subscriptions/listen", () => {
  it("over HTTP is a request and a stream, which end when the server closes", async () => {
    const { app, records } = createObservedApp();
    const handler = httpHandler(app, { allowAnonymous: true });
    const filter = { notifications: { resourceSubscriptions: ["surface://observed/level"] } };
    const response = await handler.fetch(new Request(url, modernPost("subscriptions/listen", filter)));
    const reading = response.text();
    await handler.close();
    await reading;
    expect(of(records, "request-end", "stream-start", "stream-end")).toMatchObject([
      { type: "stream-start" },
      { type: "stream-end" },
      { type: "request-end", method: "subscriptions/listen", outcome: "ok" },
    ]);
  });

  it("over stdio ends with its cancellation", async () => {
    const { app, records } = createObservedApp();
    const harness = await new ConnectionHarness(app.open()).open("modern");
    harness.receive(modernLine(7, "subscriptions/listen", { notifications: { toolsListChanged: true } }));
    harness.receive('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}');
    await harness.close();
    expect(of(records, "request-end").at(-1)).toMatchObject({ method: "subscriptions/listen", outcome: "cancelled" });
  });
});

describe("a question", () => {
  it("is recorded with the choice of the user, in one request, up to 2025-11-25", async () => {
    const records: Observation[] = [];
    const app = createAskingApp({ observe: (record) => void records.push(record) });
    const harness = new ConnectionHarness(app.open());
    const params = { ...handshake, capabilities: { elicitation: {} } };
    await harness.request("legacy", "open", { method: "initialize", params });
    harness.receive(legacyLine(1, "tools/call", { name: "greet" }));
    const asked = (): object | undefined => harness.sent.find(({ method }) => method === "elicitation/create");
    await harness.until(() => asked() !== undefined);
    const id: unknown = Reflect.get(Object(asked()), "id");
    const result = { action: "accept", content: { name: "sentinel" } };
    harness.receive(JSON.stringify({ jsonrpc: "2.0", id, result }));
    await harness.until(() => harness.answers(1).length > 0);
    await harness.close();
    const request = of(records, "request-start").at(-1);
    expect(of(records, "question-asked", "question-answered")).toMatchObject([
      { type: "question-asked", kind: "elicit", isConfirmation: false, parent: Reflect.get(Object(request), "id") },
      { type: "question-answered", kind: "elicit", answer: "accept", operation: { id: "greet" } },
    ]);
    expect(JSON.stringify(records)).not.toContain("sentinel");
  });

  it("is recorded over two requests from 2026-07-28, under one id", async () => {
    const records: Observation[] = [];
    const app = createAskingApp({ observe: (record) => void records.push(record) });
    const harness = new ConnectionHarness(app.open());
    const meta = { ...envelope, "io.modelcontextprotocol/clientCapabilities": { elicitation: {} } };
    const call = { name: "greet", _meta: meta };
    const first = await harness.request("modern", 1, { method: "tools/call", params: call });
    const { inputRequests, requestState } = Object(first["result"]);
    const [key = ""] = Object.keys(inputRequests);
    const inputResponses = { [key]: { action: "decline" } };
    const retry = { ...call, inputResponses, requestState };
    await harness.request("modern", 2, { method: "tools/call", params: retry });
    await harness.close();
    const [asked, answered] = of(records, "question-asked", "question-answered");
    const ends = of(records, "request-end");
    expect(ends).toMatchObject([{ outcome: "asked" }, { outcome: "ok" }]);
    expect(asked).toMatchObject({ type: "question-asked", parent: Reflect.get(Object(ends[0]), "id") });
    expect(answered).toMatchObject({
      ...{ type: "question-answered", answer: "decline" },
      ...{ id: Reflect.get(Object(asked), "id"), parent: Reflect.get(Object(ends[1]), "id") },
    });
  });
});

describe("a link", () => {
  it("has records when it connects, is lost, cannot be reached and connects again", async () => {
    const folder = await mkdtemp(join(tmpdir(), "observe-"));
    const path = join(folder, "app.sock");
    const surface = defineSurface("far", { ping: mcpTool(procedure({ output: z.number() })) });
    const records: Observation[] = [];
    const observe = (record: Observation): void => void records.push(record);
    const app = mcp(surface, { onFault: () => {}, observe }).bridge(unixSocket(path));
    const harness = await new ConnectionHarness(app.open()).open("legacy");
    const call = (id: number): Promise<unknown> =>
      harness.request("legacy", id, { method: "tools/call", params: { name: "ping" } });
    const serve = async (): Promise<() => Promise<void>> => {
      const live = implementSurface(surface, { ping: () => 1 });
      const listening = await listenUnixSocket(live, path);
      return async () => {
        await listening.close();
        await live.close();
      };
    };
    const stop = await serve();
    await call(1);
    await stop();
    await call(2);
    const stopAgain = await serve();
    await call(3);
    await harness.close();
    await stopAgain();
    await rm(folder, { recursive: true });
    const links = of(records, "link-up", "link-down").map((record) => Reflect.get(record, "reason") ?? "up");
    expect(links).toEqual(["up", "gone", "unreachable", "up", "closed"]);
  });
});

describe("a mount", () => {
  it("has one record for all changes of a turn", async () => {
    const records: Observation[] = [];
    const registry = operationRegistry();
    const add = (name: string): (() => void) => registry.register({ name }, () => 1);
    const surface = defineSurface("hub", {});
    const app = mcp(surface, { observe: (record) => void records.push(record) })
      .implement({})
      .mount("ext", registry);
    const runtime = app.open();
    const remove = add("one");
    add("two");
    await new Promise((resolve) => setImmediate(resolve));
    remove();
    await new Promise((resolve) => setImmediate(resolve));
    await runtime.close();
    expect(of(records, "mount-change")).toMatchObject([
      { added: ["ext.one", "ext.two"], removed: [], tools: 2 },
      { added: [], removed: ["ext.one"], tools: 1 },
    ]);
  });
});
