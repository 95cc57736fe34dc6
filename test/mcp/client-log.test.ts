import { afterEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { defineSurface, mcp } from "../../src/index.ts";
import type { Era } from "../../src/mcp/protocol.ts";
import { envelope } from "../fixtures/envelope.ts";
import { ConnectionHarness, type Sent } from "./connection-harness.ts";

const knot: { self?: object } = {};
knot.self = knot;

let release: () => void = () => {};

const levels = z.enum(["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]);

function createApp() {
  let later: (() => void) | undefined;
  return mcp(defineSurface("talker", {}), { onFault: () => {} })
    .implement({})
    .tools({
      say: {
        input: z.object({ levels: z.array(levels) }),
        handler: (args, { log }) => {
          for (const level of args.levels) log(level, { at: level }, "talker");
          return args.levels.length;
        },
      },
      odd: {
        handler: (_args, { log }) => {
          log("error", knot);
          log("error", undefined);
          log("error", "a\ud800");
          log("error", "ü".repeat(40_000), "l".repeat(1000));
          log("error", "ü".repeat(32_000));
          return null;
        },
      },
      hold: {
        handler: async (_args, { log }) => {
          await new Promise<void>((resolve) => (release = resolve));
          log("error", "into a full output");
          return null;
        },
      },
      late: {
        handler: (_args, { log }) => {
          later = () => log("error", "after the answer");
          return null;
        },
      },
      tell: {
        handler: () => {
          later?.();
          return null;
        },
      },
    });
}

const opened: ConnectionHarness[] = [];
afterEach(async () => {
  for (const harness of opened.splice(0)) await harness.close();
});

async function open(era: Era): Promise<ConnectionHarness> {
  const harness = new ConnectionHarness(createApp().open());
  opened.push(harness);
  return harness.open(era);
}

function linesOf(sent: readonly Sent[]): readonly unknown[] {
  return sent.filter(({ method }) => method === "notifications/message").map(({ params }) => params);
}

function modernCall(name: string, args: object, logLevel?: string): { method: string; params: object } {
  const meta = logLevel === undefined ? envelope : { ...envelope, "io.modelcontextprotocol/logLevel": logLevel };
  return { method: "tools/call", params: { name, arguments: args, _meta: meta } };
}

const everything = { levels: levels.options };

describe("the client's log", () => {
  it("sends messages from info on to a legacy client that has set no level", async () => {
    const harness = await open("legacy");
    await harness.request("legacy", 1, { method: "tools/call", params: { name: "say", arguments: everything } });
    const expected = levels.options.slice(1).map((level) => ({ level, logger: "talker", data: { at: level } }));
    expect(linesOf(harness.sent)).toEqual(expected);
    // The answer comes last.
    expect(harness.sent.at(-1)).toHaveProperty("id", 1);
  });

  it.each(levels.options)("sends messages from %s on to a legacy client that has set it", async (level) => {
    const harness = await open("legacy");
    expect(await harness.request("legacy", 1, { method: "logging/setLevel", params: { level } })).toHaveProperty(
      "result",
      {},
    );
    await harness.request("legacy", 2, { method: "tools/call", params: { name: "say", arguments: everything } });
    const heard = linesOf(harness.sent).map((line) => Reflect.get(Object(line), "level"));
    expect(heard).toEqual(levels.options.slice(levels.options.indexOf(level)));
  });

  it.each([{}, { level: "loud" }, { level: 3 }, { level: null }, { level: "constructor" }])(
    "refuses the level %j, and keeps the current one",
    async (params) => {
      const harness = await open("legacy");
      await harness.request("legacy", 1, { method: "logging/setLevel", params: { level: "alert" } });
      const answer = await harness.request("legacy", 2, { method: "logging/setLevel", params });
      expect(answer).toHaveProperty("error.code", -32602);
      await harness.request("legacy", 3, { method: "tools/call", params: { name: "say", arguments: everything } });
      expect(linesOf(harness.sent)).toHaveLength(2);
    },
  );

  it("sends messages to a modern client only under a request with a level, from that on", async () => {
    const harness = await open("modern");
    await harness.request("modern", 1, modernCall("say", everything));
    expect(linesOf(harness.sent)).toEqual([]);
    await harness.request("modern", 2, modernCall("say", everything, "critical"));
    expect(linesOf(harness.sent)).toHaveLength(3);
    await harness.request("modern", 3, modernCall("say", everything));
    expect(linesOf(harness.sent)).toHaveLength(3);
    expect(harness.sent.at(-1)).toHaveProperty("id", 3);
  });

  it("knows no logging/setLevel when the client is modern", async () => {
    const harness = await open("modern");
    const answer = await harness.request("modern", 1, { method: "logging/setLevel", params: { level: "debug" } });
    expect(answer).toHaveProperty("error.code", -32601);
  });

  it("writes any data so that every parser takes it, and bounds it", async () => {
    const harness = await open("modern");
    await harness.request("modern", 1, modernCall("odd", {}, "debug"));
    const [cycle, nothing, half, large, fits] = linesOf(harness.sent);
    expect(cycle).toEqual({ level: "error", data: "(what was logged is no JSON)" });
    expect(nothing).toEqual({ level: "error", data: null });
    expect(half).toEqual({ level: "error", data: "a\ufffd" });
    expect(large).toMatchObject({ data: { truncated: true, bytes: 80_002 } });
    expect(JSON.stringify(large).length).toBeLessThan(8192);
    expect(fits).toEqual({ level: "error", data: "ü".repeat(32_000) });
  });

  it("says nothing for a call that was answered", async () => {
    const harness = await open("modern");
    await harness.request("modern", 1, modernCall("late", {}, "debug"));
    await harness.request("modern", 2, modernCall("tell", {}, "debug"));
    expect(linesOf(harness.sent)).toEqual([]);
  });

  it("drops lines while the output is full", async () => {
    const harness = await open("legacy");
    const answering = harness.request("legacy", 1, { method: "tools/call", params: { name: "hold" } });
    // It runs before a further call does, whose answer says that it does.
    await harness.request("legacy", 2, { method: "tools/call", params: { name: "say", arguments: { levels: [] } } });
    harness.gate.setOutputFull(true);
    release();
    await answering;
    expect(linesOf(harness.sent)).toEqual([]);
  });

  it("is promised when there is a tool that could tell it, and not otherwise", async () => {
    for (const [runtime, capability] of [
      [createApp().open(), {}],
      [mcp(defineSurface("silent", {})).implement({}).open(), undefined],
    ] as const) {
      const harness = new ConnectionHarness(runtime);
      const answer = await harness.request("modern", 1, { method: "server/discover" });
      const capabilities: unknown = Reflect.get(Object(answer["result"]), "capabilities");
      expect(Reflect.get(Object(capabilities), "logging")).toEqual(capability);
      await harness.close();
    }
  });
});
