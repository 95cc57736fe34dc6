import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fromOpenApi } from "../../../src/from/openapi/openapi.ts";
import { operations } from "../../../src/from/openapi/document.ts";
import type { OpenApiExposeMap } from "../../../src/from/openapi/openapi-types.ts";
import { petstore } from "./petstore.ts";

const base = { baseUrl: "https://api.example" };

function mount(document: object, expose: OpenApiExposeMap, options: object = base) {
  // As an author does who casts.
  return fromOpenApi(document as never, expose as never, options as never);
}

function codeFor(document: object, expose: object, options?: object): string {
  try {
    mount(document, expose as OpenApiExposeMap, options);
  } catch (cause) {
    const { code, message } = cause as { code?: string; message: string };
    return `${code ?? "NO CODE"} ${message}`;
  }
  return "mounted";
}

/** A document of one GET. */
function oneGet(operation: object, path = "/a", more: object = {}): object {
  return { openapi: "3.1.0", paths: { [path]: { get: { operationId: "a", ...operation } } }, ...more };
}

function inputOf(document: object, key = "a"): unknown {
  return mount(document, { [key]: "write" }).list()[0]?.inputSchema;
}

const store = petstore("3.1.0");

describe("an expose map", () => {
  it("exposes what it names and nothing else, also nothing of a document that grows", () => {
    expect(mount(store, {}).list()).toEqual([]);
    expect(mount(store, { listPets: undefined }).list()).toEqual([]);
    expect(
      mount(store, { listPets: "read" })
        .list()
        .map(({ name }) => name),
    ).toEqual(["listPets"]);
  });

  it.each([
    [
      { listPetz: "read" },
      'UNKNOWN_MEMBER Cannot mount an OpenAPI document: "listPetz" is in the map and is no operation of the document; did you mean "listPets"?',
    ],
    [{ "*": "read" }, "UNKNOWN_MEMBER"],
    [{ "GET *": "read" }, "patterns are not supported"],
    [{ "get /pets": "read" }, "UNKNOWN_MEMBER"],
    [{ "TRACE /pets": "write" }, "UNKNOWN_MEMBER"],
    [{ constructor: "read" }, "UNKNOWN_MEMBER"],
    [{ "GET /pets/{petId}/..": "read" }, "UNKNOWN_MEMBER"],
    [{ hidePet: "write" }, 'CONTRADICTION Cannot mount an OpenAPI document: the document hides "hidePet"'],
    [{ "PATCH /pets/{petId}": "write" }, "CONTRADICTION"],
    [
      { createPet: "read" },
      'WRONG_KIND Cannot expose operation "createPet" as "read": POST may change something; expose it as "write"',
    ],
    [{ deletePet: "resource" }, "WRONG_KIND"],
    [{ showPet: "resource" }, 'only a GET without required inputs can be a resource; expose it as "read"'],
    [{ listPets: "tool" }, "INVALID_OPTION"],
    [{ listPets: false }, "INVALID_OPTION"],
    [{ listPets: { read: {}, write: {} } }, "INVALID_OPTION"],
    [{ listPets: { read: { type: "query" } } }, '"type" is not an option: the API decides it'],
    [{ listPets: { read: { titel: "x" } } }, "INVALID_OPTION"],
    [{ listPets: { read: { name: 1 } } }, "INVALID_OPTION"],
    [{ listPets: { read: { destructive: true } } }, "CONTRADICTION"],
    [{ listPets: "read", "GET /pets": "read" }, "mounted"],
    [{ listPets: "read", "GET /pets": { read: { name: "listPets" } } }, "NAME_COLLISION"],
    [{ listPets: "resource", "GET /pets": { resource: { name: "listPets" } } }, "NAME_COLLISION"],
    [{ listPets: { read: { name: "a".repeat(65) } } }, "INVALID_NAME"],
    [[], "INVALID_OPTION"],
    ["listPets", "INVALID_OPTION"],
  ])("%j is answered at startup", (expose, message) => {
    expect(codeFor(store, expose as object)).toContain(message);
  });

  it.each([
    ["ftp://api.example", {}],
    ["https://me:secret@api.example", {}],
    ["https://api.example?x=1", {}],
    ["/v1", {}],
    [undefined, {}],
    ["https://api.example", { credentials: "token" }],
    ["https://api.example", { headers: {} }],
  ])("is refused with the base URL %j and %j, without a secret in the message", (baseUrl, more) => {
    expect(codeFor(store, {}, { baseUrl, ...more })).toMatch(/^INVALID_OPTION(?!.*secret)/);
  });
});

