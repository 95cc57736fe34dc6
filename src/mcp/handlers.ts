import type { Catalog } from "../catalog/create-catalog.ts";
import type { ResourceContent } from "../catalog/entry.ts";
import type { ListedItems } from "../catalog/listed-items.ts";
import type { UriResolver } from "../catalog/resolve-uri.ts";
import type { Invoker } from "../call/create-invoker.ts";
import type { Refused, ToolOutcome } from "../call/outcome.ts";
import { isJsonObject, type JsonObject } from "../schema/json.ts";
import { describeResource, describeTemplate, describeTool, resourceMimeType } from "./describe-entries.ts";
import { toAbsent, toNotFound } from "./not-found.ts";
import { createPagedList } from "./pages.ts";
import { rpcCodes, toRpcError, toRpcResult, type McpRequest, type RpcAnswer } from "./protocol.ts";
import { ResourceList } from "./resource-list.ts";
import { errorMetaKey, refusalData, refusalText } from "./render-refusal.ts";
import { toWellFormedJson, writeJson } from "./write-json.ts";

/** Answers one method: params off the wire -> an answer. Knows nothing of the SDK, and never rejects. */
export type Handler = (params: JsonObject | undefined, request: McpRequest) => RpcAnswer | Promise<RpcAnswer>;

/** The methods that the package answers itself, on either path. */
export type HandledMethod =
  | "tools/list"
  | "tools/call"
  | "resources/list"
  | "resources/templates/list"
  | "resources/read";

/** One handler a method. */
export type Handlers = Readonly<Record<HandledMethod, Handler>>;

/** What the handlers are made of. */
export interface HandlerSource {
  readonly catalog: Catalog;
  readonly resolve: UriResolver;
  readonly invoker: Invoker;
  /** How many entries a page of a list holds. */
  readonly pageSize: number;
  /** What is listed because it is there now; left out where nothing is. */
  readonly items?: ListedItems | undefined;
}

const noArguments: JsonObject = Object.freeze({});

/** The answer for a tool that does not exist, or that this caller cannot see: one text for both. */
const unknownTool = toRpcError(rpcCodes.invalidParams, "Invalid params: there is no such tool");

const badToolParams = toRpcError(
  rpcCodes.invalidParams,
  'Invalid params: "name" must be a string and "arguments" an object',
);

const badReadParams = toRpcError(rpcCodes.invalidParams, 'Invalid params: "uri" must be a string');

function textBlock(text: string): string {
  return `"content":[{"type":"text","text":${writeJson(text)}}]`;
}

function toCallAnswer(outcome: ToolOutcome): RpcAnswer {
  if (outcome.kind === "answer") {
    // Before it is spliced in: as a string within JSON, an escape would be escaped and found no more.
    const text = toWellFormedJson(outcome.text);
    return toRpcResult(`${textBlock(text)},"structuredContent":${text}`);
  }
  if (outcome.kind === "rich") {
    const { blocks, structured } = outcome;
    return toRpcResult(`"content":${blocks}${structured === undefined ? "" : `,"structuredContent":${structured}`}`);
  }
  // No structuredContent: it would have to fit the tool's output schema, which clients of both eras check.
  return toRpcResult(`${textBlock(refusalText(outcome))},"isError":true`, {
    meta: `${JSON.stringify(errorMetaKey)}:${writeJson(refusalData(outcome))}`,
  });
}

function toReadError(refused: Refused): RpcAnswer {
  return toRpcError(rpcCodes.internal, refusalText(refused), refusalData(refused));
}

/** An own property of params; inherited names are nobody's arguments. */
function own(params: JsonObject | undefined, key: string): unknown {
  return params !== undefined && Object.hasOwn(params, key) ? params[key] : undefined;
}

function createCallHandler(source: HandlerSource): Handler {
  return async (params, request) => {
    const name = own(params, "name");
    const args = own(params, "arguments") ?? noArguments;
    if (typeof name !== "string" || !isJsonObject(args) || own(params, "arguments") === null) return badToolParams;
    const tool = source.catalog.tool(name);
    if (tool === undefined) return unknownTool;
    const outcome = await source.invoker.call(tool, args, request.call);
    return toCallAnswer(outcome);
  };
}

/** What is under a URI, as the protocol writes it. */
function renderContent(uri: string, content: ResourceContent): string {
  const head = `"uri":${writeJson(uri)}`;
  if (typeof content === "string") {
    return `{${head},"mimeType":"${resourceMimeType}","text":${writeJson(toWellFormedJson(content))}}`;
  }
  const { mimeType, text, blob, meta } = content;
  const body = text === undefined ? `"blob":${writeJson(blob ?? "")}` : `"text":${writeJson(text)}`;
  return `{${head},"mimeType":${writeJson(mimeType)},${body}${meta === undefined ? "" : `,"_meta":${writeJson(meta)}`}}`;
}

function createReadHandler(source: HandlerSource): Handler {
  return async (params, request) => {
    const uri = own(params, "uri");
    if (typeof uri !== "string") return badReadParams;
    const resolved = source.resolve(uri);
    if (resolved === undefined) return toNotFound(uri, request.era);
    const outcome = await source.invoker.read(resolved, request.call);
    if (outcome.kind === "absent") return toAbsent(uri, request.era);
    if (outcome.kind === "refused") return toReadError(outcome);
    return toRpcResult(`"contents":[${renderContent(uri, outcome.content)}]`, { cacheable: true });
  };
}

function createResourcesHandler({ catalog, invoker, pageSize, items }: HandlerSource): Handler {
  if (items !== undefined) {
    const list = new ResourceList({ catalog, invoker, pageSize, items });
    return (params) => list.page(params);
  }
  const list = createPagedList({ key: "resources", items: catalog.resources.map(describeResource), pageSize });
  return (params) => list.page(params);
}

/** Makes the handlers of an app. Lists that never change are serialised here, once. */
export function createHandlers(source: HandlerSource): Handlers {
  const { catalog, pageSize } = source;
  const tools = createPagedList({ key: "tools", items: catalog.tools.map(describeTool), pageSize });
  const templates = createPagedList({
    key: "resourceTemplates",
    items: catalog.templates.map(describeTemplate),
    pageSize,
  });
  return Object.freeze({
    "tools/list": (params) => tools.page(params),
    "tools/call": createCallHandler(source),
    "resources/list": createResourcesHandler(source),
    "resources/templates/list": (params) => templates.page(params),
    "resources/read": createReadHandler(source),
  } satisfies Handlers);
}
