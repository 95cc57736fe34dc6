import type { EntryCall, ToolEntry } from "../catalog/entry.ts";
import { readField, toFieldSchema, type NumberField } from "../catalog/number-field.ts";
import { deepFreeze } from "../schema/deep-freeze.ts";
import type { JsonObject } from "../schema/json.ts";
import { toGatewayEntry } from "./gateway-entry.ts";
import type { GatewayParts } from "./gateway-parts.ts";
import { OperationIndex } from "./operation-index.ts";
import { isWithin } from "./operation-name.ts";
import { readText } from "./read-argument.ts";
import { toSearchQuery, type SearchQuery } from "./search-query.ts";
import { SortedOperations } from "./sorted-operations.ts";
import { takePage } from "./take-page.ts";

const limit: NumberField = { name: "limit", minimum: 1, maximum: 500, default: 50, description: "At most so many" };

const input = deepFreeze({
  type: "object",
  properties: {
    q: { type: "string", description: "Words, a name or how an id begins; leave out for all" },
    namespace: { type: "string", description: "Only in it and below" },
    limit: toFieldSchema(limit),
  },
});

const output = deepFreeze({
  type: "object",
  properties: { tools: { type: "array" }, total: { type: "integer" } },
  required: ["tools", "total"],
});

const description =
  "Start here: find operations by words in their id, tags and description, the best first. All words have to fit, so fewer find " +
  "more. Then read the schemas of the one you choose with schema, and run it with call.";

interface SearchRequest {
  readonly query: SearchQuery;
  readonly namespace: string;
  readonly limit: number;
}

function decode(args: JsonObject): SearchRequest {
  return {
    query: toSearchQuery(readText(args, "q", "what to look for") ?? ""),
    namespace: readText(args, "namespace", "a namespace") ?? "",
    limit: readField(limit, args),
  };
}

function describe({ id, description: words, title }: ToolEntry): object {
  return { tool: id, description: words ?? title ?? "" };
}

/** The tool of a gateway that finds operations. The index is its own. */
export function createSearchTool(parts: GatewayParts): ToolEntry {
  const index = new OperationIndex();
  const operations = new SortedOperations();

  async function run({ query, namespace, limit: most }: SearchRequest, { caller }: EntryCall): Promise<string> {
    const catalog = parts.catalog(caller);
    const found = query.chunks.length === 0 ? operations.of(catalog) : await index.search(catalog, query);
    const seen = found.filter((entry) => isWithin(entry.id, namespace) && parts.isGranted(entry, caller));
    return `{"tools":[${takePage(seen, most, describe).text}],"total":${seen.length}}`;
  }

  const search = { name: "search", title: "Search operations", description, input, output, decode } as const;
  return toGatewayEntry<SearchRequest, string>({ ...search, run, stringify: (text) => text }, parts);
}
