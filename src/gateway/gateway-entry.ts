import type { EntryCall, ToolEntry, ToolHints, ToolInput, ToolOutput } from "../catalog/entry.ts";
import { gatewayOrigin, type GatewayToolName } from "../catalog/own-tool-names.ts";
import { toToolHints } from "../catalog/tool-head.ts";
import { deepFreeze, isJsonObject, type JsonObject, type JsonSchema } from "../schema/json.ts";
import { defaultOnDisconnect } from "../tags/tool-options.ts";
import type { GatewayDeps } from "./gateway-deps.ts";
import { rejectUnknown } from "./read-argument.ts";

/** How long what only looks things up may take, in milliseconds. */
const lookUpMs = 10_000;

/** What the tools of a gateway differ in. */
export interface GatewayTool<TInput, TAnswer> {
  readonly name: GatewayToolName;
  readonly title: string;
  readonly description: string;
  /** What it names under `properties` is all that it takes. */
  readonly input: JsonSchema;
  readonly output: JsonSchema;
  /** Default: it only reads. */
  readonly hints?: ToolHints;
  /** Default: 10 seconds. */
  readonly timeoutMs?: number;
  /** Arguments, none of them unknown -> what `run` takes. @throws SurfaceError `VALIDATION_ERROR`. */
  decode(args: JsonObject): TInput;
  run(input: TInput, call: EntryCall): TAnswer | Promise<TAnswer>;
  /** The answer as the text of a JSON object. */
  stringify(answer: TAnswer): string;
  /** Left out: it refuses, or succeeds. */
  isError?(answer: TAnswer): boolean;
}

const reads: ToolHints = toToolHints("read", {});

function toInput<TInput, TAnswer>(tool: GatewayTool<TInput, TAnswer>): ToolInput {
  const { properties } = tool.input;
  const known = isJsonObject(properties) ? Object.keys(properties) : [];
  return {
    root: "",
    json: deepFreeze({ ...tool.input, additionalProperties: false }),
    decode(args) {
      rejectUnknown(args, known);
      return tool.decode(args);
    },
  };
}

function toOutput<TInput, TAnswer>(tool: GatewayTool<TInput, TAnswer>): ToolOutput {
  return Object.freeze({
    json: tool.output,
    // Its own run() made the answer.
    stringify: (answer: unknown) => tool.stringify(answer as TAnswer),
    // As above.
    isError: (answer: unknown) => tool.isError?.(answer as TAnswer) ?? false,
  });
}

/** Turns a tool of a gateway into an entry. It needs the scope of reading, validates its arguments itself, and is not counted. */
export function toGatewayEntry<TInput, TAnswer>(
  tool: GatewayTool<TInput, TAnswer>,
  { readScope }: GatewayDeps,
): ToolEntry {
  const { name, title, description, hints = reads, timeoutMs = lookUpMs } = tool;
  return {
    id: name,
    name,
    origin: gatewayOrigin(name),
    title,
    description,
    hints,
    scopes: Object.freeze([readScope]),
    input: toInput(tool),
    output: toOutput(tool),
    timeoutMs,
    // The operations that it calls are counted; what only tells of them is, as lists are, counted nowhere.
    isUncounted: true,
    onDisconnect: defaultOnDisconnect,
    owner: "surface",
    // decode() made the input.
    run: (input, call) => tool.run(input as TInput, call),
  };
}
