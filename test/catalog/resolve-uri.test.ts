import { assert, asyncProperty, constantFrom, integer, oneof, string, type Arbitrary } from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { Catalog } from "../../src/catalog/catalog.ts";
import { createUriResolver, type Resolved } from "../../src/catalog/resolve-uri.ts";
import { CallContext } from "../../src/call/call-context.ts";
import { cell, collection, event, stream } from "../../src/surface/define-members.ts";
import type { Schema } from "../../src/schema/standard.ts";
import { mcpResource } from "../../src/tags/mcp-resource.ts";
import { catalogOf } from "./support.ts";

/** A log whose frame is the input that its handler was given. */
function echoCatalog(input: Schema, uriPrefix = "surface://probe/"): Catalog {
  const handlers = {
    log: async function* (given: unknown) {
      yield { given, type: typeof given };
    },
  };
  return catalogOf({ log: stream({ input, output: z.any() }) }, { expose: { log: "resource" }, handlers, uriPrefix });
}

/** What a URI reads as: the parsed JSON, or `undefined` where it names nothing. */
async function readUri(catalog: Catalog, uri: string): Promise<unknown> {
  const resolved: Resolved | undefined = createUriResolver(catalog)(uri);
  if (resolved === undefined) return undefined;
  try {
    const content = await resolved.read(new CallContext());
    return typeof content === "string" ? JSON.parse(content) : content;
  } catch (cause) {
    return (cause as { code?: string }).code;
  }
}

const given = (catalog: Catalog, path: string): Promise<unknown> =>
  readUri(catalog, `surface://probe/log${path}`).then(
    (value) => (value as { given?: unknown } | undefined)?.given ?? value,
  );

// Made of what URIs mean something by, and of everything else.
const wild: Arbitrary<string> = oneof(
  string({ minLength: 1, unit: "binary" }),
  string({
    minLength: 1,
    unit: constantFrom("%", "2", "F", "/", ".", "?", "#", "+", "{", "}", "\\", "e", "5", "é", "💥", "\u202e"),
  }),
);

/** Everything that stands for a dot, a slash or a percent sign, decoded until nothing changes. */
function decodeAll(text: string): string {
  const once = text.replace(/%(?:25|2e|2f|5c|20)/gi, decodeURIComponent);
  return once === text ? text : decodeAll(once);
}

/** Whether a text is refused: for control characters, and for what a path would swallow. */
function isUnspeakable(text: string): boolean {
  // oxlint-disable-next-line no-control-regex -- control characters are what it is for
  if (text === "." || /[\u0000-\u001f\u007f-\u009f]/.test(text)) return true;
  return decodeAll(text)
    .split(/[/\\]/)
    .some((segment) => /^\.\.[. ]*$/.test(segment));
}

