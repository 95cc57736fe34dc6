import type { EntryCall, ToolEntry } from "../catalog/entry.ts";
import { readField, toFieldSchema, type NumberField } from "../catalog/number-field.ts";
import { deepFreeze } from "../schema/json.ts";
import type { JsonObject } from "../schema/json.ts";
import { toGatewayEntry, toScope, type GatewayDeps } from "./gateway-entry.ts";
import type { Found } from "./rank-operations.ts";
import { readText } from "./read-argument.ts";
import { toSearchQuery, type SearchQuery } from "./search-query.ts";
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
  "Start here: find operations by words in their id, tags and description, the best first. Where few fit all words, some follow that fit " +
  "in part. Then read the schemas of the one you choose with schema, and run it with call.";

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

function describe({ id, description: words, title }: ToolEntry, isPartial: boolean): object {
  return { tool: id, description: words ?? title ?? "", ...(isPartial ? { partial: true } : {}) };
}

function toFound(whole: readonly ToolEntry[]): Found {
  return { whole, partly: [], total: whole.length };
}

/** The tool of a gateway that finds operations. */
export function createSearchTool(parts: GatewayDeps): ToolEntry {
  async function run({ query, namespace, limit: most }: SearchRequest, { caller }: EntryCall): Promise<string> {
    const catalog = parts.catalog(caller);
    const scope = toScope(parts, caller, namespace);
    const { whole, partly, total } =
      query.words.length === 0
        ? toFound(await parts.index.list(catalog, scope))
        : await parts.index.search(catalog, query, { ...scope, most });
    const { text } = takePage([...whole, ...partly], most, (entry) => describe(entry, partly.includes(entry)));
    return `{"tools":[${text}],"total":${total}}`;
  }

  const search = { name: "search", title: "Search operations", description, input, output, decode } as const;
  return toGatewayEntry<SearchRequest, string>({ ...search, run, stringify: (text) => text }, parts);
}
