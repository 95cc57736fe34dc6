import { afterEach, describe, expect, it, vi } from "vitest";
import type { McpOptions } from "../../../src/index.ts";
import { isJsonObject, type JsonObject } from "../../../src/schema/json.ts";
import { envelope, handshake } from "../../fixtures/envelope.ts";
import { createAskingApp, type Begun } from "../asking-app.ts";
import { withoutChance } from "../differential-cases.ts";
import type { AppRuntime } from "../../../src/mcp/servable-app.ts";
import type { ClientHarness, Request, Sent } from "../client-harness.ts";
import { ConnectionHarness } from "../connection-harness.ts";
import { OracleHarness } from "../oracle/oracle-harness.ts";

const capable = { elicitation: {}, sampling: {}, roots: { listChanged: true } };
const accepted = (content: JsonObject): JsonObject => ({ action: "accept", content });
const ada = accepted({ name: "Ada" });

function partOf(value: unknown, key: string): JsonObject {
  const part = isJsonObject(value) ? value[key] : undefined;
  return isJsonObject(part) ? part : {};
}

/** A modern request of a client with these capabilities. */
function toModern(method: string, params: object, capabilities: object = capable): Request {
  const meta = { ...envelope, "io.modelcontextprotocol/clientCapabilities": capabilities };
  return { method, params: { _meta: meta, ...params } };
}

class Asked {
  readonly begun: Begun = new Map();
  readonly harness: ConnectionHarness;
  #id = 0;

  constructor(options: McpOptions = {}) {
    this.harness = new ConnectionHarness(createAskingApp(options, this.begun).open());
  }

