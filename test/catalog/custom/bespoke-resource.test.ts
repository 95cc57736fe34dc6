import { describe, expect, it } from "vitest";
import { z } from "zod";
import { CallContext } from "../../../src/call/call-context.ts";
import { createInvoker, type ReadOutcome } from "../../../src/call/create-invoker.ts";
import type { AnyBespokeResource } from "../../../src/catalog/custom/bespoke-resource.ts";
import type { Catalog } from "../../../src/catalog/catalog.ts";
import { body } from "../../../src/catalog/content/resource-body.ts";
import { createUriResolver } from "../../../src/catalog/resolve-uri.ts";
import { Refusal, SurfaceError } from "../../../src/errors.ts";
import { cell } from "../../../src/surface/define-members.ts";
import type { Fault } from "../../../src/surface/fault.ts";
import type { MaybeSchema } from "../../../src/surface/member.ts";
import { catalogOf, thrownBy } from "../support.ts";

type Resources = Readonly<Record<string, AnyBespokeResource>>;

const catalogWith = (resources: Resources): Catalog => catalogOf({}, { resources });

/** What reading a URI comes to; `undefined` where it names nothing. */
async function read(resources: Resources, uri: string, faults: Fault[] = []): Promise<ReadOutcome | undefined> {
  const resolved = createUriResolver(catalogWith(resources))(uri);
  if (resolved === undefined) return undefined;
  const invoker = createInvoker({ report: (fault) => faults.push(fault) });
  const outcome = await invoker.read(resolved, new CallContext());
  invoker.close();
  return outcome;
}

const contentOf = async (resource: AnyBespokeResource): Promise<unknown> => {
  const outcome = await read({ probe: resource }, "surface://probe/probe");
  return outcome?.kind === "content" ? outcome.content : outcome;
};

const echo: AnyBespokeResource["read"] = (variables) => variables ?? "none";

describe("what a hand-written resource holds", () => {
  it.each<[string, AnyBespokeResource, unknown]>([
    ["JSON", { read: () => ({ at: new Date(0), list: [1] }) }, '{"at":"1970-01-01T00:00:00.000Z","list":[1]}'],
    ["a text", { read: async () => "a" }, '"a"'],
    ["null", { read: () => null }, "null"],
    ["a text of its type", { mimeType: "text/plain", read: () => "a" }, { mimeType: "text/plain", text: "a" }],
    [
      "bytes of its type",
      { mimeType: "image/png", read: () => new Uint8Array([1]) },
      { mimeType: "image/png", blob: "AQ==" },
    ],
    [
      "JSON of its type",
      { mimeType: "application/ld+json", read: () => [1] },
      { mimeType: "application/ld+json", text: "[1]" },
    ],
    [
      "a body",
      { read: () => body({ mimeType: "text/csv", text: "a,b", meta: { rows: 1 } }) },
      { mimeType: "text/csv", text: "a,b", meta: { rows: 1 } },
    ],
    [
      "a body of bytes",
      { read: () => body({ mimeType: "image/png", bytes: "AA==" }) },
      { mimeType: "image/png", blob: "AA==" },
    ],
    ["nothing", { read: () => undefined }, { kind: "absent" }],
  ])("a resource whose read gives %s holds that", async (_what, resource, content) => {
    expect(await contentOf(resource)).toEqual(content);
  });

  it("JSON that looks like a body is JSON", async () => {
    expect(await contentOf({ read: () => ({ mimeType: "text/html", text: "a" }) })).toBe(
      '{"mimeType":"text/html","text":"a"}',
    );
  });

  it.each<[string, unknown, object]>([
    ["an author's error", new TypeError("secret"), { kind: "refused", code: "INTERNAL" }],
    ["a refusal", new Refusal("NOT_NOW", "come back"), { kind: "refused", code: "NOT_NOW" }],
    ["that a backend has nothing", new SurfaceError("ABSENT", "secret"), { kind: "absent" }],
    [
      "that it has used a backend wrongly",
      new SurfaceError("VALIDATION_ERROR", "secret"),
      { kind: "refused", code: "INTERNAL" },
    ],
  ])("what read throws is masked: %s", async (_what, cause, outcome) => {
    const refusing = (): never => {
      throw cause;
    };
    const found = await contentOf({ read: refusing });
    expect(found).toMatchObject(outcome);
    expect(JSON.stringify(found)).not.toContain("secret");
  });

  it("a value that cannot be written is withheld", async () => {
    expect(await contentOf({ read: () => new Map() })).toMatchObject({ kind: "refused" });
  });
});