describe("createUriResolver() and variables", () => {
  it("read() hands the backend exactly the text that was percent-encoded, decoded once", async () => {
    const catalog = echoCatalog(z.string());
    await assert(
      asyncProperty(wild, async (text) => {
        const value = await readUri(catalog, `surface://probe/log/${encodeURIComponent(text)}`);
        expect(value).toEqual(isUnspeakable(text) ? undefined : { given: text, type: "string" });
      }),
      { numRuns: 500 },
    );
  });

  it("read() never decodes twice", async () => {
    const catalog = echoCatalog(z.string());
    expect(await given(catalog, "/%252F")).toBe("%2F");
    expect(await given(catalog, "/a%2Fb%2e%2e")).toBe("a/b..");
    expect(await given(catalog, "/a+b")).toBe("a+b");
    expect(await given(catalog, "/..a%2F..b%2F%252e")).toBe("..a/..b/%2e");
  });

  it.each([
    ["", "a variable is missing"],
    ["/", "the variable is empty"],
    ["/.", "it is a dot"],
    ["/..", "it is two dots"],
    ["/%2e%2E", "it is two encoded dots"],
    ["/%", "it is malformed"],
    ["/%GG", "it is malformed"],
    ["/%C3%28", "it is no UTF-8"],
    ["/%ED%A0%80", "it is half a surrogate pair"],
    ["/a%00b", "it holds a NUL"],
    ["/a%0d%0ab", "it holds a line break"],
    ["/a%C2%85b", "it holds a C1 control"],
    ["/..%2Fb", "it climbs"],
    ["/a%5C..", "it climbs behind a backslash"],
    ["/a%2f..%20.%2Fb", "it climbs where blanks and dots are dropped"],
    ["/%252e%252E%252fb", "it climbs when it is decoded again"],
    ["/a%2525252f%2e.", "it climbs when it is decoded again and again"],
    ["/a/b", "there is one too many"],
    ["/a/", "there is an empty one too many"],
  ])("resolve() finds nothing for %j, since %s", async (path) => {
    expect(await given(echoCatalog(z.string()), path)).toBeUndefined();
  });

  it.each<[string, Schema, string, unknown]>([
    ["a number", z.number(), "/-1.5e2", -150],
    ["an integer", z.int(), "/7", 7],
    ["a boolean", z.boolean(), "/true", true],
    ["digits where text is asked for", z.string(), "/007", "007"],
    ["true where text is asked for", z.string(), "/true", "true"],
    ["an enum", z.enum(["red", "green"]), "/green", "green"],
    ["a literal number", z.literal([1, 2]), "/2", 2],
  ])("read() coerces %s by the JSON Schema", async (...row) => {
    const [, schema, path, expected] = row;
    expect(await given(echoCatalog(schema), path)).toBe(expected);
  });

  it.each<[string, Schema, string]>([
    ["hex for a number", z.number(), "/0x10"],
    ["text for a number", z.number(), "/abc"],
    ["a leading zero for a number", z.number(), "/007"],
    ["a fraction for an integer", z.int(), "/1.5"],
    ["yes for a boolean", z.boolean(), "/yes"],
    ["what an enum does not list", z.enum(["red"]), "/blue"],
  ])("resolve() finds nothing for %s", async (_what, schema, path) => {
    expect(await given(echoCatalog(schema), path)).toBeUndefined();
  });

  it("read() leaves bounds and patterns to validation, which only a value that is one reaches", async () => {
    expect(await given(echoCatalog(z.number().max(5)), "/6")).toBe("VALIDATION_ERROR");
    expect(await given(echoCatalog(z.string().regex(/^a/)), "/b")).toBe("VALIDATION_ERROR");
  });

  it("read() reads the fields of a flat object in declared order, the last of them optional", async () => {
    const schema = z.object({ node: z.string(), line: z.int(), raw: z.boolean().optional(), tail: z.int().optional() });
    const catalog = echoCatalog(schema);
    expect(catalog.templates[0]?.uriTemplate).toBe("surface://probe/log/{node}/{line}{/raw}{/tail}");
    expect(await given(catalog, "/a/1")).toEqual({ node: "a", line: 1 });
    expect(await given(catalog, "/a/1/true")).toEqual({ node: "a", line: 1, raw: true });
    expect(await given(catalog, "/a/1/false/9")).toEqual({ node: "a", line: 1, raw: false, tail: 9 });
    for (const path of ["", "/a", "/a/x", "/a/1/2", "/a/1/true/9/9"])
      expect(await given(catalog, path)).toBeUndefined();
  });

  it("read() gives the default of a field that was left out", async () => {
    const catalog = echoCatalog(z.object({ node: z.string(), tail: z.int().default(50) }));
    expect(await given(catalog, "/a")).toEqual({ node: "a", tail: 50 });
    const scalar = echoCatalog(z.string().default("all"));
    expect(scalar.templates[0]?.uriTemplate).toBe("surface://probe/log{/value}");
    expect(await given(scalar, "")).toBe("all");
    expect(await given(scalar, "/one")).toBe("one");
  });

  it("read() leaves out an optional scalar that was left out", async () => {
    expect(await readUri(echoCatalog(z.string().optional()), "surface://probe/log")).toEqual({ type: "undefined" });
  });

  it("read() keeps a field named __proto__ a field", async () => {
    const catalog = echoCatalog(z.object({ constructor: z.string(), toString: z.string() }));
    expect(await given(catalog, "/a/b")).toEqual({ constructor: "a", toString: "b" });
    expect({}).not.toHaveProperty("polluted");
  });

  it("read() decodes the wire form of what JSON lacks", async () => {
    const at = "2026-01-02T03:04:05.000Z";
    const catalog = catalogOf(
      { log: stream({ input: z.date(), output: z.any() }) },
      {
        expose: { log: "resource" },
        handlers: {
          log: async function* (when: unknown) {
            yield when instanceof Date ? when.getTime() : "no date";
          },
        },
      },
    );
    expect(await readUri(catalog, `surface://probe/log/${encodeURIComponent(at)}`)).toBe(Date.parse(at));
  });
});