  /** A modern request of a client that can do this. */
  modern(method: string, params: object, capabilities: object = capable): Promise<Sent> {
    this.#id += 1;
    return this.harness.request("modern", this.#id, toModern(method, params, capabilities));
  }

  async greetLegacy(capabilities: object = capable): Promise<this> {
    await this.harness.request("legacy", "open", { method: "initialize", params: { ...handshake, capabilities } });
    this.harness.gate.receive('{"jsonrpc":"2.0","method":"notifications/initialized"}');
    return this;
  }

  /** Waits for the next question, and takes it out of what was sent. */
  async question(): Promise<Sent> {
    const { harness } = this;
    const isQuestion = (sent: Sent): boolean => "method" in sent && "id" in sent;
    await harness.until(() => harness.sent.some(isQuestion));
    return harness.sent.splice(harness.sent.findIndex(isQuestion), 1)[0] ?? {};
  }

  respond(question: Sent, more: object): void {
    this.harness.gate.receive(JSON.stringify({ jsonrpc: "2.0", id: question["id"], ...more }));
  }
}

let open: Asked[] = [];
afterEach(async () => {
  for (const each of open) await each.harness.close();
  open = [];
});

function start(options: McpOptions = {}): Asked {
  const asked = new Asked(options);
  open.push(asked);
  return asked;
}

/** What a retry says besides what it said before. */
function retry({ result }: Sent, inputResponses: unknown = { who: ada }): object {
  return { requestState: isJsonObject(result) ? result["requestState"] : undefined, inputResponses };
}

const tooLate = expect.stringMatching(/^ASK_AFTER_CHANGE: .* ask first/);
const unusable = { code: -32602, message: expect.stringContaining('"requestState" is expired, already used') };
const greet = { name: "greet", arguments: { greeting: "Hi" } };

describe("asking in the modern era", () => {
  it("answers with the question, and its retry with the result", async () => {
    const asked = start();
    const first = await asked.modern("tools/call", greet);
    expect(first["result"]).toEqual({
      resultType: "input_required",
      inputRequests: {
        who: {
          method: "elicitation/create",
          params: {
            message: "Who are you?",
            requestedSchema: expect.objectContaining({ type: "object", required: ["name"] }),
          },
        },
      },
      requestState: expect.stringMatching(/^s2\./),
      _meta: { "io.modelcontextprotocol/serverInfo": expect.anything(), "asker/run": "r1" },
    });
    const second = await asked.modern("tools/call", { ...greet, ...retry(first) });
    expect(second["result"]).toMatchObject({
      resultType: "complete",
      structuredContent: { text: "Hi Ada" },
      _meta: { "asker/run": "r1" },
    });
    expect(asked.begun.get("greet")).toBe(2);
  });

  it.each([
    {
      name: "write",
      answers: { line: { role: "assistant", content: { type: "text", text: "Once" }, model: "m" } },
      said: { text: "Once" },
    },
    { name: "where", answers: { ".roots": { roots: [{ uri: "file:///a" }] } }, said: { roots: ["file:///a"] } },
    { name: "greet", answers: { who: { action: "decline" } }, said: { text: "decline" } },
    { name: "greet", answers: { who: { action: "cancel" } }, said: { text: "cancel" } },
  ])("passes the answer to $name: $answers", async ({ name, answers, said }) => {
    const asked = start();
    const first = await asked.modern("tools/call", { name });
    const second = await asked.modern("tools/call", { name, ...retry(first, answers) });
    expect(second["result"]).toMatchObject({ resultType: "complete", structuredContent: said });
  });

  it("takes no answer that comes after the question's time", async () => {
    const asked = start({ asking: { timeoutMs: { elicit: 1 } } });
    const first = await asked.modern("tools/call", greet);
    const begun = Date.now();
    await vi.waitUntil(() => Date.now() > begun + 1);
    const late = await asked.modern("tools/call", { ...greet, ...retry(first) });
    expect(late["error"]).toEqual(unusable);
    expect(asked.begun.get("greet")).toBe(1);
  });

  it("asks in as many rounds as it takes, each from the beginning of the handler", async () => {
    const asked = start();
    const first = await asked.modern("tools/call", { name: "rounds" });
    const second = await asked.modern("tools/call", { name: "rounds", ...retry(first, { first: ada }) });
    expect(Object.keys(partOf(second["result"], "inputRequests"))).toEqual(["second"]);
    const third = await asked.modern("tools/call", {
      name: "rounds",
      ...retry(second, { second: accepted({ sure: true }) }),
    });
    expect(third["result"]).toMatchObject({
      structuredContent: { tick: { ticks: 3 }, first: "accept", second: "accept" },
    });
    expect(asked.begun.get("tick")).toBe(3);
  });

  it("refuses to ask after a nested call that may have changed something, which ran once", async () => {
    const asked = start();
    const answer = await asked.modern("tools/call", { name: "late" });
    expect(answer["result"]).toMatchObject({ isError: true, content: [{ text: tooLate }] });
    expect(asked.begun.get("stamp")).toBe(1);
  });

  it("asks several questions at once, and again those without a valid answer", async () => {
    const asked = start();
    const first = await asked.modern("tools/call", { name: "several" });
    expect(Object.keys(partOf(first["result"], "inputRequests")).toSorted()).toEqual([".roots", "first", "second"]);
    const wrong = { first: ada, second: 5, ".roots": { method: "roots/list", result: { roots: [] } }, more: ada };
    const second = await asked.modern("tools/call", { name: "several", ...retry(first, wrong) });
    expect(Object.keys(partOf(second["result"], "inputRequests")).toSorted()).toEqual([".roots", "second"]);
    const rest = { second: { action: "decline" }, ".roots": { roots: [] } };
    const third = await asked.modern("tools/call", { name: "several", ...retry(second, rest) });
    expect(third["result"]).toMatchObject({ structuredContent: { first: "accept", second: "decline", roots: 0 } });
  });

  it.each([
    ["prompts/get", { name: "letter" }, { messages: [{ role: "user", content: { text: "Write to Ada" } }] }],
    ["resources/read", { uri: "surface://asker/desk" }, { contents: [{ text: '{"of":"Ada"}' }] }],
  ])("asks for %s %j too", async (method, params, result) => {
    const asked = start();
    const first = await asked.modern(method, params);
    expect(first["result"]).toMatchObject({ resultType: "input_required" });
    expect(first["result"]).not.toHaveProperty("ttlMs");
    expect((await asked.modern(method, { ...params, ...retry(first) }))["result"]).toMatchObject(result);
  });

  it("runs a call that needs consent only after consent to these arguments", async () => {
    const asked = start();
    const wipe = { name: "wipe", arguments: { disk: "sda" } };
    const first = await asked.modern("tools/call", wipe);
    expect(JSON.stringify(partOf(first["result"], "inputRequests"))).toMatch(/Wipe it all.*sda/);
    const [key = ""] = Object.keys(partOf(first["result"], "inputRequests"));
    const other = { name: "wipe", arguments: { disk: "sdb" } };
    const consent = { [key]: { action: "accept", content: {} } };
    expect(await asked.modern("tools/call", { ...other, ...retry(first, consent) })).toMatchObject({ error: unusable });
    expect(asked.begun.get("wipe")).toBeUndefined();
    const second = await asked.modern("tools/call", { ...wipe, ...retry(first, consent) });
    expect(second["result"]).toMatchObject({ structuredContent: { wiped: "sda" } });
    expect(await asked.modern("tools/call", { ...wipe, ...retry(first, consent) })).toMatchObject({ error: unusable });
    expect(asked.begun.get("wipe")).toBe(1);
  });

  it("answers -32021 without a question when the client did not declare elicitation", async () => {
    const asked = start();
    for (const capabilities of [{}, { sampling: {} }, { elicitation: { url: {} } }]) {
      const answer = await asked.modern("tools/call", greet, capabilities);
      expect(answer["error"]).toMatchObject({
        code: -32021,
        data: { requiredCapabilities: { elicitation: { form: {} } } },
      });
    }
    expect(await asked.modern("prompts/get", { name: "letter" }, {})).toHaveProperty("error.code", -32021);
    expect(await asked.modern("resources/read", { uri: "surface://asker/desk" }, {})).toHaveProperty(
      "error.code",
      -32021,
    );
    expect(await asked.modern("tools/call", { name: "write" }, { elicitation: {} })).toHaveProperty(
      "error.data.requiredCapabilities",
      { sampling: {} },
    );
  });

  it("refuses a state when it was used, cut, changed, is another tool's, or no text, and runs nothing", async () => {
    const asked = start();
    const first = await asked.modern("tools/call", greet);
    const { requestState } = partOf(first, "result");
    const state = typeof requestState === "string" ? requestState : "";
    const begun = asked.begun.get("greet");
    const middle = state.length >> 1;
    const flipped = `${state.slice(0, middle)}${state[middle] === "A" ? "B" : "A"}${state.slice(middle + 1)}`;
    const forged: unknown[] = [
      "",
      "s2.",
      state.slice(0, -1),
      `${state}A`,
      flipped,
      "x".repeat(100_000),
      5,
      null,
      {},
      [],
    ];
    for (const given of forged) {
      const answer = await asked.modern("tools/call", { ...greet, ...retry(first), requestState: given });
      expect(answer).toHaveProperty("error.code", -32602);
    }
    const others: [string, object][] = [
      ["tools/call", { name: "write" }],
      ["tools/call", { ...greet, arguments: { greeting: "Ho" } }],
      ["prompts/get", { name: "letter" }],
      ["resources/read", { uri: "surface://asker/desk" }],
    ];
    for (const [method, params] of others) {
      expect(await asked.modern(method, { ...params, ...retry(first) })).toMatchObject({ error: unusable });
    }
    expect(asked.begun.get("greet")).toBe(begun);
    expect(await asked.modern("tools/call", { ...greet, ...retry(first) })).toHaveProperty("result.structuredContent");
    expect(await asked.modern("tools/call", { ...greet, ...retry(first) })).toMatchObject({ error: unusable });
  });

  it.each([{ who: 12345 }, { who: null }, { who: [] }, {}])("asks again for the answer %j", async (inputResponses) => {
    const asked = start();
    const first = await asked.modern("tools/call", greet);
    expect((await asked.modern("tools/call", { ...greet, inputResponses }))["result"]).toMatchObject({
      resultType: "input_required",
    });
    const second = await asked.modern("tools/call", { ...greet, ...retry(first, inputResponses) });
    expect(second["result"]).toMatchObject({ resultType: "input_required" });
    expect((await asked.modern("tools/call", { ...greet, ...retry(second) }))["result"]).toMatchObject({
      structuredContent: { text: "Hi Ada" },
    });
  });

  it("reads only answers to its questions among thousands, and among names of every object", async () => {
    const asked = start();
    const first = await asked.modern("tools/call", greet);
    const many = Object.fromEntries(Array.from({ length: 9000 }, (_, index) => [`k${index}`, ""]));
    const own: object = JSON.parse('{"__proto__":{"who":{"action":"accept"}},"constructor":{},"toString":{}}');
    const answers = { ...many, ...own, who: ada };
    const second = await asked.modern("tools/call", { ...greet, ...retry(first, answers) });
    expect(second["result"]).toMatchObject({ structuredContent: { text: "Hi Ada" } });
  });

  it("takes no answer without a state", async () => {
    const asked = start();
    const answer = await asked.modern("tools/call", { ...greet, inputResponses: { who: ada } });
    expect(answer["result"]).toMatchObject({ resultType: "input_required" });
  });

  it("refuses content that does not fit the form, with a message for the caller", async () => {
    const asked = start();
    const first = await asked.modern("tools/call", greet);
    const second = await asked.modern("tools/call", { ...greet, ...retry(first, { who: accepted({ name: 5 }) }) });
    expect(second["result"]).toMatchObject({ isError: true, _meta: { "surface-mcp/error": { code: "ASK_FAILED" } } });
  });

  it("merges the _meta of an error, except for its own members", async () => {
    const asked = start();
    const answer = await asked.modern("tools/call", { name: "broken" });
    expect(answer["result"]).toMatchObject({
      isError: true,
      _meta: {
        "asker/run": "r2",
        "surface-mcp/error": { code: "INTERNAL" },
        "io.modelcontextprotocol/serverInfo": { name: "asker" },
      },
    });
    expect(JSON.stringify(answer)).not.toMatch(/secret|forged/);
  });

  it("carries the _meta of progress, and an author's error in blocks", async () => {
    const asked = start();
    const params = { name: "steps", _meta: { ...envelope, progressToken: 7 } };
    const answer = await asked.modern("tools/call", params);
    expect(answer["result"]).toMatchObject({ isError: true, content: [{ type: "text", text: "no" }] });
    const [report] = asked.harness.sent.filter(({ method }) => method === "notifications/progress");
    expect(report?.["params"]).toEqual({
      progressToken: 7,
      progress: 1,
      message: "one",
      _meta: { "asker/tokens": 12 },
    });
  });
});

describe("asking in the legacy era", () => {
  const call = (asked: Asked, params: object, id: number | string = 1): Promise<Sent> =>
    asked.harness.request("legacy", id, { method: "tools/call", params });

  it("takes its question back when the client has not answered in time, and drops a late answer", async () => {
    const asked = await start({ asking: { timeoutMs: { elicit: 20 } } }).greetLegacy();
    const answer = call(asked, greet);
    const question = await asked.question();
    expect(await answer).toMatchObject({
      result: {
        isError: true,
        content: [{ text: 'ASK_TIMEOUT: the client did not answer the form "who" within 20 ms' }],
      },
    });
    expect(asked.harness.sent).toContainEqual(
      expect.objectContaining({
        method: "notifications/cancelled",
        params: { requestId: question["id"], reason: "no answer in time" },
      }),
    );
    const { length } = asked.harness.sent;
    asked.respond(question, { result: ada });
    expect(asked.harness.sent).toHaveLength(length);
  });

  it("sends the question while the call runs, and goes on with the answer", async () => {
    const asked = await start().greetLegacy();
    const answer = call(asked, greet);
    const question = await asked.question();
    expect(question).toMatchObject({ method: "elicitation/create", params: { message: "Who are you?" } });
    expect(question["params"]).not.toHaveProperty("mode");
    asked.respond(question, { result: ada });
    expect((await answer)["result"]).toMatchObject({
      structuredContent: { text: "Hi Ada" },
      _meta: { "asker/run": "r1" },
    });
    expect(asked.begun.get("greet")).toBe(1);
    asked.respond(question, { result: ada });
  });

  it("refuses to ask after a nested call that may have changed something, and sends nothing", async () => {
    const asked = await start().greetLegacy();
    const answer = await call(asked, { name: "late" });
    expect(answer["result"]).toMatchObject({ isError: true, content: [{ text: tooLate }] });
    expect(asked.begun.get("stamp")).toBe(1);
    expect(asked.harness.sent.filter((sent) => "method" in sent && "id" in sent)).toEqual([]);
  });

  it("ignores parameters of the modern era", async () => {
    const asked = await start().greetLegacy();
    const answer = call(asked, { ...greet, requestState: "s1.forged", inputResponses: { who: ada } });
    asked.respond(await asked.question(), { result: { action: "decline" } });
    expect((await answer)["result"]).toMatchObject({ structuredContent: { text: "decline" } });
  });

  it("refuses without a question when the client did not declare elicitation", async () => {
    const asked = await start().greetLegacy({ sampling: {} });
    asked.harness.sent.length = 0;
    expect((await call(asked, greet))["result"]).toMatchObject({
      isError: true,
      _meta: { "surface-mcp/error": { code: "CLIENT_CANNOT" } },
    });
    expect(asked.harness.sent).toHaveLength(1);
  });

  it("asks where the user works once, and again when that has changed (D12)", async () => {
    const asked = await start().greetLegacy();
    const first = call(asked, { name: "where" }, 1);
    asked.respond(await asked.question(), { result: { roots: [{ uri: "file:///a" }] } });
    await first;
    expect((await call(asked, { name: "where" }, 2))["result"]).toMatchObject({
      structuredContent: { roots: ["file:///a"] },
    });
    asked.harness.gate.receive('{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}');
    const third = call(asked, { name: "where" }, 3);
    asked.respond(await asked.question(), { result: { roots: [{ uri: "file:///b" }] } });
    expect((await third)["result"]).toMatchObject({ structuredContent: { roots: ["file:///b"] } });
  });

  it("answers nothing after a cancellation during a question, and ignores a late answer", async () => {
    const asked = await start().greetLegacy();
    void call(asked, greet);
    const question = await asked.question();
    asked.harness.sent.length = 0;
    const params = { requestId: 1 };
    asked.harness.gate.receive(JSON.stringify({ jsonrpc: "2.0", method: "notifications/cancelled", params }));
    await asked.harness.until(() => asked.harness.sent.length > 0);
    asked.respond(question, { result: ada });
    expect((await call(asked, { name: "tick" }, 2))["result"]).toBeDefined();
    expect(asked.harness.sent).toMatchObject([
      { method: "notifications/cancelled", params: { requestId: question["id"] } },
      { id: 2 },
    ]);
  });

  it("accepts only answers to its own questions", async () => {
    const asked = await start().greetLegacy();
    const answer = call(asked, greet);
    const question = await asked.question();
    for (const id of [0, 1, "1", null, {}, `${String(question["id"])}x`]) {
      asked.harness.gate.receive(JSON.stringify({ jsonrpc: "2.0", id, result: accepted({ name: "Eve" }) }));
    }
    // With a method it is a request, whatever else it says.
    asked.respond(question, { method: "tools/list", result: accepted({ name: "Eve" }) });
    await asked.harness.until(() => asked.harness.answers(question["id"]).length > 0);
    asked.respond(question, { error: { code: -1, message: "secret reason" } });
    asked.respond(question, { result: ada });
    const said = await answer;
    expect(said["result"]).toMatchObject({ isError: true, _meta: { "surface-mcp/error": { code: "ASK_FAILED" } } });
    expect(JSON.stringify(said)).not.toContain("secret");
  });

  it("refuses an oversized answer at once", async () => {
    const asked = await start().greetLegacy();
    const answer = call(asked, greet);
    asked.respond(await asked.question(), {
      result: accepted({ name: "Ada", more: Array.from({ length: 20_000 }, () => 1) }),
    });
    expect((await answer)["result"]).toMatchObject({ _meta: { "surface-mcp/error": { code: "ASK_FAILED" } } });
  });

  it("keeps questions while the output is full", async () => {
    const asked = await start().greetLegacy();
    const { harness } = asked;
    const first = call(asked, greet, 1);
    const question = await asked.question();
    harness.gate.setOutputFull(true);
    const second = call(asked, { name: "rounds" }, 2);
    asked.respond(question, { result: ada });
    await first;
    expect(harness.sent.filter((sent) => "method" in sent)).toEqual([]);
    harness.gate.setOutputFull(false);
    asked.respond(await asked.question(), { result: ada });
    asked.respond(await asked.question(), { result: accepted({ sure: true }) });
    expect((await second)["result"]).toMatchObject({ structuredContent: { second: "accept" } });
  });

  it("ends its questions with the connection", async () => {
    const asked = await start().greetLegacy();
    void call(asked, greet);
    await asked.question();
    asked.harness.sent.length = 0;
    await asked.harness.close();
    expect(asked.harness.sent).toEqual([]);
  });
});

describe("asking in the modern era, unlike the SDK, which drops answers that are no object,", () => {
  it.each([12345, null, "who", []])("answers -32602, and uses nothing up, when the answers are %j", async (wrong) => {
    const asked = start();
    const first = await asked.modern("tools/call", greet);
    const refused = { error: { code: -32602, message: expect.stringContaining("inputResponses") } };
    expect(await asked.modern("tools/call", { ...greet, inputResponses: wrong })).toMatchObject(refused);
    expect(await asked.modern("tools/call", { ...greet, ...retry(first, wrong) })).toMatchObject(refused);
    expect((await asked.modern("tools/call", { ...greet, ...retry(first) }))["result"]).toMatchObject({
      structuredContent: { text: "Hi Ada" },
    });
  });
});

describe("questions over our connection and the SDK's", () => {
  const steps: readonly (readonly [method: string, params: object, answers: readonly unknown[]])[] = [
    ["tools/call", greet, [{ who: ada }]],
    ["tools/call", { name: "several" }, [{ first: ada }, { second: ada, ".roots": { roots: [] } }]],
    ["tools/call", { name: "rounds" }, [{ first: ada }, {}, { second: { action: "cancel" } }]],
    ["tools/call", { name: "wipe", arguments: { disk: "a" } }, [{}]],
    ["prompts/get", { name: "letter" }, [{ who: { action: "decline" } }]],
    ["resources/read", { uri: "surface://asker/desk" }, [{ who: ada }]],
  ];

  it.each(steps)("give the same answers to %s %j, each time", async (method, params, answers) => {
    const say = async (harness: ClientHarness): Promise<unknown> => {
      const all = [await harness.request("modern", 1, toModern(method, params))];
      for (const [at, given] of answers.entries()) {
        const again = { ...params, ...retry(all.at(-1) ?? {}, given) };
        all.push(await harness.request("modern", 2 + at, toModern(method, again)));
      }
      all.push(await harness.request("modern", "last", toModern(method, params, {})));
      await harness.close();
      return withoutChance(JSON.parse(JSON.stringify(all).replaceAll(/s2\.[\w-]+|confirm\.[\w-]+/g, "sealed")));
    };
    const create = (): AppRuntime => createAskingApp({}, new Map()).open();
    expect(await say(new ConnectionHarness(create()))).toEqual(await say(new OracleHarness(create())));
  });
});