describe("a random document with a random map", () => {
  const word = fc.stringMatching(/^[a-c]{1,2}$/);
  const operation = fc.record({
    path: word,
    method: fc.constantFrom("get", "head", "post", "delete"),
    isHidden: fc.constantFrom(false, false, true),
    as: fc.constantFrom(undefined, "read", "write", "resource"),
    byId: fc.boolean(),
  });
  const operationsOf = fc.uniqueArray(operation, { selector: ({ path, method }) => `${method} ${path}` });

  it("lists what the map names, by its kind, or refuses the map", () => {
    const property = fc.property(operationsOf, (all) => {
      const paths: Record<string, Record<string, object>> = {};
      for (const { path, method, isHidden } of all) {
        const item = (paths[`/${path}`] ??= {});
        item[method] = { operationId: `${method}-${path}`, ...(isHidden ? { "x-mcp": false } : {}) };
      }
      const keyOf = ({ path, method, byId }: (typeof all)[number]): string =>
        byId ? `${method}-${path}` : `${method.toUpperCase()} /${path}`;
      const exposed = all.filter(({ as }) => as !== undefined);
      const map = Object.fromEntries(all.map((one) => [keyOf(one), one.as])) as OpenApiExposeMap;
      const isWrong = exposed.some(({ method, as }) =>
        as === "resource" ? method !== "get" : as === "read" && method !== "get" && method !== "head",
      );
      if (isWrong || exposed.some(({ isHidden }) => isHidden)) {
        return /^(?:WRONG_KIND|CONTRADICTION)/.test(codeFor({ openapi: "3.1.0", paths }, map));
      }
      const source = mount({ openapi: "3.1.0", paths }, map);
      const namesOf = (kinds: readonly unknown[]): readonly string[] =>
        exposed.filter(({ as }) => kinds.includes(as)).map((one) => keyOf(one).replace(" /", "_"));
      expect(source.list().map(({ name }) => name)).toEqual(namesOf(["read", "write"]));
      expect(source.list().flatMap(({ name, type }) => (type === "mutation" ? [name] : []))).toEqual(
        namesOf(["write"]),
      );
      expect((source.resources?.() ?? []).map(({ path }) => path)).toEqual(namesOf(["resource"]));
      return true;
    });
    fc.assert(property, { numRuns: 300 });
  });
});

