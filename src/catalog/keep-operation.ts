import type { MountedOperation, MountedResource } from "./mount.ts";

/** Keys that something mounted may have, and whether what is there is kept as it is. */
type Keys = Readonly<Record<string, "itself" | "copy">>;

/** Every key that an operation may have: a schema is known by its identity. */
const keys: Readonly<Record<keyof MountedOperation, "itself" | "copy">> = {
  ...{ name: "itself", type: "itself", version: "itself", title: "itself", description: "itself" },
  ...{ inputSchema: "itself", outputSchema: "itself", visibility: "itself", timeoutMs: "itself" },
  ...{ destructive: "itself", idempotent: "itself", openWorld: "itself" },
  ...{ tags: "copy", confirm: "copy", errorSchemas: "copy", reach: "copy", authority: "copy" },
  ...{ scopes: "copy", scopesAny: "copy", resource: "copy" },
};

/** Every key that a resource may have. */
const resourceKeys: Readonly<Record<keyof MountedResource, "itself" | "copy">> = {
  ...{ path: "itself", title: "itself", description: "itself", mimeType: "itself" },
  ...{ scopes: "copy", scopesAny: "copy", resource: "copy" },
};

/** One more than any list of an operation may hold: what is longer is refused as what was cut here is. */
const maxKept = 1025;

function copyOf(value: unknown): unknown {
  // A hole comes to be seen.
  if (Array.isArray(value)) return Object.freeze(Array.from<unknown>(value.slice(0, maxKept)));
  return typeof value === "object" && value !== null ? Object.freeze({ ...value }) : value;
}

function keep(given: unknown, known: Keys): unknown {
  if (typeof given !== "object" || given === null || Array.isArray(given)) return given;
  const kept: Record<string, unknown> = {};
  for (const [key, how] of Object.entries(known)) {
    const value: unknown = Reflect.get(given, key);
    if (value !== undefined) kept[key] = how === "copy" ? copyOf(value) : value;
  }
  const unknown = Object.keys(given).find((key) => !Object.hasOwn(known, key));
  if (unknown !== undefined) kept[unknown] = true;
  return Object.freeze(kept);
}

/**
 * An operation as it is now, frozen, its lists too: everything of it is read once, so that what is looked at is what is used,
 * whatever its author does to theirs. What is not known of operations is kept, for whoever looks to refuse it.
 */
export function keepOperation(given: unknown): unknown {
  return keep(given, keys);
}

/** A resource in the same way. */
export function keepResource(given: unknown): unknown {
  return keep(given, resourceKeys);
}
