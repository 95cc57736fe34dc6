import type { EntryGuard, ToolEntry } from "../catalog/entry.ts";
import type { JsonObject, JsonSchema } from "../schema/json.ts";
import { nameOf, namespaceOf } from "./operation-id.ts";

/** The rights that the author of an operation asks of its callers. */
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
  /** The schemas of the details that come with its errors, by code. */
  readonly errorSchemas?: Readonly<Record<string, JsonSchema>>;
}

/** The description of an operation for agents. */
export interface OperationSpec extends OperationSchemas {
  /** Its id: what it is called by. */
  readonly tool: string;
  /** The last segment of its id. */
  readonly name: string;
  /** The segments before it; empty where there are none. */
  readonly namespace: string;
  readonly version?: string;
  readonly type: "query" | "mutation";
  readonly title?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly accessControl?: AccessControl;
  readonly _meta?: JsonObject;
}

function toAccessControl({ requires }: EntryGuard): { readonly accessControl?: AccessControl } {
  if (requires === undefined) return {};
  const { scopes, scopesAny, resource } = requires;
  const accessControl = {
    ...(scopes.length === 0 ? {} : { requiredScopes: scopes }),
    ...(scopesAny.length === 0 ? {} : { requiredScopesAny: scopesAny }),
    ...(resource === undefined ? {} : { resourceType: resource.type, resourceAction: resource.action }),
  };
  return Object.keys(accessControl).length === 0 ? {} : { accessControl };
}

/** The schemas of an operation, those that it has. */
export function schemasOf({ input, output, errors }: ToolEntry): OperationSchemas {
  return {
    inputSchema: input.json,
    ...(output.json === undefined ? {} : { outputSchema: output.json }),
    ...(errors === undefined ? {} : { errorSchemas: errors }),
  };
}

function wordsOf({ version, title, description, tags }: ToolEntry): Partial<OperationSpec> {
  return {
    ...(version === undefined ? {} : { version }),
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    ...(tags === undefined || tags.length === 0 ? {} : { tags }),
  };
}

/** Describes an operation to agents. */
export function describeOperation(entry: ToolEntry): OperationSpec {
  return {
    tool: entry.id,
    name: nameOf(entry.id),
    namespace: namespaceOf(entry.id),
    type: entry.hints.readOnlyHint ? "query" : "mutation",
    ...wordsOf(entry),
    ...schemasOf(entry),
    ...toAccessControl(entry),
    ...(entry.meta === undefined ? {} : { _meta: entry.meta }),
  };
}
