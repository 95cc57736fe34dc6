import {
  array,
  assert,
  asyncProperty,
  boolean,
  constant,
  constantFrom,
  dictionary,
  double,
  jsonValue,
  oneof,
  record,
  string,
  type Arbitrary,
} from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Era } from "../../src/mcp/protocol.ts";
import type { AppRuntime } from "../../src/mcp/servable-app.ts";
import { createHostileApp } from "../fixtures/hostile.ts";
import { envelope, handshake } from "../fixtures/envelope.ts";
import { alike, asks, errorOf, knownTo, versions, withoutChance } from "./differential-cases.ts";
import { letIn, toCaller, viewAsks } from "./differential-views-cases.ts";
import type { ClientHarness, Sent } from "./client-harness.ts";
import { ConnectionHarness } from "./connection-harness.ts";
import { OracleHarness } from "./oracle/oracle-harness.ts";
import { createViewsApp } from "./views-app.ts";
import { draws } from "../setup/test-length.ts";

/** fast-check knows the name, and makes keys of it. */
function withoutProto(given: object): boolean {
  return !JSON.stringify(given).includes('"__proto__":');
}

/** Methods that no handler serves: some of other roles or drafts, some that never were. */
const unknownMethods: readonly string[] = [
  "nope/nothing",
  "tools",
  "tools/call/",
  "TOOLS/LIST",
  "",
  "toString",
  "__proto__",
  "tasks/get",
  "tasks/list",
  "tasks/result",
  "tasks/cancel",
  "sampling/createMessage",
  "elicitation/create",
  "roots/list",
  "prompts/list",
  "prompts/get",
];

/** Methods that the other era serves. */
const otherEra: Readonly<Record<Era, readonly string[]>> = {
  legacy: ["server/discover", "subscriptions/listen"],
  modern: ["ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe", "initialize"],
};

describe.each(versions)("our server and the SDK's, with %s", (version, era) => {
  let hot: ClientHarness;
  let sdk: ClientHarness;

  beforeAll(async () => {
    const create = (): AppRuntime => createHostileApp({ pageSize: 7, onFault: () => {} }).open();
    [hot, sdk] = await Promise.all([
      new ConnectionHarness(create()).open(era, version),
      new OracleHarness(create()).open(era, version),
    ]);
  });
  afterAll(() => Promise.all([hot.close(), sdk.close()]));

  let lastId = 0;
  async function both(method: string, params?: object): Promise<readonly [ours: Sent, theirs: Sent]> {
    lastId += 1;
    const ask = params === undefined ? { method } : { method, params };
    return Promise.all([hot.request(era, lastId, ask), sdk.request(era, lastId, ask)]);
  }

  it.each(asks)("give the same answer to %s", async (_name, method, params) => {
    const [ours, theirs] = await both(method, params);
    expect(withoutChance(ours)).toEqual(knownTo(version, alike(ours, theirs)));
  });

  it("treat a key named __proto__ differently, and neither passes it on", async () => {
    const given: object = JSON.parse('{"name":"echo","arguments":{"text":"a","__proto__":{"isAdmin":true}}}');
    const [ours, theirs] = await both("tools/call", given);
    expect(ours["result"]).toMatchObject({ isError: true });
    expect(theirs["result"]).toMatchObject({ structuredContent: { text: "a" } });
  });

  it("say that a resource is not there in the code of the era", async () => {
    const code = era === "legacy" ? -32002 : -32602;
    for (const answer of await both("resources/read", { uri: "app://nope" })) expect(errorOf(answer)).toEqual({ code });
  });

  it("stamp results alike, and only in the modern era", async () => {
    const [ours, theirs] = await both("tools/list");
    expect(ours).toEqual(knownTo(version, theirs));
    const stamps = era === "modern" ? ["_meta", "cacheScope", "resultType", "ttlMs"] : [];
    expect(Object.keys(Object(ours["result"])).toSorted()).toEqual([...stamps, "nextCursor", "tools"].toSorted());
  });

  it("give the same pages under the same cursors", async () => {
    const names: unknown[] = [];
    let cursor: unknown;
    do {
      const [ours, theirs] = await both("tools/list", cursor === undefined ? {} : { cursor });
      expect(ours).toEqual(knownTo(version, theirs));
      const result = Object(ours["result"]);
      names.push(...result["tools"].map((tool: { name: string }) => tool.name));
      cursor = result["nextCursor"];
    } while (cursor !== undefined);
    expect(new Set(names).size).toBe(16);
  });

  it("report progress alike", async () => {
    const reports = await Promise.all(
      [hot, sdk].map(async (harness) => {
        harness.sent.length = 0;
        const meta = { ...(era === "modern" ? envelope : {}), progressToken: "token" };
        await harness.request(era, "progress", {
          method: "tools/call",
          params: { name: "slow", arguments: { ms: 5 }, _meta: meta },
        });
        return harness.sent;
      }),
    );
    expect(withoutChance(reports[0])).toEqual(knownTo(version, withoutChance(reports[1])));
  });

  it.each(unknownMethods)("answer -32601 to %s", async (method) => {
    for (const params of [undefined, { name: "a", uri: "app://state" }]) {
      const [ours, theirs] = await both(method, params);
      expect(ours).toEqual(theirs);
      expect(ours["error"]).toEqual({ code: -32601, message: "Method not found" });
    }
  });

  it.each(otherEra[era])("answer -32601 to %s, which only the other era has", async (method) => {
    const [ours, theirs] = await both(method, {});
    expect(ours).toEqual(theirs);
    expect(ours["error"]).toEqual({ code: -32601, message: "Method not found" });
  });

  const names = ["echo", "sum", "pick", "big", "any", "whoami", "routed", "nope", "__proto__", "toString"];
  const oddities = oneof(string({ unit: "binary" }), double(), boolean(), constant(null));
  const keys = constantFrom("text", "values", "n", "v", "region", "more", "constructor");
  const args = oneof({ weight: 4, arbitrary: dictionary(keys, jsonValue({ maxDepth: 2 })) }, oddities);
  const calls = record(
    { name: oneof({ weight: 4, arbitrary: constantFrom(...names) }, oddities), arguments: args },
    { requiredKeys: [] },
  );
  const uriParts = oneof(
    constantFrom("app://", "state", "items", "log", "secrets", "/", "a", "..", "%2e", "%", "%2F", "?x", "#y", "é"),
    string({ maxLength: 3 }),
  );
  const reads = record(
    {
      uri: oneof(
        { weight: 4, arbitrary: array(uriParts, { maxLength: 5 }).map((parts) => `app://${parts.join("")}`) },
        oddities,
      ),
    },
    { requiredKeys: [] },
  );
  const lists = record({ cursor: oddities }, { requiredKeys: [] });

  const generated: readonly (readonly [method: string, params: Arbitrary<object>])[] = [
    ["tools/call", calls],
    ["resources/read", reads],
    ["tools/list", lists],
  ];

  it.each(generated)("give the same answer to any params of %s", { timeout: 60_000 }, async (method, params) => {
    await assert(
      asyncProperty<[object]>(params.filter(withoutProto), async (given) => {
        const [ours, theirs] = await both(method, given);
        expect(withoutChance(ours)).toEqual(knownTo(version, alike(ours, theirs)));
      }),
      { numRuns: version < "2025-06-18" ? draws(25, 50) : draws(80, 300) },
    );
  });
});

