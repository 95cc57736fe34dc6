import { describe, expect, it } from "vitest";
import * as z from "zod";
import { SurfaceError } from "../../src/errors.ts";
import type { JsonSchema } from "../../src/schema/json.ts";
import { type Schema, withJsonSchema } from "../../src/schema/standard.ts";
import { toInputSchema, toOutputSchema } from "../../src/schema/compile-schema.ts";

function failure(schema: Schema): SurfaceError {
  try {
    toInputSchema(schema, "node.rerun");
  } catch (error) {
    if (error instanceof SurfaceError) return error;
    throw error;
  }
  return expect.unreachable("accepted");
}

function isFrozen(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return true;
  return Object.isFrozen(value) && Object.values(value).every(isFrozen);
}

describe("toInputSchema()", () => {
  it("toInputSchema() converts once when asked twice, for each side", () => {
    const schema = z.object({ a: z.string() });
    expect(toInputSchema(schema, "one")).toBe(toInputSchema(schema, "two"));
    expect(toOutputSchema(schema, "one")).toBe(toOutputSchema(schema, "two"));
    expect(toInputSchema(schema, "one")).not.toBe(toOutputSchema(schema, "one"));
  });

  it("toInputSchema() is frozen all the way down when it is returned", () => {
    const schema = z.object({ a: z.array(z.string()).default(["x"]), d: z.date() });
    expect(isFrozen(toInputSchema(schema, "t"))).toBe(true);
    expect(isFrozen(toInputSchema(undefined, "t"))).toBe(true);
  });

  it("toInputSchema() says that nothing is taken when there is no schema", () => {
    const { json, codec, wrapped } = toInputSchema(undefined, "t");
    expect(json).toEqual({ type: "object", properties: {}, additionalProperties: false });
    expect([codec.decode({ added: "by a host" }), codec.encode(1), codec.stringify(1), wrapped]).toEqual([
      undefined,
      {},
      "{}",
      false,
    ]);
    expect(toOutputSchema(undefined, "t")).toBeUndefined();
  });

  it("toInputSchema() is SCHEMA_UNSUPPORTED and no crash when a schema has no end or no bottom", () => {
    const endless = (): z.ZodType => z.object({ a: z.lazy(endless) });
    let deep: z.ZodType = z.string();
    for (let level = 0; level < 5000; level++) deep = z.object({ a: deep });
    const endlessMap = (): z.ZodType => z.map(z.string(), z.lazy(endlessMap));
    for (const schema of [endless(), deep, endlessMap()]) {
      const error = failure(schema);
      expect(error.code).toBe("SCHEMA_UNSUPPORTED");
      expect(error.message).toContain("node.rerun");
      expect(error.message).toContain("nested too deep, or without end");
    }
  });

  it("toInputSchema() is SCHEMA_UNSUPPORTED when a reference far down leads nowhere", () => {
    let below: JsonSchema = { $ref: "#/$defs/nobody" };
    for (let level = 0; level < 70; level++) below = { type: "object", properties: { a: below } };
    const schema = withJsonSchema(z.custom<object>(), below);
    expect(failure(schema)).toMatchObject({ code: "SCHEMA_UNSUPPORTED" });
  });

  it("toInputSchema() names the member when a library's converter throws", () => {
    const fault = new TypeError("no such target");
    const jsonSchema = {
      input: () => {
        throw fault;
      },
      output: () => ({}),
    };
    const schema = { "~standard": { version: 1 as const, vendor: "x", validate: () => ({ value: 1 }), jsonSchema } };
    expect(failure(schema)).toMatchObject({ code: "SCHEMA_UNSUPPORTED", cause: fault });
    expect(failure(schema).message).toBe(
      "Cannot convert the input schema of node.rerun to JSON Schema: no such target",
    );
  });

  it("toInputSchema() falls back to draft-07 when a library knows nothing newer", () => {
    const input = ({ target }: { target: string }) => {
      if (target !== "draft-07") throw new TypeError(`unsupported ${target}`);
      return {
        type: "object",
        properties: { t: { type: "array", items: [{ type: "string" }], additionalItems: false } },
      };
    };
    const schema = {
      "~standard": {
        version: 1 as const,
        vendor: "x",
        validate: () => ({ value: 1 }),
        jsonSchema: { input, output: input },
      },
    };
    expect(toInputSchema(schema, "t").json["properties"]).toEqual({
      t: { type: "array", prefixItems: [{ type: "string" }], maxItems: 1 },
    });
  });

  it("toInputSchema() converts two schemas that share an id when they meet in one", () => {
    const schema = z.object({ a: z.string().meta({ id: "SharedId" }), b: z.number().meta({ id: "SharedId" }) });
    expect(toInputSchema(schema, "t").json["properties"]).toEqual({ a: { type: "string" }, b: { type: "number" } });
  });

  it("toInputSchema() takes the author's form when meta overrides a type that JSON lacks", () => {
    const schema = z.object({
      a: z.coerce.date().meta({ type: "integer" }),
      b: z.coerce.date().optional().meta({ type: "integer" }),
      c: z.custom().meta({ type: "string", title: "C" }),
    });
    const { json, codec } = toInputSchema(schema, "t");
    expect(json["properties"]).toEqual({
      a: { type: "integer" },
      b: { type: "integer" },
      c: { type: "string", title: "C" },
    });
    expect(codec.decode({ a: 5, b: 6 })).toEqual({ a: 5, b: 6 });
  });

  it("toInputSchema() refuses a schema by name when its reused parts would be written 2^40 times", () => {
    let schema: z.ZodType = z.object({ at: z.date() });
    for (let level = 0; level < 40; level++) schema = z.object({ a: schema, b: schema });
    expect(() => toInputSchema(schema, 'tool "t"')).toThrow(/tool "t".*more than 524288 characters/);
  });
});
