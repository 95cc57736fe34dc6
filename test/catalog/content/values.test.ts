import { describe, expect, it } from "vitest";
import { z } from "zod";
import { CallContext } from "../../../src/call/call-context.ts";
import { createInvoker } from "../../../src/call/create-invoker.ts";
import type { Catalog } from "../../../src/catalog/catalog.ts";
import { createUriResolver } from "../../../src/catalog/resolve-uri.ts";
import { splitFields } from "../../../src/catalog/tool-schemas.ts";
import type { JsonObject } from "../../../src/schema/json.ts";
import { cell, event, procedure, stream } from "../../../src/surface/define-members.ts";
import { mcpResource } from "../../../src/tags/mcp-resource.ts";
import { mcpTool } from "../../../src/tags/mcp-tool.ts";
import { catalogOf, cyclic } from "../support.ts";

async function outcomeOf(catalog: Catalog, name: string, args: JsonObject = {}): Promise<unknown> {
  const invoker = createInvoker({ report: () => {} });
  const tool = catalog.tool(name);
  const outcome = tool && (await invoker.call(tool, args, new CallContext()));
  invoker.close();
  return outcome?.kind === "answer" ? JSON.parse(outcome.text) : outcome;
}

async function textOf(catalog: Catalog, path: string): Promise<string | undefined> {
  const content = await createUriResolver(catalog)(`surface://probe/${path}`)?.read(new CallContext());
  return typeof content === "object" ? content.text : content;
}

const source = (value: unknown): object => ({ get: () => value, subscribe: () => () => {} });

describe("answers", () => {
  it.each<[string, z.ZodType, unknown, unknown]>([
    ["a string", z.string(), "x", { value: "x" }],
    ["an array", z.array(z.int()), [1], { value: [1] }],
    ["null", z.null(), null, { value: null }],
    ["an object", z.object({ a: z.int() }), { a: 1 }, { a: 1 }],
    ["a union of objects", z.union([z.object({ a: z.int() }), z.object({ b: z.int() })]), { b: 1 }, { b: 1 }],
    ["a union of anything", z.union([z.object({ a: z.int() }), z.int()]), { a: 1 }, { value: { a: 1 } }],
    ["an optional that is not there", z.string().optional(), undefined, {}],
  ])("call() answers %s as an object", async (...row) => {
    const [, output, value, expected] = row;
    const catalog = catalogOf({ probe: mcpTool(procedure({ output })) }, { handlers: { probe: () => value } });
    expect(await outcomeOf(catalog, "probe")).toEqual(expected);
  });

  it.each<[unknown, unknown]>([
    [undefined, {}],
    [null, { value: null }],
    [0, { value: 0 }],
    ["", { value: "" }],
    [[1, [2]], { value: [1, [2]] }],
    [{ a: { b: undefined } }, { a: {} }],
    [new Date(0), { value: "1970-01-01T00:00:00.000Z" }],
  ])("call() answers what has no schema as an object: %j", async (value, expected) => {
    const catalog = catalogOf({ probe: mcpTool(procedure({})) }, { handlers: { probe: () => value } });
    expect(catalog.tool("probe")?.output.json).toBeUndefined();
    expect(await outcomeOf(catalog, "probe")).toEqual(expected);
  });

  it("call() takes and gives what JSON lacks in one wire form, for members and bespoke tools alike", async () => {
    const shape = z.object({
      at: z.date(),
      big: z.bigint(),
      map: z.map(z.string(), z.bigint()),
      set: z.set(z.date()),
    });
    const value = {
      at: new Date(5),
      big: 2n ** 70n,
      map: new Map([["__proto__", 1n]]),
      set: new Set([new Date(6)]),
    };
    const seen: unknown[] = [];
    const echo = (args: unknown): unknown => {
      seen.push(args);
      return args;
    };
    const catalog = catalogOf(
      { source: mcpTool(procedure({ output: shape })), echo: mcpTool(procedure({ input: shape, output: shape })) },
      { handlers: { source: () => value, echo }, tools: { bespoke: { input: shape, output: shape, handler: echo } } },
    );
    // An object by its output schema.
    const wire = (await outcomeOf(catalog, "source")) as JsonObject;
    expect(wire["at"]).toBe("1970-01-01T00:00:00.005Z");
    expect(await outcomeOf(catalog, "echo", wire)).toEqual(wire);
    expect(await outcomeOf(catalog, "bespoke", wire)).toEqual(wire);
    expect(seen).toEqual([value, value]);
  });

  it.each<[string, unknown]>([
    ["a cycle", cyclic()],
    ["a bigint", { n: 1n }],
    ["a function", { secret: () => 1 }],
    ["NaN", { secret: Number.NaN }],
  ])("call() answers UNSERIALISABLE when a member's value holds %s", async (_what, value) => {
    const catalog = catalogOf(
      {
        answer: mcpTool(procedure({})),
        pull: mcpTool(stream({ output: z.custom<unknown>() })),
        loose: mcpTool(procedure({ output: z.looseObject({}) })),
      },
      {
        handlers: {
          answer: () => value,
          loose: () => value,
          pull: async function* () {
            yield value;
          },
        },
      },
    );
    for (const name of ["answer", "pull", "loose"]) {
      const outcome = await outcomeOf(catalog, name);
      expect(outcome).toMatchObject({ code: "UNSERIALISABLE" });
      expect(JSON.stringify(outcome)).not.toContain("secret");
    }
  });
});

