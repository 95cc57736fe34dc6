import { afterEach, describe, expect, it } from "vitest";
import { mcpTrpc } from "../../../src/builder/mcp-trpc.ts";
import { mcp } from "../../../src/builder/mcp.ts";
import { Refusal } from "../../../src/errors.ts";
import { fromTrpc } from "../../../src/from/trpc/trpc.ts";
import { defineSurface } from "../../../src/surface/define-surface.ts";
import type { Fault } from "../../../src/surface/fault.ts";
import { nextTurn } from "../../../src/surface/owner/waiting.ts";
import { createTestClient } from "../../../src/testing/test-client.ts";
import type { ToolAnswer } from "../../../src/testing/tool-answer.ts";
import { createShop, shopContext } from "./shop.ts";
import { versions } from "./versions.ts";

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

const everything = {
  "order.show": "tool",
  "order.cancel": { tool: { title: "Cancel", description: "Cancels an order", idempotent: true } },
  "order.rename": "tool",
  wide: "tool",
  nothing: "tool",
  fail: "tool",
  wrapped: "tool",
  refuses: "tool",
  bare: "tool",
  caused: "tool",
  throws: "tool",
  broken: "tool",
  strict: "tool",
  ticks: "tool",
  deaf: "tool",
  feed: "tool",
  observed: "tool",
  failing: "tool",
  constructor: "tool",
  transformed: "tool",
  void: "tool",
  generated: "tool",
  orders: "resource",
  page: "resource",
} as const;

function valueOf(answer: ToolAnswer): unknown {
  if (answer.isError) throw new Error(answer.text);
  return answer.structured;
}

function failed(answer: ToolAnswer): ToolAnswer & { readonly isError: true } {
  if (!answer.isError) throw new Error(`it succeeded: ${answer.text}`);
  return answer;
}

