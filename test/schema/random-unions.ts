import * as fc from "fast-check";
import { z } from "zod";
import type { JsonObject, JsonValue } from "../../src/schema/json.ts";

/** Random object schemas with few names and few values, so that random objects often fit. */

const names = fc.constantFrom("a", "b", "x-c", "kind");
const scalars = fc.constantFrom<JsonValue>("p", "q", "", 0, 1, 1.5, true, null);

/** Objects of which the random schemas accept some. */
export const objects: fc.Arbitrary<JsonObject> = fc.dictionary(
  fc.constantFrom("a", "b", "x-c", "kind", "other"),
  scalars,
  { maxKeys: 3, noNullPrototype: true },
);

const zodLeaves = fc.constantFrom<() => z.ZodType>(
  () => z.string(),
  () => z.number().optional(),
  () => z.int(),
  () => z.boolean().optional(),
  () => z.string().nullable().optional(),
  () => z.literal("p"),
  () => z.enum(["p", "q"]).optional(),
  () => z.null(),
  () => z.never().optional(),
  () => z.undefined().optional(),
  () => z.any(),
);
const zodObjects: fc.Arbitrary<z.ZodType> = fc
  .tuple(
    fc.dictionary(names, zodLeaves, { maxKeys: 3, noNullPrototype: true }),
    zodLeaves,
    fc.constantFrom("", "", "", "strict", "loose", "rest", "record"),
  )
  .map(([leaves, rest, kind]) => {
    const shape = Object.fromEntries(Object.entries(leaves).map(([name, leaf]) => [name, leaf()]));
    if (kind === "strict") return z.strictObject(shape);
    if (kind === "loose") return z.looseObject(shape);
    if (kind === "rest") return z.object(shape).catchall(rest());
    return kind === "record" ? z.record(z.string(), rest()) : z.object(shape);
  });
const discriminated: fc.Arbitrary<z.ZodType> = fc
  .array(fc.dictionary(fc.constantFrom("a", "b"), zodLeaves, { maxKeys: 2, noNullPrototype: true }), {
    minLength: 2,
    maxLength: 2,
  })
  .map(([first = {}, second = {}]) => {
    const shape = (leaves: Record<string, () => z.ZodType>): Record<string, z.ZodType> => {
      return Object.fromEntries(Object.entries(leaves).map(([name, leaf]) => [name, leaf()]));
    };
    return z.discriminatedUnion("kind", [
      z.object({ ...shape(first), kind: z.enum(["p", "q"]) }),
      z.object({ ...shape(second), kind: z.null() }),
    ]);
  });

/** Unions and intersections of objects, written with zod. */
export const zodUnions: fc.Arbitrary<z.ZodType> = fc.letrec<{ any: z.ZodType }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    zodObjects,
    discriminated,
    fc.array(tie("any"), { minLength: 2, maxLength: 3 }).map((arms) => z.union(arms)),
    fc.tuple(tie("any"), tie("any")).map(([first, second]) => z.intersection(first, second)),
  ),
})).any;

const jsonLeaves = fc.oneof(
  fc.constantFrom<JsonValue>(true, false),
  fc.constantFrom<JsonObject>({ type: "string" }, { type: "number" }, { type: ["string", "null"] }, { minLength: 1 }),
  fc.record({ const: scalars }),
  fc.record({ enum: fc.uniqueArray(scalars, { minLength: 1, maxLength: 3 }) }),
);

/** Objects with any of the keywords that a root may have, written as JSON Schema. */
export const jsonUnions: fc.Arbitrary<JsonObject> = fc
  .letrec<{ node: JsonObject }>((tie) => {
    const node = tie("node");
    const nodes = fc.array(node, { minLength: 2, maxLength: 3 });
    const own = fc.record(
      {
        properties: fc.dictionary(names, jsonLeaves, { minKeys: 1, maxKeys: 3, noNullPrototype: true }),
        required: fc.uniqueArray(names, { minLength: 1, maxLength: 1 }),
      },
      { requiredKeys: ["properties"] },
    );
    const rest = fc.record(
      {
        additionalProperties: jsonLeaves,
        patternProperties: fc.dictionary(fc.constantFrom("^x-", "[ab]"), jsonLeaves, {
          maxKeys: 1,
          noNullPrototype: true,
        }),
        unevaluatedProperties: jsonLeaves,
      },
      { requiredKeys: [] },
    );
    const combined = fc.oneof(
      ...[fc.record({ anyOf: nodes }), fc.record({ oneOf: nodes }), fc.record({ anyOf: nodes })],
      ...[fc.record({ allOf: nodes }), fc.record({ anyOf: nodes, oneOf: nodes }), fc.record({ not: node })],
      // oxlint-disable-next-line unicorn/no-thenable -- the keyword of JSON Schema
      fc.record({ if: node, then: node, else: node }),
      fc.record({ dependentSchemas: fc.dictionary(names, node, { minKeys: 1, maxKeys: 1, noNullPrototype: true }) }),
    );
    const flat = fc.tuple(own, fc.oneof(fc.constant({}), rest)).map(([first, second]) => ({ ...first, ...second }));
    const deep = fc.tuple(fc.oneof(fc.constant({}), own), combined).map(([first, second]) => ({ ...first, ...second }));
    return { node: fc.oneof({ maxDepth: 2, withCrossShrink: true }, flat, deep) };
  })
  .node.map((node) => ({ ...node, type: "object" }));