describe("createUriResolver() and time", () => {
  it.each([
    ["slashes", "/"],
    ["encoded slashes", "%2F"],
    ["percent signs", "%"],
    ["dots", "/.."],
    ["dots that lead nowhere", "%2f.....%2520 ..a"],
    ["escapes of escapes", "%252525"],
    ["braces", "{/a}"],
  ])("resolve() answers at once for 8 KiB of %s", (_what, unit) => {
    const resolve = createUriResolver(echoCatalog(z.object({ a: z.string(), b: z.string().optional() })));
    const base = "surface://probe/log/";
    const uri = base + unit.repeat(Math.ceil(8192 / unit.length)).slice(0, 8192 - base.length);
    const began = performance.now();
    for (let round = 0; round < 200; round += 1) resolve(uri);
    // 200 rounds take some 20 ms when matching is linear; quadratic matching would take minutes.
    expect(performance.now() - began).toBeLessThan(10_000);
  });

  it("resolve() finds nothing for what is longer than 8 KiB, and something for what is not", () => {
    const resolve = createUriResolver(echoCatalog(z.string()));
    const base = "surface://probe/log/";
    expect(resolve(base + "a".repeat(8192 - base.length))).toBeDefined();
    expect(resolve(base + "a".repeat(8193 - base.length))).toBeUndefined();
  });
});

describe("createUriResolver() and names", () => {
  const members = {
    nodes: mcpResource(cell({ schema: z.number() })),
    "nodes.all": mcpResource(cell({ schema: z.number() })),
    jobs: mcpResource(collection({ key: z.int(), schema: z.string() })),
    done: mcpResource(event({ output: z.number() })),
    hidden: cell({ schema: z.number() }),
  };

  it.each(["surface://probe/", "odu://", "app://a/b/"])("resolve() finds members behind the prefix %s", (uriPrefix) => {
    const resolve = createUriResolver(catalogOf(members, { uriPrefix }));
    const found = ["nodes", "nodes.all", "jobs", "jobs/1", "done"].map((path) => resolve(`${uriPrefix}${path}`)?.id);
    expect(found).toEqual(["nodes", "nodes.all", "jobs", "jobs", "done"]);
  });

  it.each([
    "hidden",
    "hidden/a",
    "nodes/a",
    "nodes/",
    "Nodes",
    "nodes?x=1",
    "nodes#x",
    "%6eodes",
    "jobs/x",
    "done/1",
    "",
    "/nodes",
    "toString",
    "__proto__/a",
    "constructor",
  ])("resolve() finds nothing under %j", (path) => {
    expect(createUriResolver(catalogOf(members))(`surface://probe/${path}`)).toBeUndefined();
  });

  it("resolve() finds nothing under another prefix", () => {
    const resolve = createUriResolver(catalogOf(members));
    for (const uri of ["nodes", "surface://other/nodes", "SURFACE://probe/nodes", "file:///nodes", ""]) {
      expect(resolve(uri)).toBeUndefined();
    }
  });

  it.each(["", "app", "app:", "app:/", "app://x", "App://", "app://a b/", "app://{x}/", "app://a//", "a\n://", "://"])(
    "createCatalog() refuses the prefix %j",
    (uriPrefix) => {
      expect(() => catalogOf(members, { uriPrefix })).toThrow(expect.objectContaining({ code: "INVALID_OPTION" }));
    },
  );

  it("read() finds the items of a collection by keys of any text", async () => {
    const keys = integer({ min: 0, max: 3 });
    const names = ["a/b", "%41", "__proto__", "toString"];
    const items = new Map(names.map((name, index) => [name, index]));
    const catalog = catalogOf(
      { jobs: mcpResource(collection({ key: z.string(), schema: z.number() })) },
      { handlers: { jobs: { get: () => items, subscribe: () => () => {} } } },
    );
    expect(await readUri(catalog, "surface://probe/jobs")).toEqual(names);
    await assert(
      asyncProperty(keys, async (index) => {
        const uri = `surface://probe/jobs/${encodeURIComponent(names[index] ?? "")}`;
        expect(await readUri(catalog, uri)).toBe(index);
      }),
    );
    for (const absent of ["A", "constructor", "hasOwnProperty"]) {
      expect(await readUri(catalog, `surface://probe/jobs/${absent}`)).toBeUndefined();
    }
  });
});
