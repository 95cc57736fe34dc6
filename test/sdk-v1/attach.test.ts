// oxlint-disable typescript/no-deprecated, unicorn/prefer-add-event-listener -- what the low-level server of the SDK 1.x has
import { setTimeout as sleep } from "node:timers/promises";
import { Server as ModernServer } from "@modelcontextprotocol/server";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import {
  cellSource,
  cell,
  defineSurface,
  mcp,
  mcpResource,
  mcpTool,
  operationRegistry,
  procedure,
  unixSocket,
} from "../../src/index.ts";
import { attach } from "../../src/sdk-v1/attach.ts";
import type { V1Server } from "../../src/sdk-v1/v1-port.ts";
import { createServer, V1Harness } from "./v1-harness.ts";

const shop = defineSurface("shop", {
  price: mcpResource(cell({ schema: z.number() })),
  raise: mcpTool(procedure({ input: z.object({ by: z.number() }), output: z.number() })),
});

/** A shop, and how often it was opened and closed. */
function createShop() {
  const price = cellSource(1);
  const seen = { watchers: 0, sources: new Set<object>() };
  const watched = {
    get: () => price.get(),
    subscribe(fn: (value: number) => void) {
      seen.watchers += 1;
      const stop = price.subscribe(fn);
      return () => {
        seen.watchers -= 1;
        stop();
      };
    },
  };
  const app = mcp(shop, { uriPrefix: "shop://", changeWindowMs: 1, onFault: () => {} }).implement({
    price: watched,
    raise: ({ by }) => {
      price.set(price.get() + by);
      return price.get();
    },
  });
  return { app, price, seen };
}

const readPrice = { uri: "shop://price" };

describe("attach()", () => {
  it("attaches to the server within a McpServer, beside the author's own handlers", async () => {
    const { app } = createShop();
    const server = new McpServer({ name: "mine", version: "1.0.0" });
    server.registerPrompt("hello", {}, () => ({ messages: [{ role: "user", content: { type: "text", text: "Hi" } }] }));
    attach(app, server);
    const [client, transport] = InMemoryTransport.createLinkedPair();
    const answers: unknown[] = [];
    client.onmessage = (message) => answers.push(message);
    await server.connect(transport);
    await client.start();
    await client.send({ jsonrpc: "2.0", id: 1, method: "prompts/list" });
    await client.send({ jsonrpc: "2.0", id: 2, method: "tools/list" });
    await expect.poll(() => answers).toHaveLength(2);
    expect(answers).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ id: 1, result: { prompts: [expect.objectContaining({ name: "hello" })] } }),
        expect.objectContaining({ id: 2, result: { tools: [expect.objectContaining({ name: "raise" })] } }),
      ]),
    );
    await server.close();
  });

  it("refuses a server with its own tools, names its methods, and does not change it", async () => {
    const { app } = createShop();
    const server = new McpServer({ name: "mine", version: "1.0.0" });
    server.registerTool("own", {}, () => ({ content: [] }));
    expect(() => attach(app, server)).toThrow(
      expect.objectContaining({
        code: "NAME_COLLISION",
        message: expect.stringMatching(/"tools\/list", "tools\/call" itself.*mount\(\) and invoker\(\)/),
      }),
    );
    expect(() => server.server.assertCanSetRequestHandler("resources/list")).not.toThrow();
    server.registerTool("another", {}, () => ({ content: [] }));
  });

  it("refuses a server that an app is attached to", () => {
    const server = createServer();
    attach(createShop().app, server);
    expect(() => attach(createShop().app, server)).toThrow(expect.objectContaining({ code: "NAME_COLLISION" }));
  });

  it("refuses a server that is connected", async () => {
    const server = createServer();
    await server.connect(InMemoryTransport.createLinkedPair()[0]);
    expect(() => attach(createShop().app, server)).toThrow(
      expect.objectContaining({ code: "INVALID_OPTION", message: expect.stringContaining("connected") }),
    );
    await server.close();
  });

  it.each([
    ["nothing", undefined],
    ["an object", {}],
    ["a text", "server"],
    ["a server of the SDK 2.x", new ModernServer({ name: "v2", version: "1" }, { capabilities: {} })],
  ])("refuses %s, which is no server of the SDK 1.x", (_what, given) => {
    // What an honest author's types would not let through.
    const server = given as unknown as V1Server;
    expect(() => attach(createShop().app, server)).toThrow(expect.objectContaining({ code: "INVALID_OPTION" }));
  });

  it.each([
    ["a view without a name", { surface: "" }],
    ["a view that does not exist", { surface: "never" }],
    ["an option that does not exist", { scopes: [], surfce: "never" }],
    ["a project that is no text", { project: 5 as unknown as string }],
    ["scopes that are none", { scopes: ["a b"] }],
    ["a caller that is no function", { caller: {} as unknown as () => undefined }],
    ["a limiter that is none", { rateLimit: {} as unknown as { limit: () => { ok: true } } }],
  ])("refuses %s", (_what, options) => {
    expect(() => attach(createShop().app, createServer(), options)).toThrow(
      expect.objectContaining({ code: "INVALID_OPTION" }),
    );
  });

  it("attaches nothing when the app cannot be opened", () => {
    const server = createServer();
    const unlinked = { open: (): never => createBroken() };
    expect(() => attach(unlinked, server)).toThrow("it cannot be");
    expect(() => server.assertCanSetRequestHandler("tools/list")).not.toThrow();
    expect(() => attach(createShop().app, server)).not.toThrow();
  });

  it("declares the app's capabilities, and keeps the server's instructions", async () => {
    const server = new Server({ name: "v1", version: "1" }, { capabilities: { experimental: { mine: {} } } });
    attach(createShop().app, server);
    const [client, transport] = InMemoryTransport.createLinkedPair();
    const answer = new Promise<unknown>((resolve) => {
      client.onmessage = resolve;
    });
    await server.connect(transport);
    await client.start();
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "c", version: "1" } };
    await client.send({ jsonrpc: "2.0", id: 1, method: "initialize", params });
    const capabilities = { experimental: { mine: {} }, tools: {}, resources: { subscribe: true } };
    expect(await answer).toMatchObject({ result: { capabilities } });
    await server.close();
  });
});

