import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundleScript } from "../fixtures/bundle-script.ts";
import { envelope } from "../fixtures/envelope.ts";
import { ServerProcess } from "../fixtures/server-process.ts";
import { modernPost } from "../http/support/modern-post.ts";

/** What came of a tool call: its result, or the error. */
type Answer = Readonly<Record<string, unknown>>;

type Ask = (name: string, args: object) => Promise<Answer>;

let script = "";
let overStdio: ServerProcess;
let overHttp: ServerProcess;
let url = "";

beforeAll(async () => {
  script = await bundleScript(new URL("views/server.ts", import.meta.url), "bad-inputs-views");
  overStdio = new ServerProcess(script, ["stdio", "hub"]);
  overHttp = new ServerProcess(script, ["http"]);
  await overHttp.until(() => overHttp.marks.length > 0);
  url = String(overHttp.marks[0]?.[1]);
});

afterAll(() => Promise.all([overStdio.kill(), overHttp.kill()]));

let lastId = 0;

const doors: readonly { readonly door: string; readonly ask: Ask; readonly server: () => ServerProcess }[] = [
  {
    door: "stdio",
    server: () => overStdio,
    ask: async (name, args) => {
      lastId += 1;
      const params = { name, arguments: args, _meta: envelope };
      const frame = await overStdio.request({ id: lastId, method: "tools/call", params });
      return frame?.message ?? {};
    },
  },
  {
    door: "HTTP",
    server: () => overHttp,
    ask: async (name, args) => {
      const answer = await fetch(`${url}?surface=hub`, modernPost("tools/call", { name, arguments: args }));
      return Object(await answer.json());
    },
  },
];

/** What a batch came to: the results, or what was said instead. */
function resultsOf(answer: Answer): unknown {
  const { structuredContent, ...rest } = Object(answer["result"]);
  return Object(structuredContent).results ?? rest;
}

function batchOf(length: number): object {
  return { calls: Array.from({ length }, (_, by) => ({ tool: "hub.echo", input: { by } })) };
}

function echoes(server: ServerProcess): number {
  return server.marks.filter(([name]) => name === "echo").length;
}

describe.each(doors)("a gateway over $door", ({ ask, server }) => {
  it.each([0, 51, 2000, 10_000])("refuses a batch before any of it runs when it has %d entries", async (length) => {
    const before = echoes(server());
    const answer = await ask("call", batchOf(length));
    // What holds so many values is refused as a message already, whatever it is for.
    const refusal = length > 2000 ? { error: { code: -32_602 } } : { result: { isError: true } };
    expect(answer).toMatchObject(refusal);
    expect(JSON.stringify(answer).length).toBeLessThan(4096);
    expect(echoes(server())).toBe(before);
  });

  it("answers a batch of 50, in its order", async () => {
    const results = Array.from({ length: 50 }, (_, by) => ({ success: true, result: { by } }));
    expect(resultsOf(await ask("call", batchOf(50)))).toEqual(results);
  });

  it.each<[string, unknown]>([
    ["it is no list", { calls: {} }],
    ["an entry is none", { calls: [null] }],
    ["an entry names nothing", { calls: [{ input: {} }] }],
    ["it has no calls", {}],
  ])("refuses a batch when %s", async (_, args) => {
    expect(JSON.stringify(await ask("call", Object(args)))).toContain("VALIDATION_ERROR");
  });

  it.each([
    "__proto__",
    "constructor",
    "hub.__proto__",
    "hub",
    "hub.",
    ".echo",
    "",
    "call",
    "a".repeat(10_000),
    "\u0000",
  ])("answers an entry as where there is nothing when it calls %j", async (tool) => {
    const results = resultsOf(
      await ask("call", {
        calls: [
          { tool, input: { by: 1 } },
          { tool: "hub.echo", input: { by: 2 } },
        ],
      }),
    );
    expect(results).toMatchObject([
      { success: false, error: { code: "OPERATION_NOT_FOUND" } },
      { success: true, result: { by: 2 } },
    ]);
    expect(JSON.stringify(results).length).toBeLessThan(1024);
  });

  it("ends operations that call each other for ever, with a sentence that says so", async () => {
    const before = server().marks.filter(([name]) => name === "loop").length;
    const text = JSON.stringify(await ask("call", { calls: [{ tool: "hub.loop" }] }));
    expect(text).toContain("CALL_DEPTH");
    expect(server().marks.filter(([name]) => name === "loop").length - before).toBeLessThanOrEqual(16);
    expect(resultsOf(await ask("call", batchOf(1)))).toEqual([{ success: true, result: { by: 0 } }]);
  });

  it("answers by the deadline when a handler ignores its abort, and drops what that says later", async () => {
    const results = resultsOf(
      await ask("call", { calls: [{ tool: "hub.deaf" }, { tool: "hub.echo", input: { by: 3 } }] }),
    );
    expect(results).toMatchObject([
      { success: false, error: { code: "TIMEOUT", details: { deadline: expect.any(Number) } } },
      { success: true, result: { by: 3 } },
    ]);
    const isOver = (): boolean => server().marks.some(([name, value]) => name === "deaf" && value === "over");
    expect(await server().until(isOver)).toBe(true);
    expect(resultsOf(await ask("call", batchOf(1)))).toEqual([{ success: true, result: { by: 0 } }]);
    expect(server().noise).toEqual([]);
  });

  it("finds nothing, and says so at once, when it is asked for words of any sort", async () => {
    for (const q of ["\u0000", "…", "((((", "a".repeat(100_000), "__proto__", "\ud800"]) {
      const answer = await ask("search", { q });
      expect(answer).toHaveProperty("result");
      expect(JSON.stringify(answer).length).toBeLessThan(4096);
    }
  });
});

