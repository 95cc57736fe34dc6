import type { ToolEntry, ToolHints } from "../catalog/entry.ts";
import { createRefused, type Refused } from "../catalog/outcome.ts";
import { SurfaceError } from "../errors.ts";
import { deepFreeze, isJsonObject } from "../schema/json.ts";
import type { JsonObject, JsonValue } from "../schema/json.ts";
import { toGatewayEntry, type GatewayDeps } from "./gateway-entry.ts";
import { misfit, ownArgument, rejectUnknown } from "./read-argument.ts";
import { batchMs, runBatch, type BatchCall, type BatchRequest, type BatchResult } from "./run-batch.ts";

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

const callFields = ["tool", "input"];

function readCall(call: JsonValue, path: string): BatchCall {
  if (!isJsonObject(call)) throw misfit(path, "expected { tool, input? }, an object");
  rejectUnknown(call, callFields, [path]);
  const tool = ownArgument(call, "tool");
  if (typeof tool !== "string") throw misfit(`${path}.tool`, "expected the id of an operation, a string");
  const given = ownArgument(call, "input");
  if (given === undefined) return { tool, input: {} };
  if (!isJsonObject(given)) throw misfit(`${path}.input`, "expected the operation's input, an object");
  return { tool, input: given };
}

/** Reads one call of a batch. A malformed call fails alone and names its mistake; the other calls run. */
function readAlone(call: JsonValue, index: number): BatchCall | Refused {
  try {
    return readCall(call, `calls.${index}`);
  } catch (cause) {
    if (!(cause instanceof SurfaceError)) throw cause;
    const { code, issues } = cause;
    return createRefused(code, "the arguments do not fit", { issues });
  }
}

/**
 * Reads the calls of a batch, in their order: a malformed call becomes its refusal.
 *
 * @throws SurfaceError `VALIDATION_ERROR`, for anything but a list of 1 to 50.
 */
function readCalls(args: JsonObject): readonly (BatchCall | Refused)[] {
  const calls = ownArgument(args, "calls");
  if (!Array.isArray(calls) || calls.length === 0 || calls.length > maxCalls) {
    throw misfit("calls", `expected a list of 1 to ${maxCalls} calls`);
  }
  return calls.map(readAlone);
}

function decode(args: JsonObject): BatchRequest {
  const parallel = ownArgument(args, "parallel") ?? false;
  if (typeof parallel !== "boolean") throw misfit("parallel", "expected true or false");
  return { calls: readCalls(args), isParallel: parallel };
}

/** The hints of every operation that a view may show. Hints of the current operations would reveal hidden ones to callers. */
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
 * The tool of a gateway that runs operations. It says that it may do anything, or that it only reads where its view never shows
 * more; {@link toReadingTools} replaces it in the list of callers who can only call tools that read.
 */
export function createCallTool(parts: GatewayDeps): ToolEntry {
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

/** Returns the tools of a gateway as they are listed to callers who can only call operations that read: `call` says that it only reads. */
export function toReadingTools(tools: readonly ToolEntry[]): readonly ToolEntry[] {
  return tools.map((tool) => (tool.name === "call" ? Object.freeze({ ...tool, hints: readingHints }) : tool));
}
