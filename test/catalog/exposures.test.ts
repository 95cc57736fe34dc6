import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { Catalog } from "../../src/catalog/catalog.ts";
import type { ExposeValue } from "../../src/catalog/expose.ts";
import { cell, collection, event, procedure, stream } from "../../src/surface/define-members.ts";
import type { Member } from "../../src/surface/member.ts";
import { mcpResource } from "../../src/tags/mcp-resource.ts";
import { mcpTool } from "../../src/tags/mcp-tool.ts";
import { readOnly } from "../../src/tags/read-only.ts";
import { catalogOf, thrownBy } from "./support.ts";

const text = z.string();
const kinds: Readonly<Record<string, Member>> = {
  cell: cell({ schema: text }),
  collection: collection({ key: text, schema: text }),
  stream: stream({ output: text }),
  "stream with input": stream({ input: text, output: text }),
  event: event({ output: text }),
  "event with input": event({ input: text, output: text }),
  procedure: procedure({ input: text, output: text }),
};

/** What a catalog offers, in short. */
function offers({ tools, resources, templates }: Catalog): readonly string[] {
  return [
    ...tools.map(({ name }) => `tool ${name}`),
    ...resources.map(({ uri }) => uri),
    ...templates.map(({ uriTemplate }) => uriTemplate),
  ];
}

function exposed(kind: string, value: ExposeValue): Catalog {
  const member = kinds[kind];
  return catalogOf(member === undefined ? {} : { "a.x": member }, { expose: { "a.x": value } });
}

describe("each kind on each side", () => {
  it.each([
    ["cell", ["surface://probe/a.x"]],
    ["collection", ["surface://probe/a.x", "surface://probe/a.x/{key}"]],
    ["stream", ["surface://probe/a.x"]],
    ["stream with input", ["surface://probe/a.x/{value}"]],
    ["event", ["surface://probe/a.x"]],
    ["event with input", ["surface://probe/a.x/{value}"]],
  ])("createCatalog() makes a %s a resource", (kind, expected) => {
    expect(offers(exposed(kind, "resource"))).toEqual(expected);
  });

  it.each(["stream", "stream with input", "event", "event with input", "procedure"])(
    "createCatalog() makes a %s a tool",
    (kind) => {
      expect(offers(exposed(kind, "tool"))).toEqual(["tool a_x"]);
    },
  );

  it.each([
    ["cell", "tool"],
    ["collection", "tool"],
    ["procedure", "resource"],
  ] as const)("readExposeMap() refuses a %s as a %s", (kind, value) => {
    expect(thrownBy(() => exposed(kind, value))).toMatchObject({
      code: "WRONG_KIND",
      message: `Cannot expose "a.x": a ${kind} cannot be a ${value}`,
    });
  });

  it("createCatalog() offers nothing of what is neither tagged nor exposed", () => {
    const members = { ...kinds, "stream with input": undefined, "event with input": undefined };
    const untagged = Object.fromEntries(
      Object.entries(members).flatMap(([key, member]) => (member ? [[key, member]] : [])),
    );
    expect(offers(catalogOf(untagged))).toEqual([]);
    expect(offers(catalogOf({ shown: readOnly(procedure({})) }))).toEqual([]);
  });

  it("createCatalog() gives the tag's own words before the member's", () => {
    const member = procedure({ title: "member", description: "of the member" });
    const [tool] = catalogOf({ a: mcpTool(member, { title: "tag" }) }).tools;
    expect(tool).toMatchObject({ id: "a", origin: 'procedure "a"', title: "tag", description: "of the member" });
  });
});

