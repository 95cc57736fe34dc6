import { SurfaceError } from "../errors.ts";
import type { CompiledSchema, SchemaSide } from "./compiled-schema.ts";
import { deepFreeze } from "./deep-freeze.ts";
import { normalise } from "./normalise.ts";
import { isObjectSchema, noFields, toObjectRoot } from "./object-root.ts";
import type { JsonObject, JsonSchema } from "./json.ts";
import { readJsonSchema } from "./read-json-schema.ts";
import type { RawSchema } from "./raw-schema.ts";
import { toReaderSchema } from "./reader-schema.ts";
import { createSchemaDocument } from "./schema-document.ts";
import { tidyNode } from "./schema-node.ts";
import type { Schema } from "./standard.ts";
import { SchemaCodec } from "./wire-codec.ts";
import { wireKey } from "./wire-forms.ts";

const caches: Record<SchemaSide, WeakMap<Schema, CompiledSchema>> = { input: new WeakMap(), output: new WeakMap() };

/**
 * Converts one side of a schema, once.
 *
 * @param where - the member's name, for the error.
 * @throws SurfaceError `SCHEMA_UNSUPPORTED` naming `where` and, for a reference, the path; whatever went wrong in the
 *   schema's library, a stack overflow of an endless schema included, is the `cause`.
 */
export function compileSchema(schema: Schema, side: SchemaSide, where: string): CompiledSchema {
  const cached = caches[side].get(schema);
  if (cached !== undefined) return cached;
  try {
    const compiled = compile(readJsonSchema(schema, side), side);
    caches[side].set(schema, compiled);
    return compiled;
  } catch (cause) {
    throw unsupported({ side, where, cause });
  }
}

function compile(raw: RawSchema, side: SchemaSide): CompiledSchema {
  const document = createSchemaDocument(raw.document);
  const pooled = raw.rebuilds;
  const json = normalise(document, { pooled });
  // An object that may be undefined has no JSON form at the root of a result; wrapped it is an absent key.
  const wrapped = !isObjectSchema(json) || (side === "output" && raw.optional);
  const toReader = (): JsonSchema => {
    const bare = toReaderSchema(document, { pooled });
    return deepFreeze(wrapped ? bare : { type: "object", ...bare });
  };
  let reader: JsonSchema | undefined;
  const toRoot = (root: JsonObject): JsonSchema => {
    return wrapped && isAbsent(raw) ? noFields : toObjectRoot(root, { wrapped, optional: raw.optional });
  };
  return Object.freeze({
    json: deepFreeze(toRoot(json)),
    exact: () => toRoot(normalise(document, { pooled, keepsOneOf: true })),
    wrapped,
    optional: raw.optional,
    codec: Object.freeze(new SchemaCodec(document, { trusted: pooled, wrapped })),
    reader: () => (reader ??= toReader()),
  });
}

/** Tells whether nothing travels for the value, so that the object around it has no fields. */
function isAbsent({ document }: RawSchema): boolean {
  return tidyNode(document)[wireKey] === "absent";
}

function unsupported(at: { side: SchemaSide; where: string; cause: unknown }): SurfaceError {
  const { side, where, cause } = at;
  const reason = cause instanceof Error ? cause.message : String(cause);
  const why = cause instanceof RangeError ? "it is nested too deep, or without end" : reason;
  return new SurfaceError("SCHEMA_UNSUPPORTED", `Converting the ${side} schema of ${where} to JSON Schema: ${why}`, {
    cause,
  });
}
