import { initTRPC } from "@trpc/server";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { MountSource } from "../../../src/catalog/mounts/mount.ts";
import { SurfaceError } from "../../../src/errors.ts";
import { fromTrpc, loadTrpc } from "../../../src/from/trpc/trpc.ts";
import { context as callContext } from "../../catalog/mounts/mount-support.ts";
import { createShop, shopContext } from "./shop.ts";
import { elevens, type Trpc } from "./versions.ts";

const { router } = createShop();
const options = { context: shopContext };

/** Mounts what the compiler would refuse. */
function mount(from: unknown, expose: unknown, given: unknown = options): MountSource {
  // A program in plain JavaScript.
  return fromTrpc(from as typeof router, expose as never, given as typeof options);
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

describe("the map of a tRPC router, at boot", () => {
  it.each([
    ["a key that is no procedure", { "order.shw": "tool" }, "UNKNOWN_MEMBER", 'did you mean "order.show"?'],
    ["a router", { order: "tool" }, "UNKNOWN_MEMBER", '"order"'],
    ["toString", { toString: "tool" }, "UNKNOWN_MEMBER", '"toString"'],
    ["then", JSON.parse('{ "then": "tool" }'), "UNKNOWN_MEMBER", '"then"'],
    ["__proto__", JSON.parse('{ "__proto__": "tool" }'), "UNKNOWN_MEMBER", '"__proto__"'],
    ["a path of a prototype", { "order.constructor": "tool" }, "UNKNOWN_MEMBER", '"order.constructor"'],
    ["a mutation as a resource", { nothing: "resource" }, "WRONG_KIND", "it may change something"],
    ["a required input as a resource", { "order.show": "resource" }, "WRONG_KIND", "it requires an input"],
    ["another word", { orders: "resources" }, "INVALID_OPTION", 'write "tool", "resource"'],
    ["true", { orders: true }, "INVALID_OPTION", 'write "tool", "resource"'],
    ["both", { orders: { tool: {}, resource: {} } }, "INVALID_OPTION", 'write "tool", "resource"'],
    [
      "another kind by its options",
      { nothing: { tool: { type: "query" } } },
      "INVALID_OPTION",
      '"type" is not an option',
    ],
    [
      "a hint that it only reads",
      { nothing: { tool: { mutates: false } } },
      "INVALID_OPTION",
      '"mutates" is not an option',
    ],
    ["a query that destroys", { wide: { tool: { destructive: true } } }, "CONTRADICTION", "wide"],
    ["no object", ["orders"], "INVALID_OPTION", "must be an object"],
    ["nothing", undefined, "INVALID_OPTION", "must be an object"],
  ])("refuses %s", (...[, expose, code, text]) => {
    const error = errorOf(() => mount(router, expose));
    expect(error.code).toBe(code);
    expect(error.message).toContain(text);
  });

  it("looks procedures up as own properties", () => {
    const plain = { _def: { record: {}, procedures: {} } };
    for (const key of ["toString", "constructor", "__proto__"]) {
      const map: unknown = JSON.parse(`{ "${key}": "tool" }`);
      expect(errorOf(() => mount(plain, map)).code).toBe("UNKNOWN_MEMBER");
    }
  });

  it("exposes nothing for an empty map, and for keys without a value", () => {
    const source = mount(router, { orders: undefined });
    expect(source.list()).toEqual([]);
    expect("resources" in source).toBe(false);
  });

  it("requires a context", () => {
    expect(errorOf(() => mount(router, {}, {})).message).toContain('"context"');
    expect(errorOf(() => mount(router, {}, { context: {} })).message).toContain('"context" must be a function');
  });

  it.each([
    ["nothing", undefined],
    ["a text", "router"],
    ["a caller", router.createCaller({ user: "a" })],
    ["an object", { _def: {} }],
  ])("refuses %s in place of a router", (_what, given) => {
    const error = errorOf(() => mount(given, {}));
    expect(error.code).toBe("INVALID_OPTION");
    expect(error.message).toContain("must be a router of tRPC 10 or 11");
  });

  it("refuses a router whose getters throw, with the cause and without its text", async () => {
    const thrown = new Error("the secret");
    const trap = {
      get type(): never {
        throw thrown;
      },
    };
    const leaf = Object.assign(() => 1, { _def: trap });
    const traps = [
      {
        get _def(): never {
          throw thrown;
        },
      },
      { _def: { record: {}, procedures: { orders: leaf } } },
      {
        _def: {
          record: {},
          procedures: {
            get orders(): never {
              throw thrown;
            },
          },
        },
      },
    ];
    for (const given of traps) {
      const error = errorOf(() => mount(given, { orders: "tool" }));
      expect(error).toMatchObject({ code: "INVALID_OPTION", cause: thrown });
      expect(error.message).not.toContain("secret");
    }
    const lazy = {
      get reports(): never {
        throw thrown;
      },
    };
    const loading = loadTrpc({ _def: { record: {}, procedures: {}, lazy } } as unknown as typeof router);
    await expect(loading).rejects.toMatchObject({
      code: "INVALID_OPTION",
      message: expect.not.stringContaining("secret"),
      cause: thrown,
    });
  });

  it("refuses a parser without JSON Schema, and two names that are one on the wire", () => {
    const t = initTRPC.create();
    const text = (given: unknown): string => String(given);
    const made = t.router({
      a: t.router({ b: t.procedure.query(() => 1) }),
      a_b: t.procedure.query(() => 2),
      parsed: t.procedure.input(text).query(() => 3),
      "with space": t.procedure.query(() => 4),
      pull: t.procedure.input(z.object({ max_items: z.number() })).subscription(async function* () {}),
    });
    const context = { context: () => ({}) };
    expect(errorOf(() => mount(made, { "a.b": "tool", a_b: "tool" }, context)).code).toBe("NAME_COLLISION");
    const parsed = errorOf(() => mount(made, { parsed: "tool" }, context));
    expect(parsed.code).toBe("SCHEMA_UNSUPPORTED");
    expect(parsed.message).toContain('procedure "parsed"');
    expect(parsed.message).toContain("it must be a Standard Schema");
    expect(errorOf(() => mount(made, { "with space": "tool" }, context)).code).toBe("INVALID_NAME");
    expect(errorOf(() => mount(made, { "with space": "resource" }, context)).code).toBe("INVALID_NAME");
    expect(errorOf(() => mount(made, { pull: "tool" }, context)).message).toContain('"max_items"');
  });
});

/** Creates a router with a lazy part, and one within that. */
function createReports({ initTRPC: init, lazy }: Trpc) {
  const t = init.create();
  const reports = t.router({
    daily: t.procedure.query(() => "a report"),
    deep: lazy(async () => t.router({ one: t.procedure.query(() => 1) })),
  });
  return t.router({ orders: t.procedure.query(() => 1), reports: lazy(async () => reports) });
}

describe.each(elevens)("the lazy parts of a router of tRPC $version", ({ trpc }) => {
  it("are loaded before they are mounted, those within them too", async () => {
    const lazy = createReports(trpc);
    const error = errorOf(() => mount(lazy, { "reports.daily": "tool" }));
    expect(error.message).toContain('in the lazy part "reports"; pass "await loadTrpc(router)" as the router');
    const loaded = await loadTrpc(lazy);
    expect(loaded).toBe(lazy);
    const context = { context: () => ({}) };
    const source = fromTrpc(loaded, { "reports.daily": "tool", "reports.deep.one": "tool" }, context);
    expect(source.list().map(({ name }) => name)).toEqual(["reports.daily", "reports.deep.one"]);
    expect(await source.invoke("reports.deep.one", undefined, callContext)).toBe(1);
    expect(errorOf(() => mount(lazy, { "reports.dayly": "tool" })).message).toContain('did you mean "reports.daily"?');
    // A router without lazy parts, and one of them that was loaded.
    expect(await loadTrpc(loaded)).toBe(lazy);
  });

  it("that cannot be loaded are named", async () => {
    const t = trpc.initTRPC.create();
    const cause = new Error("no such module");
    const broken = t.router({ late: trpc.lazy(async () => Promise.reject<typeof router>(cause)) });
    await expect(loadTrpc(broken)).rejects.toMatchObject({
      code: "INVALID_OPTION",
      message: 'Cannot load the lazy part "late" of a tRPC router; see the cause',
      cause,
    });
  });
});
