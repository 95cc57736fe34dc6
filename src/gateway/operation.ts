import type { EntryGuard, ToolEntry } from "../catalog/entry.ts";

/** Returns the namespace of an operation: its id up to the last dot; empty without a dot. */
export function namespaceOf(id: string): string {
  return id.slice(0, Math.max(0, id.lastIndexOf(".")));
}

/** Returns the name of an operation within its namespace: the last segment of its id. */
export function nameOf(id: string): string {
  return id.slice(id.lastIndexOf(".") + 1);
}

/** Returns the rights that an operation requires, for JSON; `undefined` without any. */
function toAccessControl({ requires }: EntryGuard): object | undefined {
  if (requires === undefined) return undefined;
  const { scopes, scopesAny, resource } = requires;
  if (scopes.length + scopesAny.length === 0 && resource === undefined) return undefined;
  return {
    requiredScopes: scopes.length === 0 ? undefined : scopes,
    requiredScopesAny: scopesAny.length === 0 ? undefined : scopesAny,
    resourceType: resource?.type,
    resourceAction: resource?.action,
  };
}

/** Returns the schemas of an operation, for JSON. `errorSchemas` are those of the details of its errors, by code. */
export function schemasOf({ input, output, errors }: ToolEntry): object {
  return { inputSchema: input.json, outputSchema: output.json, errorSchemas: errors };
}

/** Returns the description of an operation for agents, for JSON. `tool` is the id by which `call` finds it. */
export function describeOperation(entry: ToolEntry): object {
  const { id, hints, version, title, description, tags = [], meta } = entry;
  return {
    ...{ tool: id, name: nameOf(id), namespace: namespaceOf(id) },
    ...{ type: hints.readOnlyHint ? "query" : "mutation", version, title, description },
    tags: tags.length === 0 ? undefined : tags,
    ...schemasOf(entry),
    accessControl: toAccessControl(entry),
    _meta: meta,
  };
}
