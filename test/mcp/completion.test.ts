import { afterEach, describe, expect, it, vi } from "vitest";
import type { Era } from "../../src/mcp/protocol.ts";
import { createFeaturesApp, tracks } from "./features-app.ts";
import { ConnectionHarness, type Sent } from "./connection-harness.ts";

const opened: ConnectionHarness[] = [];
afterEach(async () => {
  vi.useRealTimers();
  for (const harness of opened.splice(0)) await harness.close();
});

const ways = [{ era: "legacy" }, { era: "modern" }] as const;

interface Way {
  readonly era: Era;
}

async function open({ era }: Way, onFault: () => void = () => {}): Promise<(params: object) => Promise<Sent>> {
  const harness = await new ConnectionHarness(createFeaturesApp({ onFault }).open()).open(era);
  opened.push(harness);
  let id = 0;
  return async (params) => {
    id += 1;
    return harness.request(era, id, { method: "completion/complete", params });
  };
}

const ofPrompt = (name: string, argument: string, value: string): object => ({
  ref: { type: "ref/prompt", name },
  argument: { name: argument, value },
});
const ofResource = (uri: string, argument: string, value: string): object => ({
  ref: { type: "ref/resource", uri },
  argument: { name: argument, value },
});

function completionOf(answer: Sent): unknown {
  return Reflect.get(Object(answer["result"]), "completion");
}

const spellable = tracks.filter((key) => !key.includes(".."));

const none = { values: [], total: 0, hasMore: false };
const meter = "studio://meter/{side}/{peak}{/unit}";

describe.each(ways)("completion/complete, in the $era era", (way) => {
  it.each([
    ["the keys of a collection that a URI can spell", ofResource("studio://tracks/{key}", "key", ""), spellable],
    ["a key in either case", ofResource("studio://tracks/{key}", "key", "bA"), ["Bass", "ballad"]],
    ["an enum", ofResource(meter, "side", "r"), ["right"]],
    ["true and false", ofResource(meter, "peak", ""), ["true", "false"]],
    ["a prompt's enum", ofPrompt("review", "tone", "k"), ["kind", "keen"]],
    ["a prompt's argument that its author completes", ofPrompt("review", "track", "d"), ["drums"]],
  ])("proposes %s", async (_what, params, values) => {
    const complete = await open(way);
    expect(completionOf(await complete(params))).toEqual({ values, total: values.length, hasMore: false });
  });

  it("proposes at most 100, and says how many there are", async () => {
    const complete = await open(way);
    const all = completionOf(await complete(ofResource("studio://takes/{key}", "key", "")));
    expect(all).toMatchObject({ total: 250, hasMore: true });
    expect(Reflect.get(Object(all), "values")).toHaveLength(100);
    const some = completionOf(await complete(ofResource("studio://takes/{key}", "key", "24")));
    expect(some).toEqual({
      values: ["24", ...Array.from({ length: 10 }, (_, index) => `24${index}`)],
      total: 11,
      hasMore: false,
    });
  });

  it.each([
    ["no argument of that name is known", ofPrompt("review", "nope", "")],
    ["no variable of that name is known", ofResource(meter, "__proto__", "")],
    ["nobody can tell the values", ofResource(meter, "unit", "")],
    ["a fixed resource is referred to", ofResource("studio://tracks", "key", "")],
    ["a prompt without arguments is referred to", ofPrompt("hello", "a", "")],
    ["its completer throws", ofPrompt("broken", "any", "")],
    ["its completer returns no list", ofPrompt("broken", "junk", "")],
  ])("proposes nothing when %s", async (_when, params) => {
    const complete = await open(way);
    expect(completionOf(await complete(params))).toEqual(none);
  });

  it("reports a completer that throws, and sends the client no values", async () => {
    const onFault = vi.fn<() => void>();
    const complete = await open(way, onFault);
    expect(JSON.stringify(await complete(ofPrompt("broken", "any", "")))).not.toContain("secret");
    expect(onFault).toHaveBeenCalledOnce();
  });

  it("answers alike for an unknown reference, a hidden one and one of the wrong kind", async () => {
    const complete = await open(way);
    const answers = [
      await complete(ofPrompt("nope", "a", "")),
      await complete(ofPrompt("__proto__", "a", "")),
      await complete(ofPrompt("picture", "a", "")),
      await complete(ofResource("studio://vault/{key}", "key", "")),
      await complete(ofResource("studio://vault", "key", "")),
      await complete(ofResource("studio://tracks/{other}", "key", "")),
      await complete(ofResource("constructor", "key", "")),
    ];
    expect(new Set(answers.map(({ error }) => JSON.stringify(error))).size).toBe(1);
    expect(answers[0]).toHaveProperty("error.code", -32602);
  });

  it.each([
    {},
    { ref: null, argument: null },
    { ref: { type: "ref/prompt", name: "review" } },
    { ref: { type: "ref/prompt", name: 5 }, argument: { name: "tone", value: "" } },
    { ref: { type: "ref/tool", name: "review" }, argument: { name: "tone", value: "" } },
    { ref: { type: "ref/prompt", name: "review" }, argument: { name: "tone" } },
    { ref: { type: "ref/prompt", name: "review" }, argument: { name: "tone", value: 5 } },
    { ref: { type: "ref/prompt", name: "review" }, argument: { name: "tone", value: "" }, context: 5 },
    { ref: { type: "ref/prompt", name: "review" }, argument: { name: "tone", value: "" }, context: { arguments: [] } },
  ])("refuses %j", async (params) => {
    const complete = await open(way);
    // The SDK's own schema refuses some of them, in its own code.
    expect([-32602, -32603]).toContain(Reflect.get(Object((await complete(params))["error"]), "code"));
  });

  it("passes on the values of known arguments only", async () => {
    const complete = await open(way);
    const context = {
      arguments: { shelf: "low", nope: "x", constructor: "x", ["__proto__"]: "x", box: "b".repeat(8193) },
    };
    expect(completionOf(await complete({ ...ofPrompt("fetch", "box", ""), context }))).toMatchObject({
      values: ["low-1", "low-2", "undefined", "shelf"],
    });
    expect(completionOf(await complete({ ...ofResource("studio://bin/{shelf}/{box}", "box", "l"), context }))).toEqual({
      values: ["low-1"],
      total: 1,
      hasMore: false,
    });
  });

  it("passes on no values when a host sends none", async () => {
    const complete = await open(way);
    for (const more of [{}, { context: {} }, { context: { arguments: {} } }]) {
      const answer = await complete({ ...ofPrompt("fetch", "box", ""), ...more });
      expect(completionOf(answer)).toMatchObject({ values: ["undefined-1", "undefined-2", "undefined", ""] });
    }
  });

  it("returns no values at the deadline of a hanging completer, with one report", async () => {
    const onFault = vi.fn<() => void>();
    const complete = await open(way, onFault);
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    for (let asked = 0; asked < 2; asked += 1) {
      const answer = complete(ofPrompt("fetch", "shelf", ""));
      await vi.advanceTimersByTimeAsync(5010);
      vi.runAllTicks();
      expect(completionOf(await answer)).toEqual(none);
    }
    expect(onFault).toHaveBeenCalledOnce();
  });
});
