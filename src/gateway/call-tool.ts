import type { ToolEntry, ToolHints } from "../catalog/entry.ts";
import { deepFreeze } from "../schema/deep-freeze.ts";
import type { JsonObject } from "../schema/json.ts";
import type { BatchResult } from "./batch-result.ts";
import { toGatewayEntry } from "./gateway-entry.ts";
import type { IndexedParts } from "./gateway-parts.ts";
import { misfit, ownArgument } from "./read-argument.ts";
import { maxCalls, readCalls } from "./read-calls.ts";
import { batchMs, runBatch, type BatchRequest } from "./run-batch.ts";

/** How much longer than its calls it may take itself, in milliseconds: what became of them is still told. */
const slackMs = 5000;

const input = deepFreeze({
  type: "object",
  properties: {
    calls: {
      type: "array",
      minItems: 1,
      maxItems: maxCalls,
      items: {
        type: "object",
        properties: {
          tool: { type: "string", description: "The operation's id" },
          input: { type: "object", description: "What fits its inputSchema; default {}" },
        },
        required: ["tool"],
        additionalProperties: false,
      },
    },
    parallel: {
      type: "boolean",
      description: "Up to 8 at once, in no order: only where none needs another",
      default: false,
    },
  },
  required: ["calls"],
});

const output = deepFreeze({
  type: "object",
  properties: {
    results: {
      type: "array",
      items: {
        type: "object",
        properties: {
          success: { type: "boolean" },
          result: {},
          error: { type: "object" },
        },
        required: ["success"],
      },
    },
  },
  required: ["results"],
});

const description =
  `Run 1 to ${maxCalls} operations, one after another. results has one for each, in the order of calls: { success: true, result } ` +
  "or { success: false, error: { code, message, details? } }; one that fails stops no other. All together have " +
  `${batchMs / 1000} seconds: what is not done then answers TIMEOUT.`;

function decode(args: JsonObject): BatchRequest {
  const parallel = ownArgument(args, "parallel") ?? false;
  if (typeof parallel !== "boolean") throw misfit("parallel", "expected true or false");
  return { calls: readCalls(args), isParallel: parallel };
}

/** What holds of whatever a view may show. Hints of what it shows now would tell its callers of operations that they lack. */
const anyHints: ToolHints = Object.freeze({
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: false,
  openWorldHint: true,
});

/** What `call` says of itself where everything that it can run only reads. */
export const readingHints: ToolHints = Object.freeze({
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: true,
});

/**
 * The tool of a gateway that runs operations. It says that it may do anything, or that it only reads where its view never shows
 * more; what is listed to whom it only reads for now is made of it by `toReadingTools()`.
 */
export function createCallTool(parts: IndexedParts): ToolEntry {
  const call = { name: "call", title: "Run operations", description, input, output, decode } as const;
  return toGatewayEntry<BatchRequest, readonly BatchResult[]>(
    {
      ...call,
      hints: parts.isReadOnly === true ? readingHints : anyHints,
      timeoutMs: batchMs + slackMs,
      run: (request, entryCall) => runBatch(parts, request, entryCall),
      stringify: (results) => `{"results":[${results.map(({ text }) => text).join(",")}]}`,
      isError: (results) => results.every(({ isError }) => isError),
    },
    parts,
  );
}
