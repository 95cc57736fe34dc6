import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { Schema } from "../../src/schema/standard.ts";
import { cell, collection, event, procedure, stream } from "../../src/surface/define-members.ts";
import type { Member } from "../../src/surface/member.ts";
import { mcpResource } from "../../src/tags/mcp-resource.ts";
import { mcpTool } from "../../src/tags/mcp-tool.ts";
import { catalogOf, thrownBy } from "./support.ts";

const text = z.string();
const handler = (): number => 1;

/** A schema that counts how often it is converted to JSON Schema. */
function counting(): { readonly schema: Schema; readonly conversions: () => readonly string[] } {
  const seen: string[] = [];
  const convert = (side: string) => (): Record<string, unknown> => {
    seen.push(side);
    return { type: "string" };
  };
  const schema = {
    "~standard": {
      version: 1,
      vendor: "counting",
      validate: (value: unknown) => ({ value }),
      jsonSchema: { input: convert("input"), output: convert("output") },
    },
  };
  return { schema, conversions: () => seen.toSorted() };
}

describe("createCatalog()", () => {
  it("createCatalog() sorts and freezes what it holds", () => {
    const names = ["zeta", "alpha", "Beta", "a.b", "a_c", "a0"];
    const tools = Object.fromEntries(names.map((name): [string, Member] => [name, mcpTool(procedure({}))]));
    const cells = Object.fromEntries(
      names.map((name): [string, Member] => [`${name}.cell`, mcpResource(collection({ key: text, schema: text }))]),
    );
    const catalog = catalogOf({ ...tools, ...cells }, { tools: { middle: { handler } } });
    const { resources, templates, warnings } = catalog;
    expect(catalog.tools.map(({ name }) => name)).toEqual(["Beta", "a0", "a_b", "a_c", "alpha", "middle", "zeta"]);
    expect(resources.map(({ uri }) => uri)).toEqual(resources.map(({ uri }) => uri).toSorted());
    expect(templates).toHaveLength(names.length);
    for (const part of [catalog, catalog.tools, resources, templates, warnings])
      expect(part).toSatisfy(Object.isFrozen);
    for (const entry of [...catalog.tools, ...resources, ...templates]) {
      expect(entry).toSatisfy(Object.isFrozen);
    }
    for (const { input, output } of catalog.tools) {
      expect([input, input.json, output].every((each) => Object.isFrozen(each))).toBe(true);
    }
  });

  it("tool() finds by the name on the wire alone, and nothing inherited", () => {
    const catalog = catalogOf({ "a.b": mcpTool(procedure({})) });
    expect(catalog.tool("a_b")?.id).toBe("a.b");
    for (const name of ["a.b", "toString", "__proto__", "constructor", ""]) expect(catalog.tool(name)).toBeUndefined();
  });

  it("createCatalog() converts each side of a schema once, and only what is exposed", () => {
    const shown = [counting(), counting(), counting()] as const;
    const hidden = counting();
    const members = {
      call: mcpTool(procedure({ input: shown[0].schema, output: shown[0].schema })),
      again: mcpTool(procedure({ input: shown[0].schema, output: shown[0].schema })),
      wait: mcpTool(event({ input: shown[1].schema, output: shown[1].schema })),
      recent: event({ input: shown[1].schema, output: shown[1].schema }),
      items: mcpResource(collection({ key: shown[2].schema as z.ZodString, schema: shown[2].schema })),
      secret: procedure({ input: hidden.schema, output: hidden.schema }),
      state: cell({ schema: hidden.schema }),
    };
    for (let round = 0; round < 2; round += 1) catalogOf(members, { expose: { recent: "resource" } });
    expect(shown.map(({ conversions }) => conversions())).toEqual([
      ["input", "output"],
      ["input", "output"],
      ["input", "output"],
    ]);
    expect(hidden.conversions()).toEqual([]);
  });

  it("createCatalog() names the member whose schema cannot be converted", () => {
    const schema = { "~standard": { version: 1, vendor: "x", validate: (value: unknown) => ({ value }) } } as Schema;
    for (const member of [mcpTool(procedure({ input: schema })), mcpTool(procedure({ output: schema }))]) {
      expect(thrownBy(() => catalogOf({ "a.b": member }))).toMatchObject({
        code: "SCHEMA_UNSUPPORTED",
        message: expect.stringContaining("a.b"),
      });
    }
  });
});

describe("names on the wire", () => {
  it.each<[string, Record<string, Member>, Record<string, { handler: typeof handler }>, readonly string[]]>([
    ["two members", { "a.b": mcpTool(procedure({})), a_b: mcpTool(event({ output: text })) }, {}, ['"a.b"', '"a_b"']],
    ["a member and a tool", { "a.b": mcpTool(procedure({})) }, { a_b: { handler } }, ['procedure "a.b"', 'tool "a_b"']],
  ])("createCatalog() refuses %s of one name, naming both", (...row) => {
    const [, members, tools, origins] = row;
    const fault = thrownBy(() => catalogOf(members, { tools }));
    expect(fault).toMatchObject({ code: "NAME_COLLISION" });
    for (const origin of origins) expect(fault).toHaveProperty("message", expect.stringContaining(origin));
  });

  it("createCatalog() lets a member that is not exposed keep its name to itself", () => {
    const catalog = catalogOf({ "a.b": procedure({}), a_b: mcpTool(procedure({})) }, { tools: { "b.c": { handler } } });
    expect(catalog.tools.map(({ name }) => name)).toEqual(["a_b", "b_c"]);
  });

  it("createCatalog() refuses a member whose name is too long for a tool, and takes it as a resource", () => {
    const key = "x".repeat(65);
    expect(thrownBy(() => catalogOf({ [key]: mcpTool(stream({ output: text })) }))).toMatchObject({
      code: "INVALID_NAME",
    });
    expect(catalogOf({ [key]: mcpResource(stream({ output: text })) }).resources).toHaveLength(1);
  });
});

describe("warnings", () => {
  const long = "x".repeat(2049);

  it("createCatalog() warns of words that hosts cut, once an origin, and of long names", () => {
    const members = {
      tool: mcpTool(procedure({ description: long })),
      items: mcpResource(collection({ key: text, schema: text, title: long })),
      ["n".repeat(41)]: mcpTool(procedure({})),
    };
    const { warnings } = catalogOf(members, { tools: { extra: { handler, description: long } } });
    expect(warnings).toHaveLength(4);
    for (const origin of ['procedure "tool"', 'collection "items"', 'tool "extra"', "nnn"]) {
      expect(warnings.filter((warning) => warning.includes(origin))).toHaveLength(1);
    }
    expect(warnings.join()).not.toContain("xxx");
  });

  it("createCatalog() has nothing to warn of when words and names are as long as they may be", () => {
    const words = { title: "x".repeat(2048), description: "x".repeat(2048) };
    expect(catalogOf({ ["n".repeat(40)]: mcpTool(procedure(words)) }).warnings).toEqual([]);
  });
});
