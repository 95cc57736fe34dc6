import type { ToolEntry } from "../catalog/entry.ts";
import { readField, toFieldSchema, type NumberField } from "../catalog/number-field.ts";
import { deepFreeze } from "../schema/json.ts";
import type { JsonObject } from "../schema/json.ts";
import { describeOperation } from "./describe-operation.ts";
import { toGatewayEntry, toScope, type GatewayDeps } from "./gateway-entry.ts";
import { readText } from "./read-argument.ts";
import { takePage } from "./take-page.ts";

const limit: NumberField = {
  name: "limit",
  minimum: 1,
  maximum: 1000,
  // With schemas, so many are about 1,300 tokens.
  default: 10,
  description: "At most so many",
};

const input = deepFreeze({
  type: "object",
  properties: {
    namespace: {
      type: "string",
      description: "Only in it and below: an id without its last segment",
    },
    limit: toFieldSchema(limit),
    cursor: { type: "string", description: "next of the answer before, where it had one" },
  },
});

const output = deepFreeze({
  type: "object",
  properties: { operations: { type: "array" }, total: { type: "integer" }, next: { type: "string" } },
  required: ["operations", "total"],
});

const description =
  "List the operations that can be called here with all there is to know of each, sorted by id (tool). A query only reads, a " +
  "mutation may change something. Long where there are many: prefer search, or name a namespace.";

interface ListRequest {
  readonly namespace: string;
  readonly limit: number;
  /** The id that the page before ended with. Whatever it is, what sorts after it is told: no cursor is ever too old. */
  readonly after: string;
}

function decode(args: JsonObject): ListRequest {
  return {
    namespace: readText(args, "namespace", "a namespace") ?? "",
    limit: readField(limit, args),
    after: readText(args, "cursor", "the next of an answer") ?? "",
  };
}

/** The tool of a gateway that lists its operations, page by page. */
export function createListTool(parts: GatewayDeps): ToolEntry {
  const list = { name: "list", title: "List operations", description, input, output, decode } as const;
  return toGatewayEntry<ListRequest, string>(
    {
      ...list,
      async run({ namespace, limit: most, after }, { caller }) {
        const all = await parts.index.list(parts.catalog(caller), toScope(parts, caller, namespace));
        const rest = after === "" ? all : all.filter(({ id }) => id > after);
        const page = takePage(rest, most, describeOperation);
        const last = page.count < rest.length ? rest[page.count - 1] : undefined;
        const next = last === undefined ? "" : `,"next":${JSON.stringify(last.id)}`;
        return `{"operations":[${page.text}],"total":${all.length}${next}}`;
      },
      stringify: (text) => text,
    },
    parts,
  );
}
