import type { ToolEntry } from "../catalog/entry.ts";
import { invalidArgument, argumentOf, readField, toFieldSchema, type NumberField } from "../catalog/tool-schemas.ts";
import { Refusal } from "../errors.ts";
import { deepFreeze, type JsonObject } from "../schema/json.ts";
import type { Caller } from "../surface/caller.ts";
import { createCallTool } from "./call-tool.ts";
import { findOperation, toGatewayEntry, toOperationNotFound, toScope, type GatewayDeps } from "./gateway-entry.ts";
import { describeOperation, schemasOf } from "./operation.ts";
import type { Found } from "./rank-operations.ts";
import { toSearchQuery, type SearchQuery } from "./search-query.ts";

/** Returns an optional text. @throws SurfaceError `VALIDATION_ERROR`. */
function readText(args: JsonObject, name: string, expected: string): string | undefined {
  const value = argumentOf(args, name);
  if (value === undefined || typeof value === "string") return value;
  throw invalidArgument(name, `expected ${expected}, a string`);
}

/** Bytes of JSON on a page. Neither this server nor most hosts cut a result of this size. */
const maxPageBytes = 96 * 1024;

/** The first items of a list. */
interface Page {
  /** The JSON text of its items, joined by commas. */
  readonly text: string;
  readonly count: number;
}

/** Returns at most `limit` items, and as many as fit on a page, but at least one. */
function takePage<TItem>(items: readonly TItem[], limit: number, describe: (item: TItem) => object): Page {
  const texts: string[] = [];
  let room = maxPageBytes;
  for (const item of items.slice(0, limit)) {
    const text = JSON.stringify(describe(item));
    room -= Buffer.byteLength(text) + 1;
    if (room < 0 && texts.length > 0) break;
    texts.push(text);
  }
  return { text: texts.join(","), count: texts.length };
}

const listLimit: NumberField = {
  name: "limit",
  minimum: 1,
  maximum: 1000,
  // About 1,300 tokens, with schemas.
  default: 10,
  description: "Maximum number",
};

function createListTool(deps: GatewayDeps): ToolEntry {
  return toGatewayEntry(
    {
      name: "list",
      title: "List operations",
      description:
        "List the operations you can call, each with its schemas, sorted by id (tool). The answer is long: prefer search, or pass a " +
        "namespace. An operation of type query only reads; a mutation may change something.",
      input: deepFreeze({
        type: "object",
        properties: {
          namespace: {
            type: "string",
            description: "Only this namespace and below: an id without its last segment",
          },
          limit: toFieldSchema(listLimit),
          cursor: { type: "string", description: "next of the previous answer, if it had one" },
        },
      }),
      output: deepFreeze({
        type: "object",
        properties: { operations: { type: "array" }, total: { type: "integer" }, next: { type: "string" } },
        required: ["operations", "total"],
      }),
      decode: (args) => ({
        namespace: readText(args, "namespace", "a namespace") ?? "",
        limit: readField(listLimit, args),
        // The last id of the page before, so that no cursor expires.
        after: readText(args, "cursor", "next of a previous answer") ?? "",
      }),
      async run({ namespace, limit, after }, { caller }) {
        const all = await deps.index.list(deps.catalog(caller), toScope(deps, caller, namespace));
        const rest = after === "" ? all : all.filter(({ id }) => id > after);
        const page = takePage(rest, limit, describeOperation);
        const last = page.count < rest.length ? rest[page.count - 1] : undefined;
        const next = last === undefined ? "" : `,"next":${JSON.stringify(last.id)}`;
        return { text: `{"operations":[${page.text}],"total":${all.length}${next}}` };
      },
    },
    deps,
  );
}

function createSchemaTool(deps: GatewayDeps): ToolEntry {
  return toGatewayEntry(
    {
      name: "schema",
      title: "Get an operation's schemas",
      description:
        "Get the JSON Schemas of one operation before you first call it: of its input, its output, and the details of its errors, by " +
        "error code.",
      input: deepFreeze({
        type: "object",
        properties: { tool: { type: "string", description: "The operation's id" } },
        required: ["tool"],
      }),
      output: deepFreeze({
        type: "object",
        properties: {
          inputSchema: { type: "object" },
          outputSchema: { type: "object" },
          errorSchemas: { type: "object" },
        },
        required: ["inputSchema"],
      }),
      decode(args) {
        const tool = readText(args, "tool", "the id of an operation");
        if (tool === undefined) throw invalidArgument("tool", "expected the id of an operation, a string");
        return tool;
      },
      async run(tool, { caller }) {
        const entry = findOperation(deps, { tool, caller });
        if (entry !== undefined) return { text: JSON.stringify(schemasOf(entry)) };
        const { code, message } = await toOperationNotFound(deps, { tool, caller });
        throw new Refusal(code, message);
      },
    },
    deps,
  );
}

const searchLimit: NumberField = {
  name: "limit",
  minimum: 1,
  maximum: 500,
  default: 50,
  description: "Maximum number",
};

interface FindBounds {
  readonly caller: Caller;
  readonly namespace: string;
  readonly limit: number;
}

/** Returns all operations for a query without words. */
async function find(deps: GatewayDeps, query: SearchQuery, { caller, ...bounds }: FindBounds): Promise<Found> {
  const catalog = deps.catalog(caller);
  const scope = toScope(deps, caller, bounds.namespace);
  if (query.words.length > 0) return deps.index.search(catalog, query, { ...scope, most: bounds.limit });
  const whole = await deps.index.list(catalog, scope);
  return { whole, partly: [], total: whole.length };
}

function createSearchTool(deps: GatewayDeps): ToolEntry {
  return toGatewayEntry(
    {
      name: "search",
      title: "Search operations",
      description:
        "Start here: find operations by words in their id, tags and description, best match first. Then read the schemas of the one you " +
        "choose with schema, and run it with call. If few match all words, partial matches follow.",
      input: deepFreeze({
        type: "object",
        properties: {
          q: { type: "string", description: "Words, a name or the start of an id; leave out for all" },
          namespace: { type: "string", description: "Only this namespace and below" },
          limit: toFieldSchema(searchLimit),
        },
      }),
      output: deepFreeze({
        type: "object",
        properties: { tools: { type: "array" }, total: { type: "integer" } },
        required: ["tools", "total"],
      }),
      decode: (args) => ({
        query: toSearchQuery(readText(args, "q", "a query") ?? ""),
        namespace: readText(args, "namespace", "a namespace") ?? "",
        limit: readField(searchLimit, args),
      }),
      async run({ query, namespace, limit }, { caller }) {
        const { whole, partly, total } = await find(deps, query, { caller, namespace, limit });
        const { text } = takePage([...whole, ...partly], limit, (entry) => {
          const { id: tool, description = entry.title ?? "" } = entry;
          return { tool, description, partial: partly.includes(entry) || undefined };
        });
        return { text: `{"tools":[${text}],"total":${total}}` };
      },
    },
    deps,
  );
}

/**
 * Creates the four tools of a gateway over one view: `call`, `list`, `schema`, `search`. Their descriptions do not depend on the
 * operations. `toReadingTools()` lists them to callers who can only read.
 */
export function createGatewayTools(deps: GatewayDeps): readonly ToolEntry[] {
  return Object.freeze([createCallTool(deps), createListTool(deps), createSchemaTool(deps), createSearchTool(deps)]);
}
