import { afterEach, describe, expect, it } from "vitest";
import { anonymous, type Caller } from "../../src/surface/caller.ts";
import { McpConnection } from "../../src/mcp/mcp-connection.ts";
import type { Era } from "../../src/mcp/protocol.ts";
import { envelope, handshake, legacyLine, modernLine } from "../fixtures/envelope.ts";
import type { Sent } from "./connection-harness.ts";
import { createViewsApp, rules, type ViewsApp } from "./views-app.ts";

type Ask = readonly [method: string, params?: object];

/** One connection that comes by a view. */
class Connection {
  readonly sent: Sent[] = [];
  readonly #gate: McpConnection;
  readonly #runtime: ReturnType<ViewsApp["open"]>;
  readonly #era: Era;
  #listeners: (() => void)[] = [];
  #ids = 0;

  constructor(app: ViewsApp, era: Era, caller: Caller) {
    this.#runtime = app.open();
    this.#era = era;
    this.#gate = new McpConnection({
      runtime: this.#runtime,
      caller,
      send: (json) => {
        this.sent.push(JSON.parse(json));
        for (const tell of this.#listeners.splice(0)) tell();
      },
    });
  }

  async until(done: () => boolean): Promise<void> {
    while (!done()) await new Promise<void>((resolve) => this.#listeners.push(resolve));
  }

  /** Asks, and gives what was answered, without its id. */
  async ask([method, params]: Ask): Promise<unknown> {
    const id = `ask ${(this.#ids += 1)}`;
    this.#gate.receive(this.#era === "modern" ? modernLine(id, method, params) : legacyLine(id, method, params));
    await this.until(() => this.sent.some((message) => message["id"] === id));
    const { id: _id, jsonrpc: _rpc, ...answer } = this.sent.find((message) => message["id"] === id) ?? {};
    return JSON.parse(JSON.stringify(answer).replaceAll(id, "ID"));
  }

  /** Says whether the client leaves its answers unread. Until it reads them, no call starts. */
  setOutputFull(isFull: boolean): void {
    this.#gate.setOutputFull(isFull);
  }

  greet(): Promise<unknown> {
    return this.ask(this.#era === "modern" ? ["server/discover"] : ["initialize", handshake]);
  }

  async open(): Promise<this> {
    await this.greet();
    if (this.#era === "legacy") this.#gate.receive('{"jsonrpc":"2.0","method":"notifications/initialized"}');
    this.sent.length = 0;
    return this;
  }

  /** Subscribes to everything that may change. */
  async listen(uris: readonly string[] = []): Promise<void> {
    if (this.#era === "legacy") {
      for (const uri of uris) await this.ask(["resources/subscribe", { uri }]);
      return;
    }
    const lists = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };
    const notifications = { ...lists, resourceSubscriptions: uris };
    this.#gate.receive(modernLine("listen", "subscriptions/listen", { notifications }));
    await this.until(() => this.told("notifications/subscriptions/acknowledged") > 0);
  }

  told(method: string): number {
    return this.sent.filter((message) => message["method"] === method).length;
  }

  async names(method: string, key: string): Promise<readonly string[]> {
    const answer = await this.ask([method]);
    const listed: unknown = Object(Reflect.get(Object(answer), "result"))[key];
    return Array.isArray(listed) ? listed.map((each) => String(each.name)) : [];
  }

  async close(): Promise<void> {
    this.#gate.close();
    await this.#runtime.close();
  }
}

const open: Connection[] = [];
afterEach(() => Promise.all(open.splice(0).map((each) => each.close())));

function by(surface: string, more: Partial<Caller> = {}): Caller {
  return { ...anonymous, view: { surface }, ...more };
}

function connect(app: ViewsApp, era: Era, caller: Caller): Connection {
  const connection = new Connection(app, era, caller);
  open.push(connection);
  return connection;
}

const eras: readonly Era[] = ["legacy", "modern"];
const everything = ["big", "node_peek", "node_rerun", "note", "ops_git_branch", "ops_git_push"];
const pulled = ["read_resource", "replay", "wait_for_change"];
const onlyRead = ["big", "node_peek", "ops_git_branch", ...pulled];

describe.each(eras.map((era) => ({ era })))("views, in the $era era", ({ era }) => {
  const connectTo = (surface: string, more: Partial<Caller> = {}): Promise<Connection> =>
    connect(createViewsApp(), era, by(surface, more)).open();

  it("list their entries, and describe them to the model", async () => {
    const connection = await connectTo("readonly");
    expect(await connection.names("tools/list", "tools")).toEqual(onlyRead);
    expect(await connection.names("resources/list", "resources")).toEqual(["status"]);
    expect(await connection.names("resources/templates/list", "resourceTemplates")).toEqual([]);
    expect(await connection.names("prompts/list", "prompts")).toEqual(["review"]);
    const greeting = await connect(createViewsApp(), era, by("readonly")).greet();
    expect(greeting).toHaveProperty("result.instructions", "Use it.\n\nOnly look.");
    const capabilities = {
      tools: { listChanged: true },
      prompts: { listChanged: true },
      resources: { subscribe: true, listChanged: true },
    };
    expect(greeting).toHaveProperty("result.capabilities", expect.objectContaining(capabilities));
  });

  it("list everything without a view name", async () => {
    const connection = connect(createViewsApp(), era, anonymous);
    expect(await connection.greet()).toHaveProperty("result.instructions", "Use it.");
    expect(await (await connectTo("default")).names("tools/list", "tools")).toEqual([...everything, ...pulled]);
  });

  it.each(["locked", "never heard of"])("deny the view %s for every request, and the handshake", async (surface) => {
    const connection = connect(createViewsApp(), era, by(surface));
    const reason = surface === "locked" ? "not for you" : "unknown MCP surface";
    const denied = { error: { code: -32603, message: `tool surface denied: ${reason}` } };
    expect(await connection.greet()).toEqual(denied);
    if (era === "legacy") return;
    const asks: readonly Ask[] = [
      ["tools/list"],
      ["tools/call", { name: "note" }],
      ["tools/call", { name: 5 }],
      ["resources/read", { uri: "surface://ci/status" }],
      ["prompts/get", { name: "review" }],
      ["completion/complete", {}],
      ["subscriptions/listen", { notifications: {} }],
      ["never/heard", {}],
    ];
    for (const ask of asks) expect(await connection.ask(ask)).toEqual(denied);
  });

  it("deny a program by its declared name", async () => {
    const connection = connect(createViewsApp(), era, anonymous);
    const clientInfo = { name: "nosy", version: "1" };
    const meta = { ...envelope, "io.modelcontextprotocol/clientInfo": clientInfo };
    const greeting: Ask =
      era === "legacy" ? ["initialize", { ...handshake, clientInfo }] : ["server/discover", { _meta: meta }];
    const denied = { error: { code: -32603, message: "tool surface denied: no nosy clients" } };
    expect(await connection.ask(greeting)).toEqual(denied);
    expect(await connection.greet()).toHaveProperty("result");
  });

  it("answer for hidden entries as for unknown ones, byte for byte", async () => {
    const connection = await connectTo("readonly");
    const asksOf = (tool: string, prompt: string, [uri, template]: readonly [string, string]): readonly Ask[] => [
      ["tools/call", { name: tool, arguments: { text: "x", node: "x" } }],
      ["tools/call", { name: tool, arguments: { text: 5 } }],
      ["prompts/get", { name: prompt, arguments: { tone: "kind" } }],
      ["completion/complete", { ref: { type: "ref/prompt", name: prompt }, argument: { name: "tone", value: "" } }],
      ["completion/complete", { ref: { type: "ref/resource", uri: template }, argument: { name: "box", value: "" } }],
      ["resources/read", { uri }],
      ["tools/call", { name: "read_resource", arguments: { uri } }],
      ["tools/call", { name: "wait_for_change", arguments: { uris: [uri], timeout_ms: 1 } }],
      ...(era === "legacy" ? [["resources/subscribe", { uri }] as const] : []),
    ];
    const never = asksOf("nope", "nope", ["surface://ci/never77", "app://never/{box}"]);
    for (const [tool, uri] of [
      ["note", "surface://ci/secrets"],
      ["node_rerun", "app://vault/aaaaa"],
      ["ops_git_push", "surface://ci/secrets"],
    ] as const) {
      for (const [index, ask] of asksOf(tool, "plan", [uri, "app://vault/{box}"]).entries()) {
        const unknown = never[index] ?? ask;
        const text = JSON.stringify(await connection.ask(ask)).replaceAll(uri, "URI");
        expect(text).toBe(JSON.stringify(await connection.ask(unknown)).replaceAll("surface://ci/never77", "URI"));
      }
    }
  });

  it("refuse to watch hidden resources as unknown ones", async () => {
    const uris = ["surface://ci/secrets", "app://vault/a", "app://never/a", "surface://ci/status"];
    const connection = await connectTo("readonly");
    await connection.listen(uris);
    const refused = connection.sent.filter((message) => "error" in message);
    const [acknowledged] = connection.sent.filter(({ method }) => String(method).endsWith("acknowledged"));
    const honoured = Reflect.get(Object(acknowledged?.["params"]), "notifications")?.resourceSubscriptions;
    expect([refused.length, honoured]).toEqual(era === "legacy" ? [3, undefined] : [0, ["surface://ci/status"]]);
  });

  it("tell of no hidden resource in the words of a tool", async () => {
    const connection = await connectTo("readonly");
    expect(JSON.stringify(await connection.ask(["tools/list"]))).not.toMatch(/secrets|vault/);
    expect(JSON.stringify(await (await connectTo("default")).ask(["tools/list"]))).toMatch(/secrets.*vault/);
  });

  it("show a gateway of four tools, and everything else as it is", async () => {
    const app = createViewsApp();
    const connection = await connect(app, era, by("hub")).open();
    expect(await connection.names("tools/list", "tools")).toEqual(["call", "list", "schema", "search"]);
    expect(await connection.names("prompts/list", "prompts")).toEqual(["plan", "review"]);
    const calls = [
      { tool: "ops.git.branch", input: { name: "main" } },
      { tool: "node.peek", input: { node: "a" } },
      { tool: "never" },
      { tool: "granted" },
    ];
    const answer = await connection.ask(["tools/call", { name: "call", arguments: { calls } }]);
    const unknown = { success: false, error: expect.objectContaining({ code: "OPERATION_NOT_FOUND" }) };
    expect(answer).toHaveProperty("result.structuredContent.results", [
      { success: true, result: { value: "on main" } },
      { success: true, result: { value: "saw a" } },
      unknown,
      unknown,
    ]);
    expect(Reflect.get(Object(answer), "result").isError).toBeUndefined();
    const { text } = Reflect.get(Object(answer), "result").content[0];
    expect(JSON.parse(text)).toEqual(Reflect.get(Object(answer), "result").structuredContent);
    const unknownTool = await connection.ask(["tools/call", { name: "nope" }]);
    expect(await connection.ask(["tools/call", { name: "note", arguments: { text: "x" } }])).toEqual(unknownTool);
    // What is registered now is found by the very next request.
    app.registry.register({ name: "late", type: "query" }, () => "found");
    const found = await connection.ask(["tools/call", { name: "search", arguments: { q: "late" } }]);
    expect(JSON.stringify(found)).toContain("ops.late");
  });

  it("list an entry with required scopes only to callers who have them, and hide it from others", async () => {
    const without = await connectTo("default");
    expect(await without.names("tools/list", "tools")).not.toContain("granted");
    const unknown = await without.ask(["tools/call", { name: "never" }]);
    expect(await without.ask(["tools/call", { name: "granted" }])).toEqual(unknown);
    const having = await connectTo("default", { scopes: ["extra"] });
    expect(await having.names("tools/list", "tools")).toContain("granted");
    expect(await having.ask(["tools/call", { name: "granted" }])).toHaveProperty("result.structuredContent");
  });

  it("replay exactly the entries that they list", async () => {
    for (const surface of ["default", "readonly", "hub", "locked"]) {
      const app = createViewsApp();
      const { visible_tools } = app.app.replay({ surface });
      const connection = connect(app, era, by(surface));
      const isDenied = surface === "locked";
      const listed = isDenied ? [] : await (await connection.open()).names("tools/list", "tools");
      expect(visible_tools).toEqual(listed);
    }
  });

  it("notify callers of new rules only if their list differs", async () => {
    const app = createViewsApp();
    const readonly = await connect(app, era, by("readonly")).open();
    const hub = await connect(app, era, by("hub")).open();
    await Promise.all([readonly.listen(), hub.listen()]);
    const [first, ...others] = rules;
    const verdict = { kind: "tool_surface", readOnly: true, disallow: ["secrets", "plan", "vault", "big"] } as const;
    app.rules.set([{ ...first, verdict }, ...others]);
    await readonly.until(() => readonly.told("notifications/tools/list_changed") > 0);
    expect(await readonly.names("tools/list", "tools")).not.toContain("big");
    app.rules.set([{ ...first, verdict: { ...verdict, disallow: ["big"] } }, ...others]);
    await readonly.until(() => readonly.told("notifications/prompts/list_changed") > 0);
    await readonly.until(() => readonly.told("notifications/resources/list_changed") > 0);
    expect(await readonly.names("prompts/list", "prompts")).toEqual(["plan", "review"]);
    // Rules that say the same are no change to anybody.
    const before = readonly.sent.length;
    app.rules.set([...app.rules.get()]);
    await readonly.ask(["tools/list"]);
    await hub.ask(["tools/list"]);
    expect(readonly.sent.length).toBe(before + 1);
    expect(hub.sent.filter((message) => String(message["method"]).endsWith("list_changed"))).toEqual([]);
  });

  it("send no notification for rules that are replaced and restored at once, and once of the next ones", async () => {
    const app = createViewsApp();
    const connection = await connect(app, era, by("readonly")).open();
    await connection.listen();
    const told = (): number => connection.told("notifications/tools/list_changed");
    const [first, ...others] = rules;
    const verdict = { kind: "tool_surface", readOnly: true, disallow: ["big"] } as const;
    app.rules.set([{ ...first, verdict }, ...others]);
    app.rules.set([...rules]);
    await connection.ask(["tools/list"]);
    expect(told()).toBe(0);
    app.rules.set([{ ...first, verdict }, ...others]);
    await connection.until(() => told() > 0);
    await connection.ask(["tools/list"]);
    expect(told()).toBe(1);
  });

  it("notify of operations that come and go if they are listed individually", async () => {
    const app = createViewsApp();
    const direct = await connect(app, era, by("default")).open();
    const hub = await connect(app, era, by("hub")).open();
    await Promise.all([direct.listen(), hub.listen()]);
    const away = app.registry.register({ name: "late", type: "query" }, () => 1);
    await direct.until(() => direct.told("notifications/tools/list_changed") > 0);
    expect(await direct.names("tools/list", "tools")).toContain("ops_late");
    away();
    await direct.until(() => direct.told("notifications/tools/list_changed") > 1);
    await hub.ask(["tools/list"]);
    expect(hub.told("notifications/tools/list_changed")).toBe(0);
    expect(direct.told("notifications/prompts/list_changed")).toBe(0);
  });

  it("announce nothing more of resources that become hidden, and once when they are shown again", async () => {
    const app = createViewsApp();
    const connection = await connect(app, era, by("default")).open();
    await connection.listen(["surface://ci/secrets"]);
    const told = (): number => connection.told("notifications/resources/updated");
    app.secrets.set("one");
    await connection.until(() => told() === 1);
    const hides = { kind: "tool_surface", disallow: ["secrets"] } as const;
    app.rules.set([{ when: { surface: "default" }, verdict: hides }, ...rules]);
    await connection.until(() => connection.told("notifications/resources/list_changed") === 1);
    app.secrets.set("two");
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(told()).toBe(1);
    expect(await connection.ask(["resources/read", { uri: "surface://ci/secrets" }])).toHaveProperty("error");
    app.rules.set(rules);
    await connection.until(() => told() === 2);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(told()).toBe(2);
    app.secrets.set("three");
    await connection.until(() => told() === 3);
  });

  it("deny connected clients when new rules do, and send them nothing more", async () => {
    const app = createViewsApp();
    const connection = await connect(app, era, by("readonly")).open();
    await connection.listen(["surface://ci/status"]);
    const deny = { kind: "deny", reason: "closed for today" } as const;
    app.rules.set([{ when: { surface: "readonly" }, verdict: deny }]);
    const before = connection.sent.length;
    app.status.set("red");
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(connection.sent.length).toBe(before);
    const denied = { error: { code: -32603, message: "tool surface denied: closed for today" } };
    expect(await connection.ask(["tools/list"])).toEqual(denied);
    expect(await connection.ask(["never/heard"])).toEqual(denied);
    app.rules.set(rules);
    await connection.until(() => connection.told("notifications/resources/updated") === 1);
    expect(await connection.names("tools/list", "tools")).toEqual(onlyRead);
  });

  it("decide about a call by the rules of the moment when its turn comes", async () => {
    const app = createViewsApp();
    const connection = await connect(app, era, by("readonly")).open();
    const peek = ["tools/call", { name: "node_peek", arguments: { node: "a" } }] as const;
    connection.setOutputFull(true);
    const [first, second] = [connection.ask(peek), connection.ask(peek)];
    app.rules.set([{ when: { surface: "readonly" }, verdict: { kind: "tool_surface", disallow: ["node.peek"] } }]);
    connection.setOutputFull(false);
    const unknown = await connection.ask(["tools/call", { name: "never", arguments: {} }]);
    expect([await first, await second]).toEqual([unknown, unknown]);
    connection.setOutputFull(true);
    const third = connection.ask(peek);
    app.rules.set([{ when: { surface: "readonly" }, verdict: { kind: "deny", reason: "closed" } }]);
    connection.setOutputFull(false);
    expect(await third).toEqual({ error: { code: -32603, message: "tool surface denied: closed" } });
  });

  it("keep the parts of large values for callers who see the whole", async () => {
    const app = createViewsApp();
    const connection = await connect(app, era, by("readonly")).open();
    const answer = JSON.stringify(await connection.ask(["tools/call", { name: "big" }]));
    const uri = /surface:\/\/ci\/_parts\/[0-9a-f]+\/2/.exec(answer)?.[0] ?? "";
    expect(await connection.ask(["resources/read", { uri }])).toHaveProperty("result");
    const [first, ...others] = rules;
    app.rules.set([{ ...first, verdict: { kind: "tool_surface", disallow: ["big"] } }, ...others]);
    const gone = JSON.stringify(await connection.ask(["resources/read", { uri }])).replaceAll(uri, "URI");
    const never = uri.replace(/[0-9a-f]{32}/, "0".repeat(32));
    expect(gone).toBe(
      JSON.stringify(await connection.ask(["resources/read", { uri: never }])).replaceAll(never, "URI"),
    );
    expect(
      JSON.stringify(await connection.ask(["tools/call", { name: "read_resource", arguments: { uri } }])),
    ).toContain("NOT_FOUND");
  });
});