describe("templates", () => {
  it.each([
    ["an array", z.array(text)],
    ["a nested object", z.object({ a: z.object({ b: text }) })],
    ["an object with an array", z.object({ a: z.array(text) })],
    ["an empty object", z.object({})],
    ["a record", z.record(text, text)],
    ["a union of objects", z.union([z.object({ a: text }), z.object({ b: text })])],
    ["anything", z.unknown()],
    ["a date in an object in an array", z.tuple([z.date()])],
  ])("createCatalog() refuses %s as the input of a resource", (_what, input) => {
    for (const member of [stream({ input, output: text }), event({ input, output: text })] as readonly Member[]) {
      expect(thrownBy(() => catalogOf({ a: member }, { expose: { a: "resource" } }))).toMatchObject({
        code: "INVALID_MEMBER",
        message: expect.stringContaining(`${member.kind} "a"`),
      });
    }
  });

  it("createCatalog() refuses a collection whose key is not spelled in a URI", () => {
    const member = collection({ key: z.array(text) as never, schema: text }) as Member;
    expect(thrownBy(() => catalogOf({ a: member }, { expose: { a: "resource" } }))).toMatchObject({
      code: "INVALID_MEMBER",
    });
  });

  it("createCatalog() refuses an optional field before one that is required", () => {
    const input = z.object({ tail: z.int().optional(), node: text });
    expect(thrownBy(() => catalogOf({ a: mcpResource(stream({ input, output: text })) }))).toMatchObject({
      code: "INVALID_MEMBER",
      message: expect.stringContaining("declared last"),
    });
  });

  it.each(["node-id", "a b", "a,b", "+a", "a*", "{a}", "é", ""])(
    "createCatalog() refuses the field %j, which is no variable of a URI template",
    (name) => {
      const member = stream({ input: z.object({ [name]: text }), output: text });
      expect(thrownBy(() => catalogOf({ a: member }, { expose: { a: "resource" } }))).toMatchObject({
        code: "INVALID_MEMBER",
        message: expect.stringContaining(`"${name}"`),
      });
    },
  );

  it("createCatalog() takes scalars of every sort, and flat objects of them in declared order", () => {
    const inputs = {
      a: z.enum(["x", "y"]),
      b: z.boolean(),
      c: z.int(),
      d: z.union([z.string(), z.number()]),
      e: z.object({ z: text, a: z.enum(["x"]), m: z.boolean().optional() }),
      f: z.bigint(),
      g: z.date(),
    };
    const members = Object.fromEntries(
      Object.entries(inputs).map(([key, input]): [string, Member] => [key, stream({ input, output: text })]),
    );
    const expose = Object.fromEntries(Object.keys(members).map((key): [string, ExposeValue] => [key, "resource"]));
    const suffixes = catalogOf(members, { expose }).templates.map(({ uriTemplate }) =>
      uriTemplate.replace(/^surface:..probe.\w/, ""),
    );
    expect(suffixes).toEqual(["/{value}", "/{value}", "/{value}", "/{value}", "/{z}/{a}{/m}", "/{value}", "/{value}"]);
  });
});

describe("readExposeMap()", () => {
  const member = procedure({});

  it.each(["nope", "toString", "__proto__", "constructor", "a.b"])("readExposeMap() refuses the key %s", (key) => {
    const expose = JSON.parse(`{${JSON.stringify(key)}:"tool"}`) as Record<string, ExposeValue>;
    expect(thrownBy(() => catalogOf({ a: member }, { expose }))).toMatchObject({
      code: "UNKNOWN_MEMBER",
      message: `Cannot expose "${key}": surface "probe" has no such member`,
    });
  });

  it("readExposeMap() refuses a member that is tagged", () => {
    expect(thrownBy(() => catalogOf({ a: mcpTool(member) }, { expose: { a: "tool" } }))).toMatchObject({
      code: "ALREADY_EXPOSED",
    });
  });

  it.each<unknown>([
    "prompt",
    "",
    true,
    null,
    {},
    { tool: null },
    { tool: {}, more: 1 },
    { tool: { nope: 1 } },
    ["tool"],
  ])("readExposeMap() refuses the value %j", (value) => {
    // For authors who cast.
    const expose = { a: value as ExposeValue };
    expect(thrownBy(() => catalogOf({ a: member }, { expose }))).toMatchObject({ code: "INVALID_OPTION" });
  });

  it.each<[string, Member]>([
    ["a stream", stream({ output: text })],
    ["an event", event({ output: text })],
    ["a read-only procedure", readOnly(procedure({}))],
  ])("readExposeMap() refuses to let %s mutate", (_what, reading) => {
    const expose = { a: { tool: { mutates: true } } };
    expect(thrownBy(() => catalogOf({ a: reading }, { expose }))).toMatchObject({ code: "CONTRADICTION" });
  });

  it.each<[string, Member]>([
    ["a stream", stream({ input: z.object({ wait_ms: z.int() }), output: text })],
    ["an event", event({ input: z.object({ since: text }), output: text })],
    [
      "an arm of an event",
      event({
        input: z.discriminatedUnion("k", [
          z.object({ k: z.literal("a") }),
          z.object({ k: z.literal("b"), timeout_ms: z.int() }),
        ]),
        output: text,
      }),
    ],
    [
      "one side of an event",
      event({ input: z.intersection(z.object({ a: text }), z.object({ since: text })), output: text }),
    ],
  ])("readExposeMap() refuses a field with the name of a synthetic one in %s", (_what, waiting) => {
    expect(thrownBy(() => catalogOf({ a: waiting }, { expose: { a: "tool" } }))).toMatchObject({
      code: "NAME_COLLISION",
      message: expect.stringContaining('"a"'),
    });
    expect(thrownBy(() => catalogOf({ a: waiting }, { expose: { a: "resource" } }))).not.toMatchObject({
      code: "NAME_COLLISION",
    });
  });
});
