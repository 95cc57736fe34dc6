import * as z from "zod";
import { cell, collection, defineSurface, event, mcpResource, mcpTool, procedure, readOnly } from "../../src/index.ts";

/** Who wrote a value, and as which of its writes: no two values are alike, and later ones are greater. */
const stamp = z.object({ gen: z.int(), n: z.int() });

/** A value of the surface. */
export type Stamp = z.infer<typeof stamp>;

/** What the backend serves. */
export const chaos = defineSurface("chaos", {
  items: mcpResource(collection({ key: z.string(), schema: stamp })),
  count: mcpResource(cell({ schema: stamp })),
  status: mcpResource(cell({ schema: stamp })),
  rang: mcpTool(event({ output: stamp })),
  look: readOnly(mcpTool(procedure({ input: z.object({ wait_ms: z.int() }), output: stamp }))),
  apply: mcpTool(
    procedure({
      input: z.object({ id: z.string(), key: z.string(), before_ms: z.int(), after_ms: z.int() }),
      output: stamp,
    }),
  ),
});

function keys(prefix: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}${index}`);
}

/** Items that are there from the start, and watched. */
export const watchedKeys: readonly string[] = keys("w", 39);

/** Items that are watched, and there only once a backend settles: each backend begins without them. */
export const lateKeys: readonly string[] = keys("late", 8);

/** Items that are there from the start, and that nobody watches. */
export const unwatchedKeys: readonly string[] = keys("u", 10);

/** The URI of an item. */
export function itemUri(key: string): string {
  return `surface://chaos/items/${key}`;
}

/** The list of the items' keys, as a resource. */
export const keysUri = "surface://chaos/items";

/** The cells, as resources. */
export const cellUris = { count: "surface://chaos/count", status: "surface://chaos/status" } as const;

/** The fifty URIs that are subscribed to. */
export const watchedUris: readonly string[] = [
  keysUri,
  ...Object.values(cellUris),
  ...[...watchedKeys, ...lateKeys].map(itemUri),
];

/** What may be absent. */
export const lateUris: ReadonlySet<string> = new Set(lateKeys.map(itemUri));
