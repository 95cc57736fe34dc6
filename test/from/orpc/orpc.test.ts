import { ORPCError } from "@orpc/server";
import { afterEach, describe, expect, it } from "vitest";
import { mcpOrpc } from "../../../src/builder/mcp-orpc.ts";
import { mcp } from "../../../src/builder/mcp.ts";
import { Refusal } from "../../../src/errors.ts";
import { fromOrpc } from "../../../src/from/orpc/orpc.ts";
import { defineSurface } from "../../../src/surface/define-surface.ts";
import type { Fault } from "../../../src/surface/fault.ts";
import { createTestClient } from "../../../src/testing/test-client.ts";
import type { ToolAnswer } from "../../../src/testing/tool-answer.ts";
import { contract, createRemote, createStore } from "./store.ts";

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

const everything = {
  "order.show": "read",
  "order.cancel": { write: { tool: { title: "Cancel", description: "Cancels an order", idempotent: true } } },
  strict: "read",
  transformed: "read",
  fail: "write",
  caused: "read",
  faked: "read",
  unfit: "read",
  throws: "read",
  refuses: "read",
  broken: "read",
  ticks: "stream",
  deaf: "stream",
  quiet: "stream",
  failing: { stream: "tool" },
  constructor: "read",
  orders: { read: "resource" },
} as const;

function openStore() {
  const faults: Fault[] = [];
  const { router, client: open, log } = createStore();
  const app = mcpOrpc(router, everything, { client: open, onFault: (fault) => void faults.push(fault) });
  const client = createTestClient(app);
  closing.push(() => client.close());
  return { client, log, faults };
}

function valueOf(answer: ToolAnswer): unknown {
  if (answer.isError) throw new Error(answer.text);
  return answer.structured;
}

function failed(answer: ToolAnswer): ToolAnswer & { readonly isError: true } {
  if (!answer.isError) throw new Error(`it succeeded: ${answer.text}`);
  return answer;
}

describe("an oRPC router", () => {
  it("shows the procedures of the map, by the kinds in it, and no others", async () => {
    const { client } = openStore();
    const tools = await client.listTools();
    const exposed = Object.keys(everything).filter((key) => key !== "orders");
    expect(tools.map(({ name }) => name)).toEqual(exposed.map((key) => key.replaceAll(".", "_")).toSorted());
    const mutating = tools.filter(({ annotations }) => Object(annotations)["readOnlyHint"] !== true);
    expect(mutating.map(({ name }) => name)).toEqual(["fail", "order_cancel"]);
    const { resources } = await client.request("resources/list");
    expect(resources).toMatchObject([{ uri: "surface://orpc/orders", title: "Orders", description: "Every order" }]);
    expect(tools.find(({ name }) => name === "order_show")).toMatchObject({ description: "One order" });
    expect(tools.find(({ name }) => name === "order_cancel")).toMatchObject({
      title: "Cancel",
      annotations: { idempotentHint: true },
    });
    const hidden = await client.request("tools/call", { name: "loose", arguments: {} }).catch(String);
    expect(hidden).toContain("there is no such tool");
  });

  it("hands raw input on, with dates decoded, parses it once, and strips what the output parser strips", async () => {
    const { client, log } = openStore();
    const answer = await client.tools.order_show({ id: "o1", at: "2026-01-02T00:00:00Z" });
    expect(valueOf(answer)).toEqual({ id: "o1 of anonymous", placed: "2026-01-02T00:00:00.000Z" });
    expect(log.inputs).toEqual([{ id: "o1", at: new Date("2026-01-02T00:00:00Z") }]);
    expect(valueOf(await client.tools.transformed({ word: "four" }))).toEqual({ length: "4" });
    expect(await client.read("orders")).toEqual([{ id: "o1", placed: "1970-01-01T00:00:00.000Z" }]);
  });

  it("creates the client once a call, for the caller", async () => {
    const seen: unknown[] = [];
    const { router, client: open, log } = createStore();
    const app = mcpOrpc(
      router,
      { "order.show": "read", ticks: "stream", orders: { read: "resource" } },
      {
        client: (caller, { signal, meta }) => {
          seen.push([caller.id, signal instanceof AbortSignal, meta]);
          return open({ ...caller, id: "Ann" });
        },
      },
    );
    const client = createTestClient(app);
    closing.push(() => client.close());
    expect(valueOf(await client.tools.order_show({ id: "o1" }))).toMatchObject({ id: "o1 of Ann" });
    await client.read("orders");
    await client.tools.ticks({ max_items: 3 });
    expect(seen).toEqual([
      ["anonymous", true, { description: "One order" }],
      ["anonymous", true, {}],
      ["anonymous", true, {}],
    ]);
    expect(log.users).toEqual(["Ann", "Ann", "Ann"]);
  });

  it("is a mount beside a surface", async () => {
    const { router, client: open } = createStore();
    const store = fromOrpc(router, { "order.show": "read", orders: { read: "resource" } }, { client: open });
    const client = createTestClient(mcp(defineSurface("hub", {})).implement({}).mount("store", store));
    closing.push(() => client.close());
    expect(await client.toolNames()).toEqual(["store_order_show"]);
    expect((await client.tools.store_order_show({ id: "o1" })).isError).toBe(false);
    expect(await client.read("store/orders")).toMatchObject([{ id: "o1" }]);
  });

  it("whose client lacks a procedure, or throws, is masked; a Refusal of it stays one", async () => {
    const { router } = createStore();
    const open = (client: () => unknown): ReturnType<typeof createTestClient> => {
      // A program in plain JavaScript.
      const app = mcpOrpc(router, { "order.show": "read" }, { client: client as never, onFault: () => {} });
      const made = createTestClient(app);
      closing.push(() => made.close());
      return made;
    };
    const call = { name: "order_show", arguments: { id: "o1" } };
    const throwing = (cause: unknown) => (): never => {
      throw cause;
    };
    for (const client of [() => ({}), () => undefined, throwing(new Error("the secret of the database"))]) {
      const text = JSON.stringify(await open(client).request("tools/call", call));
      expect(text).toContain("INTERNAL");
      expect(text).not.toMatch(/secret|order\.show/);
    }
    const refused = await open(throwing(new Refusal("SUSPENDED", "this account is suspended"))).request(
      "tools/call",
      call,
    );
    expect(refused).toMatchObject({ isError: true, content: [{ text: "SUSPENDED: this account is suspended" }] });
  });
});

