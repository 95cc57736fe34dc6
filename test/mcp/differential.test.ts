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
import { createHostileApp } from "../fixtures/hostile.ts";
import { envelope, handshake, legacyLine, modernLine } from "../fixtures/envelope.ts";
import { alike, asks, errorOf, withoutChance } from "./differential-cases.ts";
import { asksOf, keptOut, letIn, toCaller, viewAsks, type Coming } from "./differential-views-cases.ts";
import { GateHarness, type Sent } from "./gate-harness.ts";
import { createViewsApp } from "./views-app.ts";

/** fast-check knows the name, and makes keys of it. */
function withoutProto(given: object): boolean {
  return !JSON.stringify(given).includes('"__proto__":');
}

describe.each<Era>(["legacy", "modern"])("the hot path and the SDK's path, in the %s era", (era) => {
  let hot: GateHarness;
  let sdk: GateHarness;
  const write = (id: number, method: string, params?: object): string =>
    era === "modern" ? modernLine(id, method, params) : legacyLine(id, method, params);

  beforeAll(async () => {
    const open = (hotPath: boolean): Promise<GateHarness> =>
      new GateHarness(createHostileApp({ hotPath, pageSize: 7, onFault: () => {} }).open()).open(era);
    [hot, sdk] = await Promise.all([open(true), open(false)]);
  });
  afterAll(() => Promise.all([hot.close(), sdk.close()]));

  let lastId = 0;
  async function both(method: string, params?: object): Promise<readonly [hot: Sent, sdk: Sent]> {
    lastId += 1;
    const ask = params === undefined ? { method } : { method, params };
    return Promise.all([hot.request(era, lastId, ask), sdk.request(era, lastId, ask)]);
  }

  it.each(asks)("give the same answer to %s", async (_name, method, params) => {
    const [ours, theirs] = await both(method, params);
    expect(withoutChance(ours)).toEqual(alike(ours, theirs));
  });

  it("differ in what becomes of a key that is named __proto__, and neither hands it on", async () => {
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
    expect(ours).toEqual(theirs);
    const stamps = era === "modern" ? ["_meta", "cacheScope", "resultType", "ttlMs"] : [];
    expect(Object.keys(Object(ours["result"])).toSorted()).toEqual([...stamps, "nextCursor", "tools"].toSorted());
  });

  it("give the same pages under the same cursors", async () => {
    const names: unknown[] = [];
    let cursor: unknown;
    do {
      const [ours, theirs] = await both("tools/list", cursor === undefined ? {} : { cursor });
      expect(ours).toEqual(theirs);
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
    expect(withoutChance(reports[0])).toEqual(withoutChance(reports[1]));
  });

  it("answer nothing to a request that was cancelled, and leave its id free", async () => {
    for (const harness of [hot, sdk]) {
      harness.sent.length = 0;
      harness.gate.receive(write(900, "tools/call", { name: "slow", arguments: { ms: 60_000 } }));
      harness.gate.receive('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":900}}');
      const answer = await harness.request(era, 900, {
        method: "tools/call",
        params: { name: "echo", arguments: { text: "again" } },
      });
      expect(answer["result"]).toMatchObject({ structuredContent: { text: "again" } });
      expect(harness.answers(900)).toHaveLength(1);
    }
  });

  it("refuse an id that is in use, and still answer the first", async () => {
    for (const harness of [hot, sdk]) {
      harness.sent.length = 0;
      const line = write(901, "tools/call", { name: "slow", arguments: { ms: 20 } });
      harness.gate.receive(line);
      harness.gate.receive(line);
      await harness.until(() => harness.answers(901).length === 2);
      expect(harness.answers(901).map(errorOf)).toEqual([{ code: -32600 }, undefined]);
    }
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
        expect(withoutChance(ours)).toEqual(alike(ours, theirs));
      }),
      { numRuns: 300 },
    );
  });
});