describe.each(versions)("tRPC $version", ({ trpc }) => {
  function openShop() {
    const faults: Fault[] = [];
    const { router, log } = createShop(trpc);
    const app = mcpTrpc(router, everything, { context: shopContext, onFault: (fault) => void faults.push(fault) });
    const client = createTestClient(app);
    closing.push(() => client.close());
    return { client, log, faults };
  }

  describe("its router", () => {
    it("shows the procedures of the map, by their kinds, and no others", async () => {
      const { client } = openShop();
      const tools = await client.listTools();
      const exposed = Object.entries(everything).filter(([, as]) => as !== "resource");
      expect(tools.map(({ name }) => name)).toEqual(exposed.map(([key]) => key.replaceAll(".", "_")).toSorted());
      const mutating = tools.filter(({ annotations }) => Object(annotations)["readOnlyHint"] !== true);
      expect(mutating.map(({ name }) => name)).toEqual(["fail", "nothing", "order_cancel", "order_rename", "void"]);
      const { resources } = await client.request("resources/list");
      expect(resources).toMatchObject([
        { uri: "surface://trpc/orders", title: "Orders", description: "Every order" },
        { uri: "surface://trpc/page" },
      ]);
      const hidden = await client.request("tools/call", { name: "secret", arguments: {} }).catch(String);
      expect(hidden).toContain("there is no such tool");
    });

    it("takes descriptions of the metadata, and of the map before them", async () => {
      const { client } = openShop();
      const tools = await client.listTools();
      expect(tools.find(({ name }) => name === "order_show")).toMatchObject({ description: "One order" });
      expect(tools.find(({ name }) => name === "order_cancel")).toMatchObject({
        title: "Cancel",
        description: "Cancels an order",
        annotations: { idempotentHint: true },
      });
    });

    it("hands raw input on, with dates decoded, and strips what the output parser strips", async () => {
      const { client, log } = openShop();
      const answer = await client.tools.order_show({ id: "o1", at: "2026-01-02T00:00:00Z" });
      expect(valueOf(answer)).toEqual({ id: "o1 of anonymous", placed: "2026-01-02T00:00:00.000Z" });
      expect(log.inputs).toEqual([{ id: "o1", at: new Date("2026-01-02T00:00:00Z") }]);
      const renamed = await client.tools.order_rename({ value: "abc" });
      expect(renamed.text).toBe("ABC");
      expect(log.inputs.at(-1)).toBe("abc");
    });

    it("intersects stacked parsers into one plain object", async () => {
      const { client } = openShop();
      const tools = await client.listTools();
      expect(tools.find(({ name }) => name === "order_cancel")?.["inputSchema"]).toEqual({
        type: "object",
        properties: { id: { type: "string" }, reason: { type: "string" }, at: { type: "string", format: "date-time" } },
        required: ["id", "reason", "at"],
      });
      const input = { id: "o1", reason: "late", at: "1970-01-01T00:00:01Z" };
      const answer = await client.tools.order_cancel(input);
      expect(valueOf(answer)).toEqual({ id: "o1", reason: "late", at: 1000 });
      const { error } = failed(await client.tools.order_cancel({ id: "o1", at: "1970-01-01T00:00:01Z" }));
      expect(error["issues"]).toMatchObject([{ path: "reason" }]);
    });

    it("writes the values of a transformer in the forms of JSON", async () => {
      const { client } = openShop();
      expect(await client.read("orders")).toEqual([{ id: "o1", placed: "1970-01-01T00:00:00.000Z", total: "12" }]);
      expect(valueOf(await client.tools.wide())).toEqual({ at: "1970-01-01T00:00:00.000Z", list: [1] });
      expect(valueOf(await client.tools.nothing())).toEqual({});
      // A default makes the input optional.
      expect(await client.read("page")).toEqual([0, 1, 2]);
    });

    it("runs the transforms of parsers once", async () => {
      const { client } = openShop();
      expect(valueOf(await client.tools.transformed({ word: "four" }))).toEqual({ length: "4" });
      expect(valueOf(await client.tools.void())).toEqual({ value: true });
    });

    it("calls procedures without a parser, which get no input", async () => {
      const { client, log } = openShop();
      const tools = await client.listTools();
      expect(tools.find(({ name }) => name === "nothing")?.["inputSchema"]).toEqual({
        type: "object",
        properties: {},
        additionalProperties: false,
      });
      expect((await client.tools.nothing()).isError).toBe(false);
      // As for other tools without input, arguments are ignored.
      expect((await client.tools.nothing({ more: 1 })).isError).toBe(false);
      expect(log.inputs).toEqual([undefined, undefined]);
    });

    it("finds names of prototypes only if they are procedures of the map", async () => {
      const { client } = openShop();
      expect((await client.tools.constructor()).text).toBe("constructed");
      for (const name of ["toString", "__proto__", "hasOwnProperty", "order_constructor", "order___proto__"]) {
        const answer = await client.request("tools/call", { name, arguments: {} }).catch(String);
        expect(answer).toContain("there is no such tool");
        const uri = `surface://trpc/${name}`;
        expect(await client.request("resources/read", { uri }).catch(String)).toContain("not found");
      }
    });

    it("refuses a generator that a query returns", async () => {
      const { client, faults } = openShop();
      expect(failed(await client.tools.generated()).code).toBe("UNSERIALISABLE");
      expect(faults).toHaveLength(1);
    });

    it("creates the context once a call, for the caller", async () => {
      const seen: unknown[] = [];
      const { router } = createShop(trpc);
      const app = mcpTrpc(
        router,
        { "order.show": "tool", orders: "resource" },
        {
          context: async (caller, { signal, meta }) => {
            seen.push([caller.id, signal instanceof AbortSignal, meta?.description]);
            return { user: "Ann" };
          },
        },
      );
      const client = createTestClient(app);
      closing.push(() => client.close());
      expect(valueOf(await client.tools.order_show({ id: "o1" }))).toMatchObject({ id: "o1 of Ann" });
      await client.read("orders");
      expect(seen).toEqual([
        ["anonymous", true, "One order"],
        ["anonymous", true, "Every order"],
      ]);
    });

    it("does not run for a caller who has cancelled before there is a context", async () => {
      let ran = 0;
      const given: ((context: object) => void)[] = [];
      const t = trpc.initTRPC.create();
      const router = t.router({ pay: t.procedure.mutation(() => void (ran += 1)) });
      const context = (): Promise<object> => new Promise((resolve) => void given.push(resolve));
      const client = createTestClient(mcpTrpc(router, { pay: { tool: { confirm: false } } }, { context }));
      closing.push(() => client.close());
      const abort = new AbortController();
      const call = client.request("tools/call", { name: "pay", arguments: {} }, { signal: abort.signal });
      await expect.poll(() => given.length).toBe(1);
      abort.abort();
      expect(JSON.stringify(await call.catch(String))).toContain("ABORTED");
      given[0]?.({});
      await nextTurn();
      expect(ran).toBe(0);
    });

    it("is a mount beside a surface", async () => {
      const { router } = createShop(trpc);
      const shop = fromTrpc(router, { "order.show": "tool", orders: "resource" }, { context: shopContext });
      const client = createTestClient(mcp(defineSurface("hub", {})).implement({}).mount("shop", shop));
      closing.push(() => client.close());
      expect(await client.toolNames()).toEqual(["shop_order_show"]);
      expect((await client.tools.shop_order_show({ id: "o1" })).isError).toBe(false);
      expect(await client.read("shop/orders")).toMatchObject([{ id: "o1" }]);
    });
  });

  describe("an error of a procedure", () => {
    it("of its own parser names the field, in the form of the wire", async () => {
      const { client, faults } = openShop();
      const first = await client.tools.strict({ id: "a" });
      expect(first.text).toBe("VALIDATION_ERROR: the arguments do not fit\n- id: must start with o");
      const second = await client.tools.order_show({ id: "o1", at: "tomorrow" });
      expect(failed(second).error["issues"]).toMatchObject([{ path: "at", message: /ISO 8601/ }]);
      const third = await client.tools.order_show({ id: "o" });
      expect(failed(third).error).toMatchObject({ code: "VALIDATION_ERROR", issues: [{ path: "id" }] });
      expect(faults).toEqual([]);
    });

    it.each(["UNAUTHORIZED", "FORBIDDEN", "NOT_FOUND", "CONFLICT", "TOO_MANY_REQUESTS"])(
      "%s is a refusal with its code and message",
      async (code) => {
        const { client, faults } = openShop();
        const { error } = failed(await client.tools.fail({ code }));
        expect(error).toEqual({ code, message: `the shop says ${code}` });
        expect(faults).toEqual([]);
      },
    );

    it.each(["fail", "throws", "broken", "failing"] as const)(
      "without a code for callers is masked, and logged: %s",
      async (name) => {
        const { client, faults } = openShop();
        const { text, error } = failed(
          await client.tools[name](name === "fail" ? { code: "INTERNAL_SERVER_ERROR" } : {}),
        );
        expect(error).toMatchObject({ code: "INTERNAL", correlationId: faults[0]?.correlationId });
        expect(text).not.toMatch(/secret|shop says|failed/);
        expect(faults).toHaveLength(1);
      },
    );

    it("does not pass on the text of the exception behind it", async () => {
      const { client } = openShop();
      const bare = failed(await client.tools.bare());
      expect(bare.error).toEqual({ code: "FORBIDDEN", message: "the caller has no right to this" });
      expect(failed(await client.tools.wrapped()).error).toEqual({ code: "NOT_FOUND", message: "it does not exist" });
    });

    it("that is a Refusal stays one, from a resolver and from the context", async () => {
      const { client } = openShop();
      expect(failed(await client.tools.refuses()).error).toMatchObject({
        code: "CLOSED_TODAY",
        details: { until: "Monday" },
      });
      expect(failed(await client.tools.caused()).error).toMatchObject({ code: "CLOSED_TODAY" });
      const { router } = createShop(trpc);
      const failing = (cause: unknown): ReturnType<typeof createTestClient> => {
        const app = mcpTrpc(
          router,
          { "order.show": "tool" },
          {
            context: () => {
              throw cause;
            },
            onFault: () => {},
          },
        );
        const made = createTestClient(app);
        closing.push(() => made.close());
        return made;
      };
      const call = { name: "order_show", arguments: { id: "o1" } };
      const refused = await failing(new Refusal("SUSPENDED", "this account is suspended")).request("tools/call", call);
      expect(refused).toMatchObject({ isError: true, content: [{ text: "SUSPENDED: this account is suspended" }] });
      const masked = await failing(new Error("the secret of the database")).request("tools/call", call);
      expect(JSON.stringify(masked)).toContain("INTERNAL");
      expect(JSON.stringify(masked)).not.toContain("secret");
    });
  });

  describe("a subscription as a tool", () => {
    it("returns some items, and ends the subscription: by its signal, return(), or unsubscribe()", async () => {
      const { client, log } = openShop();
      expect(valueOf(await client.tools.ticks({ max_items: 3 }))).toEqual({
        items: [{ tick: 1 }, { tick: 2 }, { tick: 3 }],
        ended: false,
      });
      await expect.poll(() => log.ended).toEqual(["ticks"]);
      await client.tools.deaf({ max_items: 1 });
      await expect.poll(() => log.ended).toEqual(["ticks", "deaf"]);
      expect(valueOf(await client.tools.observed({ max_items: 2 }))).toMatchObject({
        items: [{ tick: 1 }, { tick: 2 }],
      });
      await expect.poll(() => log.ended).toEqual(["ticks", "deaf", "observed"]);
    });

    it("unwraps tracked items, and returns the id of the last", async () => {
      const { client } = openShop();
      expect(valueOf(await client.tools.feed({ from: 2 }))).toEqual({
        items: [
          { at: "1970-01-01T00:00:00.000Z", from: 2 },
          { at: "1970-01-01T00:00:00.001Z", from: 2 },
        ],
        ended: true,
        lastEventId: "e2",
      });
      const { error } = failed(await client.tools.feed({ max_items: 0 }));
      expect(error["issues"]).toMatchObject([{ path: "max_items" }]);
    });

    it("ends with its call: the generator's finally runs", async () => {
      const { client, log } = openShop();
      const controller = new AbortController();
      const call = client.tools.deaf({ wait_ms: 60_000, max_items: 1000 }, { signal: controller.signal });
      await expect.poll(() => log.contexts.length).toBe(1);
      controller.abort();
      await call.catch(() => undefined);
      await expect.poll(() => log.ended).toEqual(["deaf"]);
    });
  });
});
