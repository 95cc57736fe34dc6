import type { EntryGuard, ToolEntry } from "../catalog/entry.ts";
import type { JsonObject, JsonSchema } from "../schema/json.ts";

/** Returns the namespace of an operation: its id up to the last dot; empty without a dot. */
export function namespaceOf(id: string): string {
  return id.slice(0, Math.max(0, id.lastIndexOf(".")));
}

/** Returns the name of an operation within its namespace: the last segment of its id. */
export function nameOf(id: string): string {
  return id.slice(id.lastIndexOf(".") + 1);
}

/** The access rights that an operation requires. */
export interface AccessControl {
  readonly requiredScopes?: readonly string[];
  readonly requiredScopesAny?: readonly string[];
  readonly resourceType?: string;
  readonly resourceAction?: string;
}

/** The schemas of an operation. */
export interface OperationSchemas {
  readonly inputSchema: JsonSchema;
  readonly outputSchema?: JsonSchema;
  /** Schemas of the details of its errors, by code. */
  readonly errorSchemas?: Readonly<Record<string, JsonSchema>>;
}

/** The description of an operation for agents. */
export interface OperationSpec extends OperationSchemas {
  /** Its id, by which `call` finds it. */
  readonly tool: string;
  /** The last segment of its id. */
  readonly name: string;
  /** The segments before; empty if there are none. */
  readonly namespace: string;
  readonly version?: string;
  readonly type: "query" | "mutation";
  readonly title?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly accessControl?: AccessControl;
  readonly _meta?: JsonObject;
}

function toAccessControl({ requires }: EntryGuard): Pick<OperationSpec, "accessControl"> {
  if (requires === undefined) return {};
  const { scopes, scopesAny, resource } = requires;
  const accessControl = {
    ...(scopes.length === 0 ? {} : { requiredScopes: scopes }),
    ...(scopesAny.length === 0 ? {} : { requiredScopesAny: scopesAny }),
    ...(resource === undefined ? {} : { resourceType: resource.type, resourceAction: resource.action }),
  };
  return Object.keys(accessControl).length === 0 ? {} : { accessControl };
}

/** Returns the schemas of an operation. */
export function schemasOf({ input, output, errors }: ToolEntry): OperationSchemas {
  return {
    inputSchema: input.json,
    ...(output.json === undefined ? {} : { outputSchema: output.json }),
    ...(errors === undefined ? {} : { errorSchemas: errors }),
  };
}

/** Describes an operation to agents. */
export function describeOperation(entry: ToolEntry): OperationSpec {
  const { id, hints, version, title, description, tags = [], meta } = entry;
  return {
    tool: id,
    name: nameOf(id),
    namespace: namespaceOf(id),
    type: hints.readOnlyHint ? "query" : "mutation",
    ...(version === undefined ? {} : { version }),
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    ...(tags.length === 0 ? {} : { tags }),
    ...schemasOf(entry),
    ...toAccessControl(entry),
    ...(meta === undefined ? {} : { _meta: meta }),
  };
}
