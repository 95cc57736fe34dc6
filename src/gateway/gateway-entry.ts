import type { Catalog } from "../catalog/catalog.ts";
import type { EntryCall, EntryGuard, ToolEntry, ToolHints } from "../catalog/entry.ts";
import { operationNotFound, type ErrorResult } from "../catalog/outcome.ts";
import { gatewayOrigin, type GatewayToolName } from "../catalog/wire-name.ts";
import { toToolHints } from "../catalog/tool-head.ts";
import { SurfaceError } from "../errors.ts";
import { deepFreeze, isJsonObject, type JsonObject, type JsonSchema } from "../schema/json.ts";
import { createIssue, maxIssues } from "../schema/render-issues.ts";
import type { Caller } from "../surface/caller.ts";
import { defaultOnDisconnect } from "../tags/tool-options.ts";
import type { OperationIndex } from "./operation-index.ts";
import type { SearchScope } from "./operation-slots.ts";
import { toNameQuery } from "./search-query.ts";

/** Dependencies of the tools of a gateway. */
export interface GatewayDeps {
  /** The operations of the gateway's view. The tools share it; it needs no disposal. */
  readonly index: OperationIndex;
  /** Returns the entries that a caller can call by the rules as of now. Called for each operation; the same object until a change. */
  readonly catalog: (caller: Caller) => Catalog;
  /** The scope that a known caller needs to call the gateway's tools. */
  readonly readScope: string;
  /**
   * Returns whether a caller passes a guard. Other operations do not exist for the caller. Called once a request for all operations
   * with the same guard.
   */
  readonly isGranted: (guard: EntryGuard, caller: Caller) => boolean;
  /** Whether the view only ever shows operations that read, so that `call` is listed as reading. @default false */
  readonly isReadOnly?: boolean;
}

/** Returns the operations that a caller may find, in a namespace and those below it. */
export function toScope({ isGranted }: GatewayDeps, caller: Caller, namespace = ""): SearchScope {
  return { isGranted: (guard) => isGranted(guard, caller), namespace };
}

/** The maximum number of similar operations in a refusal. */
const maxNear = 3;

/** An operation as a caller names it: by its id or its wire name. */
export interface NamedOperation {
  readonly tool: string;
  readonly caller: Caller;
}

/** Returns the operation of an id or wire name; `undefined` if it is hidden, not granted to the caller, or does not exist. */
export function findOperation(deps: GatewayDeps, { tool, caller }: NamedOperation): ToolEntry | undefined {
  const catalog = deps.catalog(caller);
  const entry = catalog.toolOf(tool) ?? catalog.tool(tool);
  return entry !== undefined && deps.isGranted(entry, caller) ? entry : undefined;
}

/**
 * Returns the refusal of a name for which {@link findOperation} returns nothing, with the ids that hold all its words. Depends only
 * on operations that the caller may see, so that hidden and missing operations get the same answer.
 */
export async function toOperationNotFound(deps: GatewayDeps, { tool, caller }: NamedOperation): Promise<ErrorResult> {
  const query = toNameQuery(tool);
  if (query === undefined) return operationNotFound;
  // One operation may have the text as its id and another as its name. Neither was found, so neither is similar.
  const bounds = { ...toScope(deps, caller), most: maxNear + 2 };
  const { whole } = await deps.index.search(deps.catalog(caller), query, bounds);
  const others = whole.filter((entry) => entry.id !== tool && entry.name !== tool).slice(0, maxNear);
  if (others.length === 0) return operationNotFound;
  const near = others.map(({ id }) => `"${id}"`);
  return { ...operationNotFound, message: `${operationNotFound.message}; near it: ${near.join(", ")}` };
}

/** Refuses unknown arguments: the answer to a call with an ignored one would mislead. @throws SurfaceError `VALIDATION_ERROR`. */
export function rejectUnknown(args: JsonObject, known: readonly string[], path: readonly string[] = []): void {
  const unknown = Object.keys(args).filter((name) => !known.includes(name));
  if (unknown.length === 0) return;
  const message = `there is no such argument; expected ${known.join(", ")}`;
  const issues = unknown.slice(0, maxIssues).map((name) => createIssue([...path, name], message));
  throw new SurfaceError("VALIDATION_ERROR", "Cannot read the arguments: some are unknown", { issues });
}

/** The deadline of tools that run no operation, in milliseconds. */
const lookUpMs = 10_000;

/** The answer of a gateway's tool: the text of a JSON object. */
export interface GatewayAnswer {
  readonly text: string;
  /** @default false: `run` throws if it fails */
  readonly isError?: boolean;
}

/** One of the tools of a gateway. */
export interface GatewayTool<TInput> {
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
  /** Whether its values are those of operations. @default false */
  readonly isRelaying?: boolean;
  /** Converts arguments, all of them known, to the input of `run`. @throws SurfaceError `VALIDATION_ERROR`. */
  decode(args: JsonObject): TInput;
  run(input: TInput, call: EntryCall): GatewayAnswer | Promise<GatewayAnswer>;
}

const reads: ToolHints = toToolHints("read", {});

/** Converts a gateway's tool to an entry, which requires the read scope and validates its arguments. */
export function toGatewayEntry<TInput>(tool: GatewayTool<TInput>, { readScope }: GatewayDeps): ToolEntry {
  const { name, title, description, hints = reads, timeoutMs = lookUpMs, isRelaying } = tool;
  const { properties } = tool.input;
  const known = isJsonObject(properties) ? Object.keys(properties) : [];
  return {
    id: name,
    name,
    origin: gatewayOrigin(name),
    title,
    description,
    hints,
    scopes: Object.freeze([readScope]),
    input: {
      root: "",
      json: deepFreeze({ ...tool.input, additionalProperties: false }),
      decode(args) {
        rejectUnknown(args, known);
        return tool.decode(args);
      },
    },
    output: Object.freeze({
      json: tool.output,
      // run() below returned the answer.
      stringify: (answer: unknown) => (answer as GatewayAnswer).text,
      // As above.
      isError: (answer: unknown) => (answer as GatewayAnswer).isError ?? false,
    }),
    timeoutMs,
    // Rate limits count the operations that `call` runs. Requests to the other tools are free, as lists are.
    isUncounted: true,
    isRelaying,
    onDisconnect: defaultOnDisconnect,
    owner: "surface",
    // decode() returned the input.
    run: (input, call) => tool.run(input as TInput, call),
  };
}