function createBroken(): never {
  throw new Error("it cannot be");
}

describe("an attachment", () => {
  it("ends when the client leaves, and calls the author's own onclose, whenever it was set", async () => {
    const told: string[] = [];
    const server = createServer();
    server.onclose = () => told.push("before");
    const first = await new V1Harness(createShop().app, {}, server).open();
    await first.leave();
    await first.attached.closed;
    expect(told).toEqual(["before"]);

    const second = new V1Harness(createShop().app, {}, server);
    const wrapped = server.onclose;
    server.onclose = () => {
      told.push("after");
      wrapped?.();
    };
    await second.open();
    await second.leave();
    await second.attached.closed;
    expect(told).toEqual(["before", "after", "before"]);
  });

  it("calls the author's own oninitialized and passes on other notifications", async () => {
    const told: unknown[] = [];
    const server = createServer();
    const harness = new V1Harness(createShop().app, {}, server);
    server.oninitialized = () => told.push("initialised");
    server.fallbackNotificationHandler = async ({ method }) => void told.push(method);
    await harness.open();
    await harness.notify("notifications/mine");
    await harness.notify("notifications/roots/list_changed");
    await harness.request(1, "ping");
    expect(told).toEqual(["initialised", "notifications/mine", "notifications/roots/list_changed"]);
    await harness.close();
  });

  it("keeps the server open and answers nothing more when it is closed, and can be repeated", async () => {
    const { app } = createShop();
    const harness = await new V1Harness(app).open();
    expect(await harness.request(1, "tools/list")).toHaveProperty("result.tools");
    await Promise.all([harness.attached.close(), harness.attached.close()]);
    await harness.attached.closed;
    expect(await harness.request(2, "tools/list")).toHaveProperty("error.code", -32601);
    expect(await harness.request(3, "ping")).toHaveProperty("result", {});
    await harness.server.close();
    const again = await new V1Harness(app, {}, harness.server).open();
    expect(await again.request(4, "tools/list")).toHaveProperty("result.tools");
    await again.close();
    await again.close();
  });

  it("shares one application among servers, which is closed with the last of them", async () => {
    let opened = 0;
    let closed = 0;
    const { app } = createShop();
    const counted = {
      open() {
        opened += 1;
        const runtime = app.open();
        return { ...runtime, close: () => ((closed += 1), runtime.close()) };
      },
    };
    const [one, two] = [await new V1Harness(counted).open(), await new V1Harness(counted).open()];
    await one.request(1, "tools/call", { name: "raise", arguments: { by: 4 } });
    expect(await two.request(1, "resources/read", readPrice)).toHaveProperty("result.contents.0.text", "5");
    await one.close();
    expect(await two.request(2, "resources/read", readPrice)).toHaveProperty("result.contents.0.text", "5");
    expect([opened, closed]).toEqual([1, 0]);
    await two.close();
    expect([opened, closed]).toEqual([1, 1]);
    const three = await new V1Harness(counted).open();
    expect(opened).toBe(2);
    await three.close();
  });
});

