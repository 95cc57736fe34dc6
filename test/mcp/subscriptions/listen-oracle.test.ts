// oxlint-disable typescript/no-deprecated -- the high-level server declares more than it is told to
import { Server } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { afterEach, describe, expect, it } from "vitest";
import type { ListName } from "../../../src/mcp/lists.ts";
import { toCapabilities, type ServerCapabilities } from "../../../src/mcp/handshake.ts";
import type { AppResources } from "../../../src/mcp/servable-app.ts";
import { modernLine } from "../../fixtures/envelope.ts";
import { createHostileApp } from "../../fixtures/hostile.ts";
import { ConnectionHarness, type Sent } from "../connection-harness.ts";

type Options = NonNullable<Parameters<typeof serveStdio>[1]>;
type Transport = NonNullable<Options["transport"]>;

/** The SDK's own server, which announces what it is told to. */
class Oracle {
  readonly sent: Sent[] = [];
  readonly #transport: Transport;
  readonly #handle: ReturnType<typeof serveStdio>;
  #server: Server | undefined;

  constructor(info: { name: string; version: string }, capabilities: ServerCapabilities) {
    const transport: Transport = {
      start: async () => {},
      close: async () => transport.onclose?.(),
      send: async (message) => void this.sent.push(JSON.parse(JSON.stringify(message))),
    };
    this.#transport = transport;
    const create = (): Server => (this.#server = new Server(info, { capabilities }));
    this.#handle = serveStdio(create, { transport });
  }

  /** Delivers a line and waits until its queue has taken it. */
  async receive(line: string): Promise<void> {
    this.#transport.onmessage?.(JSON.parse(line));
    await new Promise((resolve) => setImmediate(resolve));
  }

  async announce(uri: string): Promise<void> {
    await this.#server?.sendResourceUpdated({ uri });
  }

  close(): Promise<void> {
    return this.#handle.close();
  }
}

const info = { name: "hostile", version: "1.0.0" };
const opened: (ConnectionHarness | Oracle)[] = [];
afterEach(async () => {
  for (const each of opened.splice(0)) await each.close();
});

async function open({ canListChange }: Setting): Promise<{ ours: ConnectionHarness; oracle: Oracle }> {
  const runtime = createHostileApp({ onFault: () => {} }).open();
  const { resources } = runtime;
  const listing: AppResources = {
    watch: (caller, uri, told) => resources.watch(caller, uri, told),
    has: (caller, uri) => resources.has(caller, uri),
    hasRoom: (caller, uris) => resources.hasRoom(caller, uris),
    watchList: () => () => {},
    lacking: () => undefined,
  };
  const offered = canListChange
    ? {
        ...runtime,
        changing: new Set<ListName>(["tools", "resources"]),
        resources: listing,
      }
    : runtime;
  const ours = await new ConnectionHarness(offered).open("modern");
  const oracle = new Oracle(info, toCapabilities(offered));
  opened.push(ours, oracle);
  await oracle.receive(modernLine("open", "server/discover"));
  oracle.sent.length = 0;
  return { ours, oracle };
}

const listen = (id: number | string, notifications: unknown): string =>
  modernLine(id, "subscriptions/listen", { notifications });
const cancel = (requestId: unknown): string =>
  JSON.stringify({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId } });
const touch = { method: "tools/call", params: { name: "touch", arguments: { uri: "app://state" } } };
const state = { resourceSubscriptions: ["app://state"] };

/** What was sent, without the answers to what makes it change; as text, so that the order of keys counts too. */
function texts(sent: readonly Sent[]): readonly string[] {
  return sent.filter(({ id }) => id !== "touch").map((message) => JSON.stringify(message));
}

interface Setting {
  /** Whether the app has a list that can change. */
  readonly canListChange: boolean;
}

const settings: readonly Setting[] = [{ canListChange: true }, { canListChange: false }];

describe.each(settings)("subscriptions of our server and of the SDK's, with %j", (setting) => {
  it.each<[string, object]>([
    ["nothing", {}],
    ["one URI", state],
    ["two URIs", { resourceSubscriptions: ["app://items/a", "app://state"] }],
    ["no URI", { resourceSubscriptions: [] }],
    ["every list", { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true }],
    ["no list", { toolsListChanged: false, promptsListChanged: false, resourcesListChanged: false }],
    ["a list and a URI", { ...state, resourcesListChanged: true }],
    ["what nobody knows", { ...state, everything: [1] }],
  ])("acknowledge a filter of %s in the same bytes", async (_what, filter) => {
    const { ours, oracle } = await open(setting);
    ours.gate.receive(listen("s", filter));
    await oracle.receive(listen("s", filter));
    await ours.until(() => ours.sent.length > 0);
    expect(texts(ours.sent)).toEqual(texts(oracle.sent));
    expect(ours.sent).toHaveLength(1);
  });

  it.each<[string, unknown]>([
    ["null", null],
    ["an array", []],
    ["a text", "app://state"],
    ["a text for URIs", { resourceSubscriptions: "app://state" }],
    ["a number among URIs", { resourceSubscriptions: ["app://state", 1] }],
    ["null for URIs", { resourceSubscriptions: null }],
    ["a text for a flag", { resourcesListChanged: "true" }],
    ["null for a flag that is not honoured", { toolsListChanged: null }],
  ])("refuse a filter that is or has %s with the same code", async (_what, filter) => {
    const { ours, oracle } = await open(setting);
    ours.gate.receive(listen(1, filter));
    await oracle.receive(listen(1, filter));
    expect(ours.sent).toMatchObject([{ id: 1, error: { code: -32602 } }]);
    expect(oracle.sent).toMatchObject([{ id: 1, error: { code: -32602 } }]);
  });

  it("announce a change to each subscription in the same bytes, and not to a cancelled one", async () => {
    const { ours, oracle } = await open(setting);
    for (const id of [1, "1", "gone"]) {
      ours.gate.receive(listen(id, state));
      await oracle.receive(listen(id, state));
    }
    await ours.until(() => ours.sent.length === 3);
    ours.gate.receive(cancel("gone"));
    await oracle.receive(cancel("gone"));
    await ours.request("modern", "touch", touch);
    await oracle.announce("app://state");
    await ours.until(() => texts(ours.sent).length === 5);
    expect(texts(ours.sent)).toEqual(texts(oracle.sent));
  });

  it("end every subscription with the same answer when they are closed, and send nothing after it", async () => {
    const { ours, oracle } = await open(setting);
    for (const id of [7, "b"]) {
      ours.gate.receive(listen(id, state));
      await oracle.receive(listen(id, state));
    }
    await ours.until(() => ours.sent.length === 2);
    ours.gate.close();
    await oracle.close();
    expect(ours.sent).toEqual(oracle.sent);
    expect(ours.sent.slice(2)).toMatchObject([{ id: 7, result: { resultType: "complete" } }, { id: "b" }]);
    ours.gate.receive(listen(8, state));
    ours.gate.close();
    expect(ours.sent).toHaveLength(4);
  });
});
