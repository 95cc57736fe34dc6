import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { toInputSchema } from "../../src/schema/to-input-schema.ts";
import { toOutputSchema } from "../../src/schema/to-output-schema.ts";
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

const schemasOf = (construct: Construct) => ({
  input: toInputSchema(construct.schema, "t"),
  output: toOutputSchema(construct.schema, "t") ?? expect.unreachable(),
});

describe.each(cases)("zod %s", (name, construct) => {
  const { input, output } = schemasOf(construct);

  it(`toInputSchema() and toOutputSchema() emit what the snapshot says when given ${name}`, () => {
    // As text, so that the order of keys is pinned too.
    expect(JSON.stringify({ input: input.json, output: output.json }, null, 1)).toMatchSnapshot();
  });

  it(`toInputSchema() and toOutputSchema() emit clean schemas when given ${name}`, () => {
    for (const { json } of [input, output]) {
      expect(json["type"]).toBe("object");
      expect(ajv.validateSchema(json)).toBe(true);
      expect(JSON.stringify(json)).not.toMatch(/"(\$defs|\$schema|~wire|~standard)":/);
      expect(JSON.stringify(json)).not.toMatch(/"\$ref":"|"\$id":"/);
    }
  });

  it.runIf("sent" in construct)(`codec.decode() gives what the schema accepts when sent ${name}`, () => {
    const check = ajv.compile(input.json);
    expect({ ok: check(construct.sent), errors: check.errors }).toEqual({ ok: true, errors: null });
    expect(() => valid(validate(construct.schema, decoded(construct)))).not.toThrow();
  });

  const writable = ("sent" in construct || "returned" in construct) && construct.unwritable !== true;
  it.runIf(writable)(`codec.encode() writes what outputSchema promises when returning ${name}`, () => {
    const value = outputOf(construct);
    const wire = output.codec.encode(value);
    const check = ajv.compile(output.json);
    expect({ ok: check(wire), errors: check.errors }).toEqual({ ok: true, errors: null });
    expect(JSON.parse(output.codec.stringify(value))).toEqual(wire);
    expect(JSON.parse(JSON.stringify(wire))).toEqual(wire);
  });

  it.runIf(construct.unwritable === true)(`codec.stringify() refuses when ${name} has no JSON form`, () => {
    expect(() => output.codec.stringify(outputOf(construct))).toThrow(/cannot write "\w+" as JSON/);
  });
});
