import type { StandardJSONSchemaV1 } from "@standard-schema/spec";
import { absentNode, formlessNode } from "./schema-document.ts";
import { standardOf } from "./standard.ts";
import type { Schema, SchemaSide } from "./standard.ts";
import { bigintSchema, dateSchema, mapSchema, setSchema } from "./wire-forms.ts";

const targets = ["draft-2020-12", "draft-07"] as const;

// Neither library passes its converter to a hook, so the contents of a Map or Set are unknown.
const anyMap = mapSchema({}, {});
const anySet = setSchema({});

/** The options by which the converter of each library returns a wire form instead of throwing or dropping a type. */
const optionsByVendor: Readonly<Record<string, Record<string, unknown>>> = {
  arktype: {
    fallback: {
      default: ({ base }: { base: unknown }) => base,
      date: () => dateSchema,
      domain: ({ domain }: { domain: string }) => (domain === "bigint" ? bigintSchema : formlessNode(domain)),
      proto: ({ base, proto }: { base: unknown; proto: unknown }) => protoNode(proto) ?? base,
      unit: ({ base, unit }: { base: unknown; unit: unknown }) => (unit === undefined ? absentNode() : base),
      morph: ({ base, out }: { base: unknown; out: unknown }) => out ?? base,
    },
  },
  valibot: {
    errorMode: "ignore",
    overrideSchema: ({ valibotSchema }: { valibotSchema: { type: string } }) => valibotForms[valibotSchema.type],
  },
};

const valibotForms: Readonly<Record<string, object>> = {
  date: dateSchema,
  bigint: bigintSchema,
  map: anyMap,
  set: anySet,
  undefined: absentNode(),
  void: absentNode(),
  symbol: formlessNode("symbol"),
  function: formlessNode("function"),
  nan: formlessNode("NaN"),
};

/** Reads a schema's Standard JSON Schema, as 2020-12 or else as draft-07. Undefined when it has none. */
export function readStandard(schema: Schema, side: SchemaSide): RawSchema | undefined {
  const standard = standardOf(schema);
  if (!hasConverter(standard)) return undefined;
  const document = convert(standard.jsonSchema[side], optionsByVendor[standard.vendor]);
  return { document, optional: false, rebuilds: false, isResolved: standard.vendor === ownVendor };
}

function convert(
  converter: StandardJSONSchemaV1.Converter["input"],
  libraryOptions: Record<string, unknown> | undefined,
): unknown {
  const failures: unknown[] = [];
  for (const target of targets) {
    try {
      return converter({ target, libraryOptions });
    } catch (failure) {
      failures.push(failure);
    }
  }
  throw failures[0];
}

function protoNode(proto: unknown): object | undefined {
  if (proto === Map) return anyMap;
  return proto === Set ? anySet : undefined;
}

function hasConverter(standard: object): standard is StandardJSONSchemaV1.Props {
  return "jsonSchema" in standard && typeof standard.jsonSchema === "object" && standard.jsonSchema !== null;
}

/** One side of a schema as JSON Schema, before it is normalised, and facts about its values. */
export interface RawSchema {
  /** The document. May hold references, and wire forms under `wireKey`. */
  readonly document: unknown;
  /** Whether the value itself may be undefined. */
  readonly optional: boolean;
  /** Whether validation creates the value from the declared parts only, with finite numbers, as zod does. */
  readonly rebuilds: boolean;
  /** Whether every reference resolves. */
  readonly isResolved: boolean;
}

/** The vendor of `fromJsonSchema()`, which checks its documents. */
export const ownVendor = "surface-mcp";
