import { cannotAsk } from "../../src/catalog/own-refusals.ts";
import { anonymous, type Caller } from "../../src/surface/caller.ts";
import type { Catalog } from "../../src/catalog/catalog.ts";
import { rejectNestedCall, type ToolOutcome } from "../../src/catalog/outcome.ts";
import type { EntryCall, NestedCall, ProgressReport, ToolEntry } from "../../src/catalog/entry.ts";
import { toToolHints } from "../../src/catalog/tool-head.ts";
import { undeclaredOutput } from "../../src/catalog/tool-schemas.ts";
import { createGatewayTools } from "../../src/gateway/gateway-tools.ts";
import type { GatewayDeps } from "../../src/gateway/gateway-entry.ts";
import { OperationIndex } from "../../src/gateway/operation-index.ts";
import type { JsonObject } from "../../src/schema/json.ts";

/** An operation that nobody runs. */
export function operation(id: string, more: Partial<ToolEntry> = {}): ToolEntry {
  return {
    id,
    name: id.replaceAll(".", "_"),
    origin: `operation "${id}"`,
    title: undefined,
    description: undefined,
    hints: toToolHints("unstated", {}),
    scopes: ["hub:write"],
    input: { root: "", json: { type: "object" }, decode: (args) => args },
    output: undeclaredOutput,
    timeoutMs: 1000,
    onDisconnect: "abort",
    owner: "surface",
    run: () => ({}),
    ...more,
  };
}

/** A catalog of these tools alone. */
export function catalogOf(entries: readonly ToolEntry[]): Catalog {
  const tools = entries.toSorted((left, right) => (left.name < right.name ? -1 : 1));
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const byId = new Map(tools.map((tool) => [tool.id, tool]));
  return {
    tools,
    resources: [],
    templates: [],
    prompts: [],
    tool: (name) => byName.get(name),
    toolOf: (id) => byId.get(id),
    prompt: () => undefined,
    uriPrefix: "surface://hub/",
    scopes: { read: "hub:read", write: "hub:write", all: ["hub:read", "hub:write"] },
    warnings: [],
  };
}

/** What a call under test is given. */
export interface CallGiven {
  readonly caller?: Caller;
  readonly nest?: (nested: NestedCall) => Promise<ToolOutcome>;
  readonly signal?: AbortSignal;
}

/** A call as the tools of a gateway see it, and the progress that it was told of. */
export function callOf({ caller = anonymous, nest = rejectNestedCall, signal }: CallGiven = {}): EntryCall & {
  readonly told: ProgressReport[];
} {
  const told: ProgressReport[] = [];
  return {
    told,
    ...cannotAsk,
    caller,
    nest,
    signal: signal ?? new AbortController().signal,
    progress: (report) => void told.push(report),
  };
}

/** A gateway whose tools are run by their names, with what they answer read back. */
export class GatewayBench {
  readonly tools: readonly ToolEntry[];
  readonly index = new OperationIndex();

  constructor(deps: Omit<GatewayDeps, "index" | "readScope">) {
    this.tools = createGatewayTools({ ...deps, index: this.index, readScope: "hub:read" });
  }

  /** Over a catalog that stays as it is, all of it granted. */
  static over(entries: readonly ToolEntry[]): GatewayBench {
    const catalog = catalogOf(entries);
    return new GatewayBench({ catalog: () => catalog, isGranted: () => true });
  }

  tool(name: string): ToolEntry {
    const tool = this.tools.find((one) => one.name === name);
    if (tool === undefined) throw new TypeError(`no tool ${name}`);
    return tool;
  }

  /** Decodes, runs and reads back; what is thrown is passed on. */
  async ask(name: string, args: JsonObject = {}, call: EntryCall = callOf()): Promise<JsonObject> {
    const tool = this.tool(name);
    const answer: unknown = await tool.run(tool.input.decode(args), call);
    // The text of a JSON object, as every tool answers.
    return JSON.parse(tool.output.stringify(answer)) as JsonObject;
  }

  /** The ids that a search finds, in their order. */
  async find(args: JsonObject, call: EntryCall = callOf()): Promise<readonly string[]> {
    const { tools } = await this.ask("search", args, call);
    // As search answers.
    return (tools as readonly { readonly tool: string }[]).map(({ tool }) => tool);
  }
}