describe("an error of an oRPC procedure", () => {
  it("of its own parser names the field, also where the author defines BAD_REQUEST", async () => {
    const { client, faults } = openStore();
    const first = await client.tools.strict({ id: "a" });
    expect(first.text).toBe("VALIDATION_ERROR: the arguments do not fit\n- id: must start with o");
    const second = await client.tools.order_show({ id: "o" });
    expect(failed(second).error).toMatchObject({ code: "VALIDATION_ERROR", issues: [{ path: "id" }] });
    expect(faults).toEqual([]);
  });

  it("that the procedure defines is a refusal with its data", async () => {
    const { client, faults } = openStore();
    const { error } = failed(await client.tools.order_cancel({ id: "shipped" }));
    expect(error).toEqual({
      code: "SHIPPED",
      message: "it is on its way",
      details: { at: "1970-01-01T00:00:00.000Z" },
    });
    expect(faults).toEqual([]);
  });

  it.each(["UNAUTHORIZED", "FORBIDDEN", "NOT_FOUND", "CONFLICT", "TOO_MANY_REQUESTS"])(
    "%s is a refusal with its code and message, without data that are not defined",
    async (code) => {
      const { client, faults } = openStore();
      const { error } = failed(await client.tools.fail({ code }));
      expect(error).toEqual({ code, message: `the store says ${code}` });
      expect(faults).toEqual([]);
    },
  );

  it.each(["fail", "throws", "broken", "failing", "faked", "unfit"] as const)(
    "without a code for callers is masked, and logged: %s",
    async (name) => {
      const { client, faults } = openStore();
      const { text, error } = failed(
        await client.tools[name](name === "fail" ? { code: "INTERNAL_SERVER_ERROR" } : {}),
      );
      expect(error).toMatchObject({ code: "INTERNAL", correlationId: faults[0]?.correlationId });
      expect(text).not.toMatch(/secret|store says|failed/);
      expect(faults).toHaveLength(1);
    },
  );

  it("that a remote server calls defined, and the contract does not define, is masked", async () => {
    const failing = async (): Promise<never> => {
      throw new ORPCError("FOREIGN", { defined: true, message: "the secret of the remote", data: { secret: 1 } });
    };
    const { router } = createStore();
    // A client of another router.
    const foreign = { order: { show: failing } } as never;
    const client = createTestClient(
      mcpOrpc(router, { "order.show": "read" }, { client: () => foreign, onFault: () => {} }),
    );
    closing.push(() => client.close());
    const { code, text } = failed(await client.tools.order_show({ id: "o1" }));
    expect(code).toBe("INTERNAL");
    expect(text).not.toContain("secret");
  });

  it("does not pass on the text of the exception behind it, and leaves a Refusal as it is", async () => {
    const { client } = openStore();
    expect(failed(await client.tools.caused()).error).toEqual({
      code: "CONFLICT",
      message: "it conflicts with the current state",
    });
    expect(failed(await client.tools.refuses()).error).toMatchObject({
      code: "CLOSED_TODAY",
      details: { until: "Monday" },
    });
  });
});