describe.each<Era>(["legacy", "modern"])("the hot path and the SDK's path by views, in the %s era", (era) => {
  async function withBoth(coming: Coming, use: (pair: readonly GateHarness[]) => Promise<void>): Promise<void> {
    const pair = [true, false].map((hotPath) => new GateHarness(createViewsApp({ hotPath }).open(), toCaller(coming)));
    await use(pair);
    await Promise.all(pair.map((each) => each.close()));
  }

  const greeting = era === "legacy" ? { method: "initialize", params: handshake } : { method: "server/discover" };
  const asked = era === "legacy" ? [["resources/subscribe", { uri: "surface://ci/secrets" }] as const] : [];

  it.each(letIn)("give the same answers to $who by the view $surface", async (coming) => {
    await withBoth(coming, async (pair) => {
      const greeted = await Promise.all(pair.map((each) => each.request(era, "greeting", greeting)));
      expect(greeted[0]).toEqual(greeted[1]);
      await Promise.all(pair.map((each) => each.open(era)));
      for (const [id, [method, params]] of [...viewAsks, ...asked].entries()) {
        const [ours = {}, theirs = {}] = await Promise.all(
          pair.map((each) => each.request(era, id, { method, params })),
        );
        expect(withoutChance(ours), `${method} ${JSON.stringify(params)}`).toEqual(alike(ours, theirs));
      }
    });
  });

  it.each(keptOut)("keep $who out alike by the view $surface", async (coming) => {
    await withBoth(coming, async (pair) => {
      for (const each of pair) expect(await each.request(era, "in", greeting)).toHaveProperty("error.code", -32603);
      for (const [id, ask] of [greeting, ...viewAsks.map(([method, params]) => ({ method, params }))].entries()) {
        const [ours, theirs] = await Promise.all(pair.map((each) => each.request(era, id, ask)));
        expect(ours).toEqual(theirs);
        expect(ours).toHaveProperty("error.message");
      }
    });
  });

  it("say of what a view hides what they say of what never was", async () => {
    await withBoth({ who: "anybody", surface: "readonly" }, async (pair) => {
      await Promise.all(pair.map((each) => each.open(era)));
      for (const each of pair) {
        const answersTo = async (named: ReturnType<typeof asksOf>, name: RegExp): Promise<readonly string[]> => {
          const answers = [];
          for (const [id, [method, params]] of named.entries()) {
            answers.push(JSON.stringify(await each.request(era, id, { method, params })).replaceAll(name, "NAME"));
          }
          return answers;
        };
        const hidden = await answersTo(asksOf("note", "plan", "secrets"), /\b(?:note|plan|secrets)\b/g);
        expect(hidden).toEqual(await answersTo(asksOf("nope", "nope", "nope"), /\bnope\b/g));
      }
    });
  });
});

describe("the hot path and the SDK's path, in how they introduce themselves", () => {
  const versions = ["2025-11-25", "2025-06-18", "2024-11-05", "2026-07-28", "1900-01-01", ""];

  it.each(versions)('give the same answer to initialize with "%s"', async (protocolVersion) => {
    const answers = [];
    for (const hotPath of [true, false]) {
      const harness = new GateHarness(createHostileApp({ hotPath, title: "Hostile" }).open());
      const params = { ...handshake, protocolVersion };
      answers.push(await harness.request("legacy", 1, { method: "initialize", params }));
      await harness.close();
    }
    // The SDK sends titles to clients of versions that have none.
    const [hot, sdk] = answers;
    if (protocolVersion === "2024-11-05") Reflect.deleteProperty(Object(Object(sdk?.["result"]).serverInfo), "title");
    expect(hot).toEqual(sdk);
    expect(hot?.["result"]).toBeDefined();
  });

  it("give the same answer to server/discover", async () => {
    const answers = [];
    for (const hotPath of [true, false]) {
      const harness = new GateHarness(createHostileApp({ hotPath, title: "Hostile" }).open());
      answers.push(await harness.request("modern", 1, { method: "server/discover" }));
      await harness.close();
    }
    expect(answers[0]).toEqual(answers[1]);
    expect(answers[0]?.["result"]).toBeDefined();
  });
});
