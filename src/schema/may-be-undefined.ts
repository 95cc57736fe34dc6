import type * as z from "zod";
import { isZodSchema, lazyTarget, zodInternals } from "./zod-schema.ts";

// A lazy schema may go round; nothing is this many wrappers deep.
const maxDepth = 64;

const alwaysOpen: ReadonlySet<string> = new Set([
  ...["any", "unknown", "undefined", "void", "custom", "transform", "optional"],
]);

/**
 * Tells whether a validated value of a zod schema may be undefined. On the wire such a property is absent, although
 * zod, which wants the key to be there, lists it as required.
 */
export function mayBeUndefined(schema: unknown, depth = 0): boolean {
  if (!isZodSchema(schema) || depth > maxDepth) return false;
  const { def } = zodInternals(schema);
  if (alwaysOpen.has(def.type)) return true;
  if (def.type === "literal") return def.values.includes(undefined);
  if (def.type === "union") return def.options.some((option) => mayBeUndefined(option, depth + 1));
  return def.type !== "nonoptional" && mayBeUndefined(innerOf(schema), depth + 1);
}

/** The schema whose output a wrapper passes on; of an intersection one side, since both must agree. */
function innerOf(schema: z.core.$ZodTypes): unknown {
  const { def } = zodInternals(schema);
  if (def.type === "pipe") return def.out;
  if (def.type === "intersection") return def.left;
  return "innerType" in def ? def.innerType : lazyTarget(schema);
}