/** A request, and the handshake of the legacy era. */
const handshakes: readonly RequestInit[] = [
  modernPost("server/discover"),
  {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "corpus", version: "1" } },
    }),
  },
];

describe("an address that names a view", () => {
  it.each<[string, string, readonly [number, number?]]>([
    ["a bad escape", "surface=%ZZ", [400, -32_602]],
    ["an escape that is cut off", "surface=readonly%2", [400, -32_602]],
    ["half of a character", "surface=%C3", [400, -32_602]],
    ["a character spelled longer than it is", "surface=%C0%AFx", [400, -32_602]],
    ["a null", "surface=readonly%00", [400, -32_602]],
    ["a line break", "surface=a%0d%0aMcp-Session-Id:%20x", [400, -32_602]],
    ["a project by a bad escape", "project=%", [400, -32_602]],
    ["10 kB", `surface=${"hub".repeat(3400)}`, [400, -32_602]],
    ["10 kB of escapes", `surface=${"%41".repeat(3400)}`, [400, -32_602]],
    ["a view twice, the first of them denied", "surface=locked&surface=hub", [400, -32_602]],
    ["a view twice, the second of them denied", "surface=hub&surface=locked", [400, -32_602]],
    ["a view behind an empty one", "surface=&surface=locked", [200, -32_603]],
    ["a view that is nobody's", "surface=nothing", [200, -32_603]],
    ["a prototype", "surface=__proto__", [200, -32_603]],
    ["a method of every object", "surface=toString", [200, -32_603]],
    ["a denied view by an escaped name", "%73urface=locked", [200, -32_603]],
    ["a thousand parameters", "x&".repeat(1000), [200]],
  ])("is answered, and opens nothing that it should not, when it has %s", async (_what, query, [status, code]) => {
    for (const handshake of handshakes) {
      const answer = await fetch(`${url}?${query}`, handshake);
      const text = await answer.text();
      expect([answer.status, Object(JSON.parse(text)).error?.code]).toEqual([status, code]);
      expect(answer.headers.has("mcp-session-id")).toBe(code === undefined && handshake === handshakes[1]);
      expect(text.length).toBeLessThan(4096);
      expect(text).not.toMatch(/hubhub|AAAA|%ZZ|nothing"|x-injected|at .*\.ts/);
    }
  });
});

describe("a server over stdio", () => {
  it("answers every request with why when its view is locked", async () => {
    const server = new ServerProcess(script, ["stdio", "locked"]);
    const error = { code: -32_603, message: "tool surface denied: it is locked" };
    for (const method of ["server/discover", "tools/list", "tools/call", "unknown/method"]) {
      const frame = await server.request({ id: method, method, params: { name: "hub_echo", _meta: envelope } });
      expect(frame?.message).toEqual({ jsonrpc: "2.0", id: method, error });
    }
    expect(server.noise).toEqual([]);
    await server.kill();
  });

  it.each(["nothing", "__proto__"])("does not start when its view is %s", async (surface) => {
    const server = new ServerProcess(script, ["stdio", surface]);
    expect(await server.end()).toBe(1);
    expect(server.frames).toEqual([]);
  });
});
