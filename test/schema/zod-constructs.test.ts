import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { toInputSchema, toOutputSchema } from "../../src/schema/compile-schema.ts";
import type { CompiledSchema } from "../../src/schema/compile-schema.ts";
import { validate } from "../../src/schema/validate.ts";
import type { Validated } from "../../src/schema/validate.ts";
import type { JsonValue } from "../../src/schema/json.ts";
import { constructs } from "./zod-constructs.ts";
import type { Construct } from "./zod-constructs.ts";

const ajv = new Ajv2020({ strict: false, validateFormats: false });
const cases = Object.entries(constructs);

function valid(result: Validated | Promise<Validated>): unknown {
  if (result instanceof Promise) throw new TypeError("expected a synchronous answer");
  if (!result.ok) throw new TypeError(JSON.stringify(result.issues));
  return result.value;
}

function outputOf(construct: Construct): unknown {
  const returned = "returned" in construct ? construct.returned : decoded(construct);
  return valid(validate(construct.schema, returned));
}

function decoded(construct: Construct): unknown {
  return toInputSchema(construct.schema, "t").codec.decode(construct.sent as JsonValue);
}

function outputSchemaOf(construct: Construct): CompiledSchema {
  const output = toOutputSchema(construct.schema, "t");
  if (output === undefined) throw new TypeError("expected a schema");
  return output;
}

const sendable = cases.filter(([, construct]) => "sent" in construct);
const unwritable = cases.filter(([, construct]) => construct.unwritable === true);
const writable = cases.filter(([, construct]) => {
  return construct.unwritable !== true && ("sent" in construct || "returned" in construct);
});

describe("every zod construct", () => {
  it.each(cases)("toInputSchema() and toOutputSchema() emit what the snapshot says when given %s", (_, construct) => {
    const emitted = { input: toInputSchema(construct.schema, "t").json, output: outputSchemaOf(construct).json };
    // As text, so that the order of keys is pinned too.
    expect(JSON.stringify(emitted, null, 1)).toMatchSnapshot();
  });

  it.each(cases)("toInputSchema() and toOutputSchema() emit clean schemas when given %s", (_, construct) => {
    for (const { json } of [toInputSchema(construct.schema, "t"), outputSchemaOf(construct)]) {
      expect(json["type"]).toBe("object");
      expect(ajv.validateSchema(json)).toBe(true);
      expect(JSON.stringify(json)).not.toMatch(/"(\$defs|\$schema|~wire|~standard)":/);
      expect(JSON.stringify(json)).not.toMatch(/"\$ref":"|"\$id":"/);
    }
  });

  it.each(sendable)("codec.decode() gives what the schema accepts when sent %s", (_, construct) => {
    const check = ajv.compile(toInputSchema(construct.schema, "t").json);
    expect({ ok: check(construct.sent), errors: check.errors }).toEqual({ ok: true, errors: null });
    expect(() => valid(validate(construct.schema, decoded(construct)))).not.toThrow();
  });

  it.each(writable)("codec.encode() writes what outputSchema promises when returning %s", (_, construct) => {
    const { json, codec } = outputSchemaOf(construct);
    const value = outputOf(construct);
    const wire = codec.encode(value);
    const check = ajv.compile(json);
    expect({ ok: check(wire), errors: check.errors }).toEqual({ ok: true, errors: null });
    expect(JSON.parse(codec.stringify(value))).toEqual(wire);
    expect(JSON.parse(JSON.stringify(wire))).toEqual(wire);
  });

  it.each(unwritable)("codec.stringify() refuses when %s has no JSON form", (_, construct) => {
    expect(() => outputSchemaOf(construct).codec.stringify(outputOf(construct))).toThrow(/cannot write "\w+" as JSON/);
  });
});
