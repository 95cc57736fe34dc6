import * as z from "zod";
import { toWireData } from "./to-wire-data.ts";
import { wireKey } from "./wire-forms.ts";

const shapeKeywords = ["type", "anyOf", "oneOf", "allOf", "$ref", "enum", "const"];

/**
 * The author's `.meta()`, fit for JSON Schema: without `id` (it would turn the node into a `$ref`, and two schemas of
 * one id into an error), and with dates, bigints, maps and sets in their wire form. A value that has none is left out.
 */
export class ZodMetadata extends z.core.$ZodRegistry<Record<string, unknown>> {
  override get(schema: z.core.$ZodType): Record<string, unknown> | undefined {
    const meta = z.globalRegistry.get(schema);
    if (meta === undefined) return undefined;
    const entries = Object.entries(meta).filter(([key]) => key !== "id" && key !== wireKey);
    return Object.fromEntries(entries.map(([key, value]) => [key, toWireData(value)]));
  }
}

/** Tells whether the author has said in `.meta()` what the JSON Schema of this node is. */
export function isOverridden(schema: z.core.$ZodType): boolean {
  const meta = z.globalRegistry.get(schema);
  return meta !== undefined && shapeKeywords.some((key) => meta[key] !== undefined);
}