describe("resources", () => {
  it.each<[string, z.ZodType, unknown, string]>([
    ["a scalar", z.string(), "x", '"x"'],
    ["an array", z.array(z.int()), [1], "[1]"],
    ["an object", z.object({ a: z.int() }), { a: 1 }, '{"a":1}'],
    ["nothing", z.string().optional(), undefined, "null"],
    ["nothing where an object could be", z.object({ a: z.int() }).optional(), undefined, "null"],
    ["an object that may be missing", z.object({ a: z.int() }).optional(), { a: 1 }, '{"a":1}'],
    ["a value named like its wrapping", z.object({ value: z.int() }), { value: 1 }, '{"value":1}'],
    ["a bigint", z.bigint(), 5n, '"5"'],
  ])("read() gives %s bare, as JSON", async (...row) => {
    const [, schema, value, expected] = row;
    const catalog = catalogOf({ probe: mcpResource(cell({ schema })) }, { handlers: { probe: source(value) } });
    expect(await textOf(catalog, "probe")).toBe(expected);
  });

  it("read() gives occurrences and frames bare", async () => {
    const one = async function* (): AsyncGenerator {
      yield 7n;
    };
    const members = {
      frames: mcpResource(stream({ output: z.bigint() })),
      seen: mcpResource(event({ output: z.bigint() })),
    };
    const catalog = catalogOf(members, { handlers: { frames: one, seen: one } });
    expect(await textOf(catalog, "frames")).toBe('"7"');
    await expect.poll(() => textOf(catalog, "seen")).toContain('"occurrences":["7"]');
  });
});

describe("hostile keys", () => {
  const keys = ["__proto__", "constructor", "toString", "hasOwnProperty", "then", "value", "since"];

  it("splitFields() keeps every key an own one, where it belongs", () => {
    const args = JSON.parse('{"__proto__":{"polluted":1},"constructor":2,"since":3,"a":4}') as JsonObject;
    const [own, extra] = splitFields(args, ["since", "timeout_ms"]);
    expect(JSON.stringify(own)).toBe('{"__proto__":{"polluted":1},"constructor":2,"a":4}');
    expect(extra).toEqual({ since: 3 });
    expect(Object.getPrototypeOf(own)).toBe(Object.prototype);
    expect(own).not.toHaveProperty("polluted");
  });

  it("arguments named like what every object has pollute nothing, at any depth, and come back as they went", async () => {
    const any = z.looseObject({});
    const catalog = catalogOf(
      { echo: mcpTool(procedure({ input: any, output: any })), pull: stream({ input: any, output: any }) },
      {
        expose: { pull: "tool" },
        handlers: {
          echo: (args: unknown) => args,
          pull: async function* (args: unknown) {
            yield args;
          },
        },
        tools: { bare: { handler: (args) => args }, wrapped: { input: z.unknown(), handler: (args) => args } },
      },
    );
    const before = Object.getOwnPropertyNames(Object.prototype).toSorted();
    for (const key of keys) {
      const text = `{"a":[{${JSON.stringify(key)}:{"polluted":true}}],"deep":{${JSON.stringify(key)}:{"b":1}}}`;
      const args = JSON.parse(text) as JsonObject;
      expect(JSON.stringify(await outcomeOf(catalog, "echo", args))).toBe(text);
      expect(JSON.stringify(await outcomeOf(catalog, "wrapped", { value: args }))).toBe(text);
      expect(await outcomeOf(catalog, "pull", args)).toMatchObject({ ended: true });
      const top = JSON.parse(`{${JSON.stringify(key)}:{"polluted":true}}`) as JsonObject;
      await outcomeOf(catalog, "echo", top);
      await outcomeOf(catalog, "pull", top);
      await outcomeOf(catalog, "bare", top);
    }
    expect(Object.getOwnPropertyNames(Object.prototype).toSorted()).toEqual(before);
    expect({}).not.toHaveProperty("polluted");
  });
});