describe("a subscription on a server of the SDK 1.x", () => {
  it.each<[string, (harness: V1Harness) => Promise<void>]>([
    ["the client leaves", (harness) => harness.leave()],
    ["the server closes", (harness) => harness.server.close()],
    ["what is attached is closed", (harness) => harness.attached.close()],
  ])("notifies of changes until %s, and watches nothing afterwards", async (_when, end) => {
    const { app, price, seen } = createShop();
    const harness = await new V1Harness(app).open();
    expect(await harness.request(1, "resources/subscribe", readPrice)).toEqual({ jsonrpc: "2.0", id: 1, result: {} });
    expect(seen.watchers).toBe(1);
    price.set(2);
    await harness.until(() => harness.notices("notifications/resources/updated").length > 0);
    expect(harness.notices("notifications/resources/updated")).toEqual([readPrice]);
    await end(harness);
    await harness.attached.closed;
    expect(seen.watchers).toBe(0);
    harness.sent.length = 0;
    price.set(3);
    await harness.close();
    expect(harness.sent).toEqual([]);
  });

  it("is answered while it waits for the application when the attachment is closed", async () => {
    const app = mcp(shop, { uriPrefix: "shop://", onFault: () => {} }).bridge(unixSocket("/nowhere/shop.sock"));
    const harness = await new V1Harness(app).open();
    await harness.post({ id: 1, method: "resources/subscribe", params: readPrice });
    await harness.request(2, "ping");
    expect(harness.answers(1)).toEqual([]);
    await harness.attached.close();
    await harness.until(() => harness.answers(1).length > 0);
    expect(harness.answers(1)).toMatchObject([{ error: { code: -32000, message: "Server busy: it is closing" } }]);
    await harness.close();
  });

  it("sends nothing to a caller with an expired token, and missed changes after their next request", async () => {
    const { app, price } = createShop();
    const harness = await new V1Harness(app).open();
    const told = (): number => harness.notices("notifications/resources/updated").length;
    const now = Date.now() / 1000;
    const authInfo = { token: "t", clientId: "ide", scopes: ["shop:read"] };
    const subscribe = { id: 1, method: "resources/subscribe", params: readPrice };
    await harness.answerTo(subscribe, { authInfo: { ...authInfo, expiresAt: now + 1 } });
    price.set(2);
    await harness.until(() => told() > 0);
    await sleep(1100);
    harness.sent.length = 0;
    price.set(3);
    price.set(4);
    await sleep(50);
    expect(told()).toBe(0);
    await harness.answerTo({ id: 2, method: "tools/list" }, { authInfo: { ...authInfo, expiresAt: now + 10 ** 7 } });
    await harness.until(() => told() > 0);
    expect(told()).toBe(1);
    await harness.close();
  });

  it("ends when its client cancels it, and sends no more changes", async () => {
    const { app, price, seen } = createShop();
    const harness = await new V1Harness(app).open();
    await harness.request(1, "resources/subscribe", readPrice);
    expect(await harness.request(2, "resources/unsubscribe", readPrice)).toHaveProperty("result", {});
    price.set(2);
    await harness.request(3, "ping");
    expect(harness.notices("notifications/resources/updated")).toEqual([]);
    expect(await harness.request(4, "resources/subscribe", { uri: "shop://nope" })).toHaveProperty(
      "error.code",
      -32002,
    );
    expect(await harness.request(5, "resources/subscribe", { uri: 5 })).toHaveProperty("error.code", -32602);
    expect(seen.watchers).toBe(0);
    await harness.close();
  });
});

describe("the lists of a server of the SDK 1.x", () => {
  const shown = (harness: V1Harness): number => harness.notices("notifications/tools/list_changed").length;

  it("are watched for the caller of the first request", async () => {
    const registry = operationRegistry();
    const app = mcp(shop, { changeWindowMs: 1, onFault: () => {} })
      .implement({ price: cellSource(1), raise: ({ by }) => by })
      .mount("ops", registry);
    const harness = await new V1Harness(app).open();
    const scopes = ["git:admin"];
    registry.register({ name: "git.peek", scopes }, () => "seen");
    const authInfo = { token: "t", clientId: "c", scopes: [...scopes, "shop:read", "shop:write"] };
    await harness.answerTo({ id: 1, method: "ping" }, { authInfo });
    expect(shown(harness)).toBe(0);
    const listed = await harness.answerTo({ id: 2, method: "tools/list" }, { authInfo });
    expect(JSON.stringify(listed)).toContain("ops_git_peek");
    registry.register({ name: "git.look", scopes }, () => "seen");
    await harness.until(() => shown(harness) === 1);
    await harness.close();
  });

  it("are watched from the handshake on, until the connection ends", async () => {
    const registry = operationRegistry();
    const app = mcp(shop, { changeWindowMs: 1, onFault: () => {} })
      .implement({ price: cellSource(1), raise: ({ by }) => by })
      .mount("ops", registry);
    const harness = await new V1Harness(app).open();
    registry.register({ name: "git.peek" }, () => "seen");
    await harness.until(() => shown(harness) === 1);
    expect(JSON.stringify(await harness.request(2, "tools/list"))).toContain("ops_git_peek");
    registry.register({ name: "git.look" }, () => "seen");
    await harness.until(() => shown(harness) === 2);
    expect(JSON.stringify(await harness.request(3, "tools/list"))).toContain("ops_git_look");
    const before = shown(harness);
    await harness.attached.close();
    registry.register({ name: "git.stare" }, () => "seen");
    await harness.request(4, "ping");
    expect(shown(harness)).toBe(before);
    await harness.close();
  });
});