describe("where a hand-written resource is", () => {
  it("a resource is listed under its key, with its looks and its type", () => {
    const catalog = catalogWith({
      "a.b": { title: "T", mimeType: "text/plain", icons: [{ src: "https://a.test/i" }], meta: { a: 1 }, read: echo },
    });
    expect(catalog.resources).toMatchObject([
      { uri: "surface://probe/a.b", id: "a.b", title: "T", mimeType: "text/plain", meta: { a: 1 } },
    ]);
  });

  it("variables stand behind the key, optional ones last, and are coerced and validated", async () => {
    const variables = z.object({ node: z.string().max(3), since: z.int().optional() });
    const resources = { log: { variables, read: echo } };
    expect(catalogWith(resources).templates).toMatchObject([{ uriTemplate: "surface://probe/log/{node}{/since}" }]);
    expect(await read(resources, "surface://probe/log/a%2Fb")).toMatchObject({ content: '{"node":"a/b"}' });
    expect(await read(resources, "surface://probe/log/a/7")).toMatchObject({ content: '{"node":"a","since":7}' });
    expect(await read(resources, "surface://probe/log/long")).toEqual({ kind: "absent" });
    for (const none of ["log", "log/a/x", "log/a/7/8", "log/..", "log/%2e%2e", "log/", "log/a%00"]) {
      expect(await read(resources, `surface://probe/${none}`)).toBeUndefined();
    }
  });

  it("a resource may have a URI of its own", async () => {
    const resources = { text: { uri: "test://static-text", read: () => "a" } };
    expect(await read(resources, "test://static-text")).toMatchObject({ content: '"a"' });
    for (const none of ["surface://probe/text", "test://static-text/", "test://static", "TEST://static-text"]) {
      expect(await read(resources, none)).toBeUndefined();
    }
  });

  it("a template of its own has its variables as whole segments, wherever they are", async () => {
    const variables = z.object({ id: z.string(), part: z.int() });
    const uriTemplate = "test://template/{part}/of/{id}/data";
    const resources = { page: { uriTemplate, variables, read: echo } };
    expect(catalogWith(resources).templates).toMatchObject([{ uriTemplate }]);
    expect(await read(resources, "test://template/7/of/a%20b/data")).toMatchObject({
      content: '{"id":"a b","part":7}',
    });
    const none = [
      "x/of/a/data",
      "7/of/a",
      "7/of/a/data/",
      "7/of//data",
      "7/of/../data",
      "7/of/%2e%2e/data",
      "7/OF/a/data",
      "7/of/%ff/data",
    ];
    for (const each of none) expect(await read(resources, `test://template/${each}`)).toBeUndefined();
    expect(await read(resources, "surface://probe/page/7/a")).toBeUndefined();
  });

  it("variables of an enum complete by themselves, others by their author's function", async () => {
    const variables = z.object({ id: z.string(), kind: z.enum(["a", "b"]), n: z.int() });
    const [template] = catalogWith({ page: { variables, complete: { id: (begun) => [begun] }, read: echo } }).templates;
    const proposed = template?.variables.map(async ({ complete }) => complete?.("x", new CallContext(), {}));
    expect(await Promise.all(proposed ?? [])).toEqual([["x"], ["a", "b"], undefined]);
  });

  const scalar = z.object({ id: z.string() });
  it.each<[string, Resources, string]>([
    ["a key that no member could have", { "a/b": { read: echo } }, "INVALID_NAME"],
    ["a key that begins with an underscore", { _parts: { read: echo } }, "INVALID_NAME"],
    ["no read", { a: {} as never }, "MISSING_HANDLER"],
    ["a watch that is none", { a: { read: echo, watch: 1 as never } }, "INVALID_OPTION"],
    ["an unknown word", { a: { read: echo, nope: 1 } as never }, "INVALID_OPTION"],
    ["items to list", { a: { read: echo, listItems: true } as never }, "WRONG_KIND"],
    ["a type that is none", { a: { read: echo, mimeType: "text" } }, "INVALID_OPTION"],
    ["a window that is none", { a: { read: echo, windowMs: -1 } }, "INVALID_OPTION"],
    ["a URI without a scheme", { a: { uri: "/a", read: echo } }, "INVALID_OPTION"],
    ["a URI of those of members", { a: { uri: "surface://probe/b", read: echo } }, "INVALID_OPTION"],
    ["a URI with a variable", { a: { uri: "app://b/{c}", read: echo } }, "INVALID_OPTION"],
    ["a URI and variables", { a: { uri: "app://b", variables: scalar, read: echo } }, "INVALID_OPTION"],
    ["a template without variables", { a: { uriTemplate: "app://b/{id}", read: echo } }, "INVALID_OPTION"],
    [
      "a template of other variables",
      { a: { uriTemplate: "app://b/{x}", variables: scalar, read: echo } },
      "INVALID_OPTION",
    ],
    [
      "a template with a part of a segment",
      { a: { uriTemplate: "app://b/x{id}", variables: scalar, read: echo } },
      "INVALID_OPTION",
    ],
    [
      "a template that begins with a variable",
      { a: { uriTemplate: "app://{id}/b", variables: scalar, read: echo } },
      "INVALID_OPTION",
    ],
    [
      "a template with a variable twice",
      { a: { uriTemplate: "app://b/{id}/{id}", variables: scalar, read: echo } },
      "INVALID_OPTION",
    ],
    [
      "a template with an optional variable",
      { a: { uriTemplate: "app://b/{id}", variables: z.object({ id: z.string().optional() }), read: echo } },
      "INVALID_OPTION",
    ],
    [
      "variables that no URI spells",
      { a: { variables: z.object({ b: z.array(z.string()) }), read: echo } },
      "INVALID_MEMBER",
    ],
    [
      "a completer of no variable",
      { a: { variables: scalar, complete: { x: () => [] }, read: echo } },
      "INVALID_OPTION",
    ],
  ])("a resource with %s is refused when the catalog is made", (_what, resources, code) => {
    expect(thrownBy(() => catalogWith(resources))).toMatchObject({ code });
  });

  it("two entries of one URI are refused, naming both", () => {
    const expose = { state: "resource" } as const;
    const members = { state: cell({ schema: z.number() }) };
    expect(thrownBy(() => catalogOf(members, { expose, resources: { state: { read: echo } } }))).toMatchObject({
      code: "NAME_COLLISION",
      message:
        'Cannot name resource "state": its URI "surface://probe/state" is taken by cell "state"; rename one of them',
    });
    const uri = "app://x";
    expect(thrownBy(() => catalogWith({ a: { uri, read: echo }, b: { uri, read: echo } }))).toMatchObject({
      message: 'Cannot name resource "b": its URI "app://x" is taken by resource "a"; rename one of them',
    });
    const other = z.object({ other: z.string() });
    const templates = {
      a: { uriTemplate: "app://x/{id}", variables: scalar, read: echo },
      b: { uriTemplate: "app://x/{other}", variables: other, read: echo },
    };
    expect(thrownBy(() => catalogWith(templates))).toMatchObject({ code: "NAME_COLLISION" });
  });

  const own = (uriTemplate: string, variables: MaybeSchema): AnyBespokeResource => ({
    uriTemplate,
    variables,
    read: (given) => ({ [uriTemplate]: given }),
  });
  const count = z.object({ id: z.int() });
  const paged = z.object({ id: z.string(), page: z.string() });

  it.each<[string, AnyBespokeResource, AnyBespokeResource]>([
    ["different types", own("app://x/{id}", scalar), own("app://x/{id}", count)],
    ["other names", own("app://x/{id}/{page}", paged), own("app://x/{page}/{id}", paged)],
  ])("two templates of their own are refused when they differ in their variables alone: %s", (_what, a, b) => {
    expect(thrownBy(() => catalogWith({ a, b }))).toMatchObject({
      code: "NAME_COLLISION",
      message: expect.stringMatching(
        /^Cannot name resource "b": its URI "app:.*" is taken by resource "a"; rename one of them$/,
      ),
    });
  });

  it.each<[string, AnyBespokeResource, AnyBespokeResource]>([
    ["app://x/new/1", own("app://x/new/{id}", scalar), own("app://x/{id}/{page}", paged)],
    ["app://x/a/b", own("app://x/a/{id}", scalar), own("app://x/{id}/b", scalar)],
    ["app://x/7/b", own("app://x/7/{id}", scalar), own("app://x/{id}/b", count)],
  ])("a template with a text is read before one with a variable at the same place: %s", async (uri, first, other) => {
    for (const templates of [
      { a: first, b: other },
      { a: other, b: first },
    ]) {
      expect(await read(templates, uri)).toMatchObject({ content: expect.stringContaining(String(first.uriTemplate)) });
    }
  });

  it("templates of their own that no URI is of both are read each by its own", async () => {
    const templates = {
      a: own("app://x/{id}/b", count),
      b: own("app://x/new/{id}", scalar),
      c: own("app://x/{id}", scalar),
      d: own("app://y/{id}", scalar),
      e: own("app://x/{id}/b/c", scalar),
    };
    const contents = async (uri: string): Promise<unknown> => {
      const outcome = await read(templates, uri);
      return outcome?.kind === "content" ? outcome.content : outcome;
    };
    expect(await contents("app://x/7/b")).toBe('{"app://x/{id}/b":{"id":7}}');
    expect(await contents("app://x/new/b")).toBe('{"app://x/new/{id}":{"id":"b"}}');
    expect(await contents("app://x/new")).toBe('{"app://x/{id}":{"id":"new"}}');
    expect(await contents("app://x/old/b/c")).toBe('{"app://x/{id}/b/c":{"id":"old"}}');
    expect(await contents("app://x/old/b")).toBeUndefined();
  });

  it("a fixed URI is read before what a template says of it", async () => {
    const resources = { a: own("app://x/{id}", scalar), b: { uri: "app://x/new", read: () => "fixed" } };
    expect(await read(resources, "app://x/new")).toMatchObject({ content: '"fixed"' });
    expect(await read(resources, "app://x/old")).toMatchObject({ content: '{"app://x/{id}":{"id":"old"}}' });
  });
});

describe("body()", () => {
  it.each<[string, object]>([
    ["no type", { text: "a" }],
    ["neither text nor bytes", { mimeType: "text/plain" }],
    ["bytes that are none", { mimeType: "image/png", bytes: "!" }],
    ["a meta of the protocol's", { mimeType: "image/png", bytes: "", meta: { "mcp/a": 1 } }],
  ])("body() refuses %s", (_what, definition) => {
    expect(thrownBy(() => body(definition as never))).toMatchObject({ code: "INVALID_OPTION" });
  });
});