describe("a hostile document", () => {
  it.each([
    [{}, "INVALID_OPTION"],
    [{ swagger: "2.0", paths: {} }, "INVALID_OPTION"],
    [{ openapi: "4.0.0" }, 'its version is "4.0.0"'],
    [{ openapi: "3.1.0" }, "UNKNOWN_MEMBER"],
    [{ openapi: "3.1.0", paths: null }, "UNKNOWN_MEMBER"],
    [{ openapi: "3.1.0", paths: { "/a": null, "/b": { get: 5 } } }, "UNKNOWN_MEMBER"],
    [{ openapi: "3.1.0", paths: { a: { get: { operationId: "a" } } } }, "UNKNOWN_MEMBER"],
    [oneGet({ parameters: [{ $ref: "https://evil.example/x.json" }] }), "leaves the document, and nothing is fetched"],
    [oneGet({ parameters: [{ $ref: "file:///etc/passwd" }] }), "SCHEMA_UNSUPPORTED"],
    [oneGet({ parameters: [{ name: "q", in: "query", schema: { $ref: "other.json#/x" } }] }), "SCHEMA_UNSUPPORTED"],
    [oneGet({ parameters: [{ name: "q", in: "query", schema: { $ref: "#/nowhere" } }] }), "points at nothing"],
    [oneGet({ parameters: [{ name: "q", in: "query", schema: { $ref: "#/__proto__" } }] }), "points at nothing"],
    [oneGet({ parameters: [{ $ref: "#/x" }] }, "/a", { x: { $ref: "#/x" } }), "points at itself"],
    [
      oneGet({ parameters: [{ name: "q", in: "query", schema: { $ref: "#/x" } }] }, "/a", { x: { $ref: "#/x" } }),
      "mounted",
    ],
    [
      oneGet({ parameters: [{ name: "q", in: "query", style: "pipeDelimited", schema: {} }] }),
      "has a style other than form and deepObject",
    ],
    [oneGet({ parameters: [{ name: "q", in: "body", schema: {} }] }), "SCHEMA_UNSUPPORTED"],
    [oneGet({ parameters: [{ in: "query" }] }), "SCHEMA_UNSUPPORTED"],
    [oneGet({ parameters: [{ name: "a\r\nb", in: "header" }] }), "SCHEMA_UNSUPPORTED"],
    [oneGet({ parameters: [{ name: "id", in: "path", style: "matrix" }] }, "/a/{id}"), "has a style other than simple"],
    [oneGet({}, "/a/{id}"), "the variables of its path and its path parameters differ"],
    [oneGet({}, "/a/../b"), "its path must be percent-encoded segments"],
    [oneGet({}, "//evil.example/a"), "mounted"],
    [oneGet({}, "/\\evil.example/a"), "its path must be percent-encoded segments"],
    [oneGet({}, "/a?b=1"), "its path must be percent-encoded segments"],
    [oneGet({}, "/a#b"), "its path must be percent-encoded segments"],
    [oneGet({}, "/%2e%2e/a"), "its path must be percent-encoded segments"],
    [oneGet({}, "/a b"), "its path must be percent-encoded segments"],
    [
      oneGet({ requestBody: { required: true, content: { "multipart/form-data": {} } } }),
      "requires a body that is not JSON",
    ],
    [
      oneGet({ requestBody: { required: true, content: { "application/json;a\r\nx-b: c": {} } } }),
      "requires a body that is not JSON",
    ],
    [
      oneGet({ responses: { 200: { content: { "application/json": { schema: { nullable: 1, type: 5 } } } } } }),
      "SCHEMA_UNSUPPORTED",
    ],
    [
      { openapi: "3.1.0", paths: { "/a": { get: { operationId: "a" } }, "/b": { get: { operationId: "a" } } } },
      'NAME_COLLISION Cannot mount an OpenAPI document: "a" is the operationId of several operations',
    ],
  ])("%j is answered when one of its operations is exposed", (document, message) => {
    expect(codeFor(document, { a: "write" })).toContain(message);
  });

  it("harms no operation beside the faulty one", () => {
    const paths = {
      "/a": { get: { operationId: "a" } },
      "/b": { $ref: "https://evil.example" },
      "/c": { get: { operationId: "c", parameters: [{ $ref: "//x" }] } },
    };
    expect(codeFor({ openapi: "3.1.0", paths }, { a: "read" })).toBe("mounted");
    expect(codeFor({ openapi: "3.1.0", paths }, { "GET /b": "read" })).toContain("leaves the document");
  });

  it("keeps circles of schemas as circles, and refuses objects that contain themselves", () => {
    const components = {
      schemas: { Node: { type: "object", properties: { next: { $ref: "#/components/schemas/Node" } } } },
    };
    const parameters = [{ name: "q", in: "query", schema: { $ref: "#/components/schemas/Node" } }];
    expect(codeFor(oneGet({ parameters }, "/a", { components }), { a: "read" })).toBe("mounted");
    const loop: Record<string, unknown> = { type: "object" };
    loop["properties"] = { loop };
    expect(codeFor(oneGet({ parameters: [{ name: "q", in: "query", schema: loop }] }), { a: "read" })).toContain(
      "contains itself",
    );
  });

  it("of 10,000 operations lists the exposed one, and needs no others", () => {
    const paths = Object.fromEntries(
      Array.from({ length: 10_000 }, (_, index) => [`/a${index}`, { get: { operationId: `a${index}` } }]),
    );
    expect(mount({ openapi: "3.0.0", paths }, { a9999: "read" }).list()).toHaveLength(1);
    expect(operations({ openapi: "3.0.0", paths }).split("\n")).toHaveLength(10_002);
  });

  it("has names that collide after escaping: both cannot be exposed, unless one is renamed", () => {
    const paths = { "/a": { get: { operationId: "x/y" }, post: { operationId: "x_y" }, put: { operationId: "x y" } } };
    const document = { openapi: "3.1.0", paths };
    expect(mount(document, { "x/y": "read" }).list()[0]?.name).toBe("x_y");
    expect(codeFor(document, { "x/y": "read", x_y: "write" })).toContain("NAME_COLLISION");
    expect(codeFor(document, { "x/y": "read", "x y": { write: { name: "put" } } })).toBe("mounted");
  });

  it("has no names of prototypes and no invisible characters in what agents read", () => {
    const parameters = ["__proto__", "constructor", "toString"].map((name) => ({ name, in: "query", schema: {} }));
    const document = oneGet({ parameters, summary: "A\u0007\u202Eb", description: "x".repeat(5000) });
    const [listed] = mount(document, { a: "read" }).list();
    const { properties } = (listed?.inputSchema ?? {}) as { readonly properties?: object };
    expect(Object.keys(properties ?? {})).toEqual(["__proto__", "constructor", "toString"]);
    expect(listed?.title).toBe("A \\u{202e}b");
    expect(listed?.description?.length).toBeLessThanOrEqual(2048);
  });
});