describe("a stream of oRPC", () => {
  it("as a tool returns some items, and ends: by its signal, or by return()", async () => {
    const { client, log } = openStore();
    const items = [{ tick: 1 }, { tick: 2 }, { tick: 3 }];
    expect(valueOf(await client.tools.ticks({ max_items: 3 }))).toEqual({ items, ended: false });
    await expect.poll(() => log.ended).toEqual(["ticks"]);
    await client.tools.deaf({ max_items: 1 });
    await expect.poll(() => log.ended).toEqual(["ticks", "deaf"]);
    // Its generator waits, so return() alone would not end it.
    expect(valueOf(await client.tools.quiet({ wait_ms: 20 }))).toEqual({ items: [], ended: false });
    await expect.poll(() => log.ended).toEqual(["ticks", "deaf", "quiet"]);
  });

  it("ends with its call: the generator's finally runs", async () => {
    const { client, log } = openStore();
    const controller = new AbortController();
    const call = client.tools.deaf({ wait_ms: 60_000, max_items: 1000 }, { signal: controller.signal });
    await expect.poll(() => log.users.length).toBe(1);
    controller.abort();
    await call.catch(() => undefined);
    await expect.poll(() => log.ended).toEqual(["deaf"]);
  });

  it("as a resource has the newest item, tells watchers of each, and ends with the last of them", async () => {
    const { router, client: open, log } = createStore();
    const app = mcpOrpc(router, { deaf: { stream: "resource" } }, { client: open, changeWindowMs: 0 });
    const client = createTestClient(app);
    closing.push(() => client.close());
    let changes = 0;
    const stop = await client.watch("deaf", () => void (changes += 1));
    await expect.poll(() => changes).toBeGreaterThan(2);
    expect(await client.read("deaf")).toMatchObject({ tick: expect.any(Number) });
    expect(log.users).toHaveLength(1);
    stop();
    await expect.poll(() => log.ended).toEqual(["deaf"]);
  });

  it("that returns something else is an invalid output", async () => {
    const { router, client: open } = createStore();
    const app = mcpOrpc(router, { loose: "stream" }, { client: open, onFault: () => {} });
    const client = createTestClient(app);
    closing.push(() => client.close());
    expect(failed(await client.tools.loose()).text).toMatch(/^INVALID_OUTPUT: .+ withheld/);
  });
});

describe("a contract and a client of a remote server", () => {
  const map = { "order.show": "read", "order.cancel": "write", strict: "read", ticks: "stream" } as const;

  it("are called with the caller's headers; errors and streams are as those of a router", async () => {
    const { client: open, ended } = createRemote();
    const client = createTestClient(mcpOrpc(contract, map, { client: open, onFault: () => {} }));
    closing.push(() => client.close());
    const shown = await client.tools.order_show({ id: "o1", at: "2026-01-02T00:00:00Z" });
    expect(valueOf(shown)).toEqual({ id: "o1 of anonymous", at: "2026-01-02T00:00:00.000Z" });
    expect(failed(await client.tools.order_cancel({ id: "o1" })).error).toEqual({
      code: "SHIPPED",
      message: "it is on its way",
      details: { at: "noon" },
    });
    const invalid = await client.tools.strict({ id: "a" });
    expect(invalid.text).toBe("VALIDATION_ERROR: the arguments do not fit\n- id: must start with o");
    const masked = failed(await client.tools.order_cancel({ id: "broken" }));
    expect(masked.code).toBe("INTERNAL");
    expect(masked.text).not.toContain("secret");
    expect(valueOf(await client.tools.ticks({ max_items: 2 }))).toEqual({ items: [1, 2], ended: false });
    await expect.poll(() => ended).toEqual(["ticks"]);
  });
});
