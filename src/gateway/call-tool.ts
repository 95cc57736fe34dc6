import type { ToolEntry, ToolHints } from "../catalog/entry.ts";
import { createErrorResult, type ErrorResult } from "../catalog/outcome.ts";
import { invalidArgument, argumentOf } from "../catalog/tool-schemas.ts";
import { SurfaceError } from "../errors.ts";
import { deepFreeze, isJsonObject, type JsonObject, type JsonValue } from "../schema/json.ts";
import { rejectUnknown, toGatewayEntry, type GatewayDeps } from "./gateway-entry.ts";
import { batchMs, runBatch, type BatchCall, type BatchRequest } from "./run-batch.ts";

/** The maximum number of calls of a batch. */
const maxCalls = 50;

/** Milliseconds beyond the deadline of the calls, in which the batch writes their results. */
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
          input: { type: "object", description: "Arguments that fit its inputSchema; default {}" },
        },
        required: ["tool"],
        additionalProperties: false,
      },
    },
    parallel: {
      type: "boolean",
      description: "Run up to 8 at once, in any order: only if none needs another",
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
        properties: { success: { type: "boolean" }, result: {}, error: { type: "object" } },
        required: ["success"],
      },
    },
  },
  required: ["results"],
});

const description =
  `Run 1 to ${maxCalls} operations, one after another. results has one item for each, in the order of calls: { success: true, result } ` +
  "or { success: false, error: { code, message, details? } }. A failed one does not stop the others. All together have " +
  `${batchMs / 1000} seconds; a call not done by then fails with TIMEOUT.`;

const callFields = ["tool", "input"];

function readCall(call: JsonValue, path: string): BatchCall {
  if (!isJsonObject(call)) throw invalidArgument(path, "expected { tool, input? }, an object");
  rejectUnknown(call, callFields, [path]);
  const tool = argumentOf(call, "tool");
  if (typeof tool !== "string") throw invalidArgument(`${path}.tool`, "expected the id of an operation, a string");
  const given = argumentOf(call, "input");
  if (given === undefined) return { tool, input: {} };
  if (!isJsonObject(given)) throw invalidArgument(`${path}.input`, "expected the operation's input, an object");
  return { tool, input: given };
}

/** Reads one call of a batch. A malformed call becomes its refusal, and the other calls run. */
function readAlone(call: JsonValue, index: number): BatchCall | ErrorResult {
  try {
    return readCall(call, `calls.${index}`);
  } catch (cause) {
    if (!(cause instanceof SurfaceError)) throw cause;
    const { code, issues } = cause;
    return createErrorResult(code, "the arguments do not fit", { issues });
  }
}

function decode(args: JsonObject): BatchRequest {
  const isParallel = argumentOf(args, "parallel") ?? false;
  if (typeof isParallel !== "boolean") throw invalidArgument("parallel", "expected true or false");
  const calls = argumentOf(args, "calls");
  if (!Array.isArray(calls) || calls.length === 0 || calls.length > maxCalls) {
    throw invalidArgument("calls", `expected a list of 1 to ${maxCalls} calls`);
  }
  return { calls: calls.map(readAlone), isParallel };
}

/** The hints that fit every operation. Hints of the current operations would tell callers about hidden ones. */
const anyHints: ToolHints = Object.freeze({
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: false,
  openWorldHint: true,
});

const readingHints: ToolHints = Object.freeze({
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: true,
});

/**
 * Creates the gateway's tool that runs operations. Its hints allow anything, unless the view only ever shows operations that read.
 * {@link toReadingTools} replaces it in the lists of callers who can only call such operations.
 */
export function createCallTool(deps: GatewayDeps): ToolEntry {
  return toGatewayEntry<BatchRequest>(
    {
      ...{ name: "call", title: "Run operations", description, input, output, decode },
      hints: deps.isReadOnly === true ? readingHints : anyHints,
      timeoutMs: batchMs + slackMs,
      isRelaying: true,
      async run(request, call) {
        const results = await runBatch(deps, request, call);
        const text = `{"results":[${results.map((result) => result.text).join(",")}]}`;
        return { text, isError: results.every(({ isError }) => isError) };
      },
    },
    deps,
  );
}

/** Returns the tools of a gateway as they are listed to callers who can only call operations that read: `call` only reads too. */
export function toReadingTools(tools: readonly ToolEntry[]): readonly ToolEntry[] {
  return tools.map((tool) => (tool.name === "call" ? Object.freeze({ ...tool, hints: readingHints }) : tool));
}
