import type { Catalog } from "../catalog/catalog.ts";
import type { EntryCall, EntryGuard, ToolEntry, ToolHints, ToolInput, ToolOutput } from "../catalog/entry.ts";
import { gatewayOrigin, type GatewayToolName } from "../catalog/own-tool-names.ts";
import { toToolHints } from "../catalog/tool-head.ts";
import { deepFreeze, isJsonObject, type JsonObject, type JsonSchema } from "../schema/json.ts";
import type { Caller } from "../surface/caller.ts";
import { defaultOnDisconnect } from "../tags/tool-options.ts";
import type { OperationIndex } from "./operation-index.ts";
import type { SearchScope } from "./operation-slots.ts";
import { rejectUnknown } from "./read-argument.ts";

/** Dependencies of the tools of a gateway. */
export interface GatewayDeps {
  /** The operations of the gateway's view. The tools share it; it needs no disposal. */
  readonly index: OperationIndex;
  /**
   * Returns what a caller can call by the rules as they are now. Called for each operation of each call; the same object until
   * something changes.
   */
  readonly catalog: (caller: Caller) => Catalog;
  /** The scope that a known caller needs to call the gateway's own tools. */
  readonly readScope: string;
  /**
   * Whether a caller was granted what a guard asks for: an operation of another guard does not exist for them. Called once a
   * request for all operations with the same guard.
   */
  readonly isGranted: (guard: EntryGuard, caller: Caller) => boolean;
  /** Whether the view never shows anything that changes something: then `call` says that it only reads. @default false */
  readonly isReadOnly?: boolean;
}

/** Returns the operations that a caller may find, in a namespace and those below it. */
export function toScope({ isGranted }: GatewayDeps, caller: Caller, namespace = ""): SearchScope {
  return { isGranted: (guard) => isGranted(guard, caller), namespace };
}

/** The deadline of tools that run no operation, in milliseconds. */
const lookUpMs = 10_000;

/** One of the tools of a gateway. */
export interface GatewayTool<TInput, TAnswer> {
  readonly name: GatewayToolName;
  readonly title: string;
  readonly description: string;
  /** Its `properties` name all arguments. */
  readonly input: JsonSchema;
  readonly output: JsonSchema;
  /** @default those of a tool that only reads */
  readonly hints?: ToolHints;
  /** @default 10 seconds */
  readonly timeoutMs?: number;
  /** Converts arguments, all of them known, to the input of `run`. @throws SurfaceError `VALIDATION_ERROR`. */
  decode(args: JsonObject): TInput;
  run(input: TInput, call: EntryCall): TAnswer | Promise<TAnswer>;
  /** Returns the text of a JSON object. */
  stringify(answer: TAnswer): string;
  /** @default false: `run` throws if it fails */
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
    // The operations that `call` runs are counted. The other tools are like lists, which are not.
    isUncounted: true,
    onDisconnect: defaultOnDisconnect,
    owner: "surface",
    // decode() made the input.
    run: (input, call) => tool.run(input as TInput, call),
  };
}