describe("an input", () => {
  it("is refused where two parameters have one name", () => {
    const parameters = [
      { name: "id", in: "path", required: true, schema: { type: "string" } },
      { name: "id", in: "query", schema: { type: "integer" } },
    ];
    expect(() => inputOf(oneGet({ parameters }, "/a/{id}"))).toThrow('two of its inputs have the name "id"');
  });

  it("has the parameters of its path, unless the operation replaces them", () => {
    const common = [
      { name: "q", in: "query", schema: { type: "string" } },
      { name: "r", in: "query", schema: { type: "string" } },
    ];
    const get = { operationId: "a", parameters: [{ name: "q", in: "query", schema: { type: "integer" } }] };
    expect(inputOf({ openapi: "3.1.0", paths: { "/a": { parameters: common, get } } })).toMatchObject({
      properties: { q: { type: "integer" }, r: { type: "string" } },
    });
  });

  it("has no keyword of OpenAPI 3.0", () => {
    const schema = {
      ...{ type: "string", nullable: true, enum: ["a"], example: "a", "x-internal": "secret", xml: {} },
      discriminator: { propertyName: "kind" },
    };
    const parameters = [
      { name: "q", in: "query", schema },
      {
        name: "n",
        in: "query",
        schema: { type: "number", minimum: 1, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: false },
      },
      { name: "o", in: "query", schema: { nullable: true, allOf: [{ type: "object" }] } },
      { name: "p", in: "query", schema: { type: "string", pattern: "(a)\\1" } },
    ];
    const document = { ...oneGet({ parameters }), openapi: "3.0.3" };
    expect(inputOf(document)).toEqual({
      type: "object",
      properties: {
        q: { type: ["string", "null"], enum: ["a", null] },
        n: { type: "number", exclusiveMinimum: 1, maximum: 9 },
        o: { anyOf: [{ allOf: [{ type: "object" }] }, { type: "null" }] },
        p: { type: "string" },
      },
      additionalProperties: false,
    });
  });
});

describe("operations()", () => {
  it("prints a map in which everything is denied, also text that would leave its comment", () => {
    const hostile = { "/a": { get: { operationId: 'a"\n\u2028}', summary: "x\nlistPets: evil\u2029*/" } } };
    expect(operations({ openapi: "3.1.0", paths: { ...store.paths, ...hostile } })).toBe(
      [
        "{",
        '  // "listPets": "read", // GET /pets: List pets',
        '  // "countPets": "read", // HEAD /pets',
        '  // "createPet": "write", // POST /pets',
        '  // "showPet": "read", // GET /pets/{petId}',
        '  // "deletePet": "write", // DELETE /pets/{petId}',
        '  // "health": "read", // GET /health',
        '  // "a\\"\\n\\u2028}": "read", // GET /a: x listPets: evil */',
        "}",
      ].join("\n"),
    );
  });
});