describe.each<Era>(["legacy", "modern"])("our server and the SDK's by views, in the %s era", (era) => {
  const greeting = era === "legacy" ? { method: "initialize", params: handshake } : { method: "server/discover" };

  it.each(letIn)("give the same answers to $who by the view $surface", async (coming) => {
    const caller = toCaller(coming);
    const [hot, sdk] = [
      new ConnectionHarness(createViewsApp().open(), caller),
      new OracleHarness(createViewsApp().open(), caller),
    ] as const;
    expect(await hot.request(era, "greeting", greeting)).toEqual(await sdk.request(era, "greeting", greeting));
    if (era === "legacy") sdk.receive('{"jsonrpc":"2.0","method":"notifications/initialized"}');
    for (const [id, [method, params]] of viewAsks.entries()) {
      const [ours, theirs] = await Promise.all([hot, sdk].map((each) => each.request(era, id, { method, params })));
      expect(withoutChance(ours), `${method} ${JSON.stringify(params)}`).toEqual(alike(ours ?? {}, theirs ?? {}));
    }
    await Promise.all([hot, sdk].map((each) => each.close()));
  });
});

describe("server information of ours and the SDK's", () => {
  const create = (): readonly ClientHarness[] => [
    new ConnectionHarness(createHostileApp({ title: "Hostile" }).open()),
    new OracleHarness(createHostileApp({ title: "Hostile" }).open()),
  ];

  it.each(["2025-11-25", "2025-06-18", "2024-11-05", "2026-07-28", "1900-01-01", ""])(
    'give the same answer to initialize with "%s"',
    async (protocolVersion) => {
      const answers = [];
      for (const harness of create()) {
        const params = { ...handshake, protocolVersion };
        answers.push(await harness.request("legacy", 1, { method: "initialize", params }));
        await harness.close();
      }
      // The SDK sends titles to clients of versions that have none.
      const [hot, sdk] = answers;
      if (protocolVersion === "2024-11-05") Reflect.deleteProperty(Object(Object(sdk?.["result"]).serverInfo), "title");
      expect(hot).toEqual(sdk);
      expect(hot?.["result"]).toBeDefined();
    },
  );

  it("give the same answer to server/discover", async () => {
    const answers = [];
    for (const harness of create()) {
      answers.push(await harness.request("modern", 1, { method: "server/discover" }));
      await harness.close();
    }
    expect(answers[0]).toEqual(answers[1]);
    expect(answers[0]?.["result"]).toBeDefined();
  });
});
