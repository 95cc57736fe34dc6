import * as z from "zod";
import type { SchemaSide } from "./compiled-schema.ts";
import type { JsonObject } from "./json.ts";
import type { RawSchema } from "./raw-schema.ts";
import { amendZodNode } from "./amend-zod-node.ts";
import { mayBeUndefined } from "./may-be-undefined.ts";
import { zodForm } from "./zod-forms.ts";
import { isOverridden, ZodMetadata } from "./zod-metadata.ts";
import { isZodSchema, zodInternals } from "./zod-schema.ts";
import { exceedsTreeSize } from "./zod-tree-size.ts";

// zod writes a schema that is used twice twice; from this many nodes on it is asked to write references.
const maxTreeSize = 10_000;

/**
 * Converts a zod schema with `z.toJSONSchema`. What zod calls unrepresentable takes its documented form. The parts of
 * maps and sets, which zod does not convert, become documents of their own, so that a map may hold itself.
 */
export function readZod(schema: z.core.$ZodTypes, side: SchemaSide): RawSchema {
  const ids = new Map<z.core.$ZodType, string>();
  const refer = (part: z.core.$ZodType): JsonObject => {
    const id = ids.get(part) ?? `~zod/${ids.size}`;
    ids.set(part, id);
    return { $ref: id };
  };
  refer(schema);
  const parts: Record<string, object> = {};
  const convert = (part: z.core.$ZodType): object => convertPart({ part, side, refer });
  // Converting a part may append further parts to `ids`, which the iteration then reaches.
  for (const [part, id] of ids) parts[id] = { ...convert(part), $id: id };
  const { [`~zod/0`]: root = {}, ...others } = parts;
  const document = Object.keys(others).length === 0 ? root : withParts(root, others);
  return { document, optional: isOptional(schema, side), rebuilds: true };
}

function withParts(root: object, parts: Record<string, object>): object {
  const defs: unknown = "$defs" in root ? root.$defs : undefined;
  return { ...root, $defs: { ...(typeof defs === "object" ? defs : {}), ...parts } };
}

function convertPart(at: {
  part: z.core.$ZodType;
  side: SchemaSide;
  refer: (part: z.core.$ZodType) => JsonObject;
}): object {
  return z.toJSONSchema(at.part, {
    io: at.side,
    metadata: new ZodMetadata(),
    reused: exceedsTreeSize(at.part, maxTreeSize) ? "ref" : "inline",
    unrepresentable: ({ zodSchema }) => {
      if (!isZodSchema(zodSchema) || isOverridden(zodSchema)) return "any";
      return zodForm(zodSchema, at.refer) ?? "any";
    },
    override: (node) => amendZodNode(node, at.side),
  });
}

/**
 * Tells whether the root may be undefined. zod marks pipes and catches as optional so that they see an absent value,
 * though their declared input is required.
 */
function isOptional(schema: z.core.$ZodTypes, side: SchemaSide): boolean {
  if (side === "output") return mayBeUndefined(schema);
  const { def, optin } = zodInternals(schema);
  if (def.type === "undefined" || def.type === "void") return true;
  return optin !== undefined && def.type !== "pipe" && def.type !== "catch";
}
