import * as z from "zod";
import type { Schema } from "../../src/schema/standard.ts";

interface Tree {
  name: string;
  kids: Tree[];
}
/** Returns the schema of a tree with named nodes. */
export const treeOf = (name: z.ZodType<string>): z.ZodType<Tree> => {
  const tree: z.ZodType<Tree> = z.object({ name, kids: z.array(z.lazy(() => tree)) });
  return tree;
};

/** Fields of an object with one text. */
export const a = { a: z.string() };

function listOf(fields: Record<string, z.ZodType>): z.ZodType {
  const list: z.ZodType = z.object({ ...fields, next: z.lazy(() => list).nullable() });
  return list;
}

/** Pairs that fit: a producer, and a consumer. */
export const fitting: [string, Schema, Schema][] = [
  ["a producer with a field more", z.object({ ...a, b: z.date() }), z.object(a)],
  ["a consumer with an optional field more", z.object(a), z.object({ ...a, b: z.date().optional() })],
  ["both", z.object({ ...a, c: z.int() }), z.object({ ...a, b: z.date().optional() })],
  ["a required field for an optional one", z.object(a), z.object({ a: z.string().optional() })],
  [
    "such fields deep inside",
    z.array(z.object({ x: z.object({ ...a, b: z.int() }) })),
    z.array(z.object({ x: z.object(a) })),
  ],
  ["anything for what takes anything", z.any(), z.unknown()],
  ["a field for what takes anything", z.object(a), z.object({ a: z.any() })],
  ["an integer for a number", z.int(), z.number()],
  ["fewer values", z.enum(["a", "b"]), z.enum(["c", "b", "a"])],
  ["a value for its type", z.literal("a"), z.string()],
  ["wider bounds", z.string().min(2).max(5), z.string().min(1).max(9)],
  ["wider bounds of numbers", z.number().gt(1).lt(5), z.number().min(1).max(5)],
  ["no bounds for items", z.array(z.int()).min(2).max(3), z.array(z.number()).min(1)],
  ["a closed object for an open one", z.object(a), z.looseObject(a)],
  [
    "a recursive shape with a field more",
    z.object({ t: treeOf(z.string()), n: z.int() }),
    z.object({ t: treeOf(z.string()) }),
  ],
  ["a recursive shape with narrower parts", treeOf(z.string().min(1)), treeOf(z.string())],
  ["a value for a nullable one", z.object(a), z.object(a).nullable()],
  ["null for a nullable value", z.null(), z.object(a).nullable()],
  ["a field more in a nullable object", z.object({ ...a, b: z.int() }).nullable(), z.object(a).nullable()],
  [
    "an optional field more in a nullable object",
    z.object({ x: z.object(a).nullable() }),
    z.object({ x: z.object({ ...a, b: z.int().optional() }).nullable() }),
  ],
  ["narrower values that may be null", z.int().min(2).nullable(), z.number().min(1).nullable()],
  ["a nullable recursive shape with a field more", listOf({ ...a, n: z.int() }), listOf(a)],
];

/** Pairs of which the consumer accepts every value, by keywords that are compared as text only. */
/** Pairs that fit, and about which a comparison is in doubt. */
export const uncompared: [string, Schema, Schema][] = [
  ["fewer options", z.union([z.string(), z.object(a)]), z.union([z.object(a), z.int(), z.string()])],
  [
    "types of a list for options",
    z.union([z.string(), z.null()]),
    z.union([z.null(), z.string().describe("s"), z.object(a)]),
  ],
  ["an option that grew a field", z.union([z.object({ ...a, n: z.int() }), z.int()]), z.union([z.object(a), z.int()])],
  ["a longer tuple for a list", z.tuple([z.int(), z.int()]), z.array(z.number())],
  ["known fields for a record", z.object(a), z.record(z.string(), z.string())],
  [
    "members of an intersection",
    z.intersection(z.object(a).describe("A"), z.object({ b: z.int(), c: z.int() })),
    z.intersection(z.object(a).describe("B"), z.object({ b: z.int() })),
  ],
];

/** Pairs that do not fit, and the place of their difference. */
export const differing: [string, Schema, Schema, string][] = [
  ["a required field is missing", z.object({}), z.object(a), "a"],
  ["a field became optional", z.object({ a: z.string().optional() }), z.object(a), "a"],
  [
    "a type differs",
    z.object({ x: z.array(z.object({ a: z.int() })) }),
    z.object({ x: z.array(z.object(a)) }),
    "x.*.a",
  ],
  ["a number is not an integer", z.number(), z.int(), ""],
  ["an optional field differs", z.object({ b: z.int() }), z.object({ b: z.string().optional() }), "b"],
  ["an open object may hold another", z.looseObject(a), z.object({ ...a, b: z.string().optional() }), "b"],
  ["the values grew", z.object({ e: z.enum(["a", "b", "c"]) }), z.object({ e: z.enum(["a", "b"]) }), "e"],
  ["there are no values any more", z.string(), z.enum(["a", "b"]), ""],
  ["the options grew", z.union([z.object(a), z.int()]), z.union([z.object(a), z.string()]), ""],
  ["a field of a nullable object differs", z.object({ a: z.int() }).nullable(), z.object(a).nullable(), "a"],
  ["a nullable recursive part differs", listOf({ a: z.int() }), listOf(a), "a"],
  ["it became nullable", z.object({ x: z.object(a).nullable() }), z.object({ x: z.object(a) }), "x"],
  ["a bound of the consumer is narrower", z.object({ s: z.string().max(9) }), z.object({ s: z.string().max(5) }), "s"],
  ["a bound is only the consumer's", z.array(z.int()), z.array(z.int()).min(1), ""],
  ["a bound of numbers excludes more", z.number().min(1), z.number().gt(1), ""],
  ["a multiple differs", z.number().multipleOf(4), z.number().multipleOf(2), ""],
  ["values are spread over options", z.enum(["a", "b"]), z.union([z.literal("a"), z.literal("b").describe("B")]), ""],
  [
    "a declared field may match a pattern of names",
    z.looseRecord(z.string().regex(/^a/), z.int()),
    z.looseObject({ a: z.string().optional() }),
    "",
  ],
  ["a pattern differs", z.string().regex(/^a/), z.string().regex(/^b/), ""],
  ["a format is new", z.string(), z.email(), ""],
  ["a date is no date any more", z.object({ at: z.string() }), z.object({ at: z.date() }), "at"],
  ["a tuple is shorter", z.tuple([z.int()]), z.tuple([z.int(), z.int()]), ""],
  ["an item of a tuple differs", z.tuple([z.int(), z.string()]), z.tuple([z.int(), z.int()]), ""],
  ["a record holds others", z.record(z.string(), z.int()), z.record(z.string(), z.string()), "*"],
  [
    "the names of a record grew",
    z.partialRecord(z.enum(["a", "b"]), z.int()),
    z.partialRecord(z.enum(["a"]), z.int()),
    "",
  ],
  [
    "patterns of names differ",
    z.looseRecord(z.string().regex(/^x/), z.int()),
    z.looseRecord(z.string().regex(/^y/), z.int()),
    "",
  ],
  ["a recursive part differs", treeOf(z.string()), treeOf(z.enum(["a"])), "name"],
  [
    "recursion ends",
    treeOf(z.string()),
    z.object({ name: z.string(), kids: z.array(z.object({ name: z.string() }).catchall(z.string())) }),
    "kids.*",
  ],
  ["nothing is known", z.any(), z.string(), ""],
  ["a field has the name of a method", z.object({}), z.object({ constructor: z.string() }), "constructor"],
];
