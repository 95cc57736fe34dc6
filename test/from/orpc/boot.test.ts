import { lazy, os, type, unlazyRouter } from "@orpc/server";
import { describe, expect, it } from "vitest";
import type { MountSource } from "../../../src/catalog/mounts/mount.ts";
import { SurfaceError } from "../../../src/errors.ts";
import { fromOrpc } from "../../../src/from/orpc/orpc.ts";
import { context as callContext } from "../../catalog/mounts/mount-support.ts";
import { createNextStore } from "./next-store.ts";
import { createStore } from "./store.ts";

const { router, client } = createStore();

/** Mounts what the compiler would refuse. */
function mount(from: unknown, expose: unknown, given: unknown = { client }): MountSource {
  // A program in plain JavaScript.
  return fromOrpc(from as object, expose as never, given as never);
}

function errorOf(run: () => unknown): SurfaceError {
  try {
    run();
  } catch (cause) {
    if (cause instanceof SurfaceError) return cause;
    throw cause;
  }
  throw new Error("it did not throw");
}

describe("the map of an oRPC router, at boot", () => {
  it.each([
    ["a key that is no procedure", { "order.shw": "read" }, "UNKNOWN_MEMBER", 'did you mean "order.show"?'],
    ["a part", { order: "read" }, "UNKNOWN_MEMBER", '"order"'],
    ["a path below a procedure", { "orders.~orpc": "read" }, "UNKNOWN_MEMBER", '"orders.~orpc"'],
    ["toString", { toString: "read" }, "UNKNOWN_MEMBER", '"toString"'],
    ["__proto__", JSON.parse('{ "__proto__": "read" }'), "UNKNOWN_MEMBER", '"__proto__"'],
    ["a path of a prototype", { "order.constructor": "read" }, "UNKNOWN_MEMBER", '"order.constructor"'],
    ["a write as a resource", { loose: { write: "resource" } }, "WRONG_KIND", "it may change something"],
    ["a required input as a resource", { "order.show": { read: "resource" } }, "WRONG_KIND", "it requires an input"],
    ["a read with the method DELETE", { "order.cancel": "read" }, "WRONG_KIND", "has the method DELETE"],
    ["a stream with the method DELETE", { "order.cancel": "stream" }, "WRONG_KIND", "has the method DELETE"],
    ["a value without its kind", { orders: "tool" }, "INVALID_OPTION", "say the kind"],
    ["another word", { orders: { read: "resources" } }, "INVALID_OPTION", 'write "tool", "resource"'],
    ["an object without a kind", { orders: {} }, "INVALID_OPTION", "say the kind"],
    ["true", { orders: true }, "INVALID_OPTION", "say the kind"],
    ["two kinds", { orders: { read: "tool", write: "tool" } }, "INVALID_OPTION", "say the kind"],
    ["a hint", { loose: { write: { tool: { mutates: false } } } }, "INVALID_OPTION", '"mutates" is not an option'],
    ["a read that destroys", { loose: { read: { tool: { destructive: true } } } }, "CONTRADICTION", "loose"],
    ["an event iterator as a read", { deaf: "read" }, "SCHEMA_UNSUPPORTED", '"deaf"'],
    ["no object", ["orders"], "INVALID_OPTION", "must be an object"],
    ["nothing", undefined, "INVALID_OPTION", "must be an object"],
  ])("refuses %s", (...[, expose, code, text]) => {
    const error = errorOf(() => mount(router, expose));
    expect(error.code).toBe(code);
    expect(error.message).toContain(text);
  });

  it.each([
    ["a read with the method DELETE", { "order.cancel": "read" }, "WRONG_KIND", "has the method DELETE"],
    ["a part", { order: "read" }, "UNKNOWN_MEMBER", '"order"'],
    ["a procedure of a lazy part", { "reports.daily": "read" }, "INVALID_OPTION", 'is in the lazy part "reports"'],
    ["a required input as a resource", { "order.show": { read: "resource" } }, "WRONG_KIND", "it requires an input"],
  ])("refuses %s of oRPC 2", (...[, expose, code, text]) => {
    const next = createNextStore();
    const error = errorOf(() => mount(next.router, expose, { client: next.client }));
    expect(error.code).toBe(code);
    expect(error.message).toContain(text);
  });

  it("reads titles and descriptions of metadata of oRPC 2", () => {
    const next = createNextStore();
    const source = mount(next.router, { orders: { read: "resource" }, "order.show": "read" }, { client: next.client });
    expect(source.resources?.()).toMatchObject([{ title: "Orders", description: "Every order" }]);
    expect(source.list()).toMatchObject([{ description: "One order", type: "query" }]);
  });

  it("exposes nothing for an empty map, and for keys without a value; a GET may be a write", () => {
    const source = mount(router, { orders: undefined });
    expect(source.list()).toEqual([]);
    expect("resources" in source).toBe(false);
    expect(mount(router, { orders: "write" }).list()).toMatchObject([{ name: "orders", type: "mutation" }]);
  });

  it("looks procedures up as own properties", () => {
    const inherited: object = Object.create({ hidden: os.handler(() => 1) });
    expect(errorOf(() => mount(inherited, { hidden: "read" })).code).toBe("UNKNOWN_MEMBER");
    expect(errorOf(() => mount({ part: inherited }, { "part.hidden": "read" })).code).toBe("UNKNOWN_MEMBER");
  });

  it("requires a client", () => {
    expect(errorOf(() => mount(router, {}, {})).message).toContain('"client"');
    expect(errorOf(() => mount(router, {}, { client: {} })).message).toContain('"client" must be a function');
  });

  it.each([
    ["nothing", undefined],
    ["a text", "router"],
    ["a lazy router", lazy(async () => ({ default: router }))],
  ])("refuses %s in place of a router", (_what, given) => {
    expect(errorOf(() => mount(given, {})).message).toContain("must be a router of oRPC");
  });

  it("refuses a router whose getters throw, with the cause and without its text", () => {
    const thrown = new Error("the secret");
    const trap = {
      get orders(): never {
        throw thrown;
      },
    };
    const error = errorOf(() => mount(trap, { orders: "read" }));
    expect(error).toMatchObject({ code: "INVALID_OPTION", cause: thrown });
    expect(error.message).not.toContain("secret");
  });

  it("refuses a parser without JSON Schema, and two names that are one on the wire", () => {
    const made = {
      a: { b: os.handler(() => 1) },
      a_b: os.handler(() => 2),
      parsed: os.input(type<string>()).handler(() => 3),
      "with space": os.handler(() => 4),
    };
    expect(errorOf(() => mount(made, { "a.b": "read", a_b: "read" })).code).toBe("NAME_COLLISION");
    expect(errorOf(() => mount(made, { parsed: "read" })).code).toBe("SCHEMA_UNSUPPORTED");
    expect(errorOf(() => mount(made, { "with space": "read" })).code).toBe("INVALID_NAME");
  });
});

describe("the lazy parts of an oRPC router", () => {
  it("are loaded by unlazyRouter() before they are mounted", async () => {
    for (const part of [router.reports, lazy(async () => ({ default: { daily: os.handler(() => "a report") } }))]) {
      const lazied = { reports: part };
      const error = errorOf(() => mount(lazied, { "reports.daily": "read" }));
      expect(error.message).toContain(
        '"reports.daily" is in the lazy part "reports"; pass "await unlazyRouter(router)"',
      );
    }
    const loaded = await unlazyRouter(router);
    const source = fromOrpc(loaded, { "reports.daily": "read" }, { client });
    expect(await source.invoke("reports.daily", undefined, callContext)).toBe("a report");
    expect(errorOf(() => mount(loaded, { "reports.dayly": "read" })).message).toContain(
      'did you mean "reports.daily"?',
    );
  });
});
