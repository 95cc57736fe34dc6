import { chargeAttempt, limitAttempt } from "../call/limit-call.ts";
import type { Caller } from "../surface/caller.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { ToolEntry } from "../catalog/entry.ts";
import type { ListedItems } from "../catalog/listed-items.ts";
import type { Invoker } from "../call/create-invoker.ts";
import type { ReadOutcome } from "../call/outcome.ts";
import type { Refused, ToolOutcome } from "../catalog/outcome.ts";
import { isJsonObject, type JsonObject } from "../schema/json.ts";
import type { FaultReporter } from "../surface/fault.ts";
import { andThen } from "../surface/is-thenable.ts";
import type { AskingRequest, InputRequired } from "./asking/input-required.ts";
import { createCompleteHandler } from "./complete-handler.ts";
import { bytesOver, type LargeValues, type Readable } from "./large-values.ts";
import {
  ownParam,
  rpcCodes,
  toAbsent,
  toDeniedError,
  toNotFound,
  toRpcError,
  toRpcResult,
  toWellFormedJson,
  writeJson,
  type McpRequest,
  type RpcAnswer,
  type RpcError,
} from "./protocol.ts";
import type { CatalogLists } from "./lists.ts";
import { createPromptHandler } from "./prompt-handlers.ts";
import {
  errorMetaKey,
  refusalData,
  refusalText,
  renderContent,
  toLargeBlocks,
  toLargeResult,
  toReadOnCall,
  withMeta,
  type Keeping,
} from "./render-result.ts";
import type { ResolvedView } from "./resolved-view.ts";
import { ResourceList } from "./resource-list.ts";
import type { ViewResolver } from "./view-resolver.ts";

/** Answers one method: params off the wire -> an answer. Never rejects. */
export type Handler = (params: JsonObject | undefined, request: McpRequest) => RpcAnswer | Promise<RpcAnswer>;

/** The methods that an app answers. */
export type HandledMethod =
  | "tools/list"
  | "tools/call"
  | "resources/list"
  | "resources/templates/list"
  | "resources/read"
  | OptionalMethod;

/** Those of them that an app has only where there is something for them to answer. */
type OptionalMethod = "prompts/list" | "prompts/get" | "completion/complete";

/** One handler a method. */
export type Handlers = Readonly<
  Record<Exclude<HandledMethod, OptionalMethod>, Handler> & Partial<Record<OptionalMethod, Handler>>
>;

/** What the handlers are made of. */
export interface HandlerSource {
  /** Everything that there is when they are made: what there is nothing of, there is no handler for. */
  readonly catalog: Catalog;
  readonly resolver: Pick<ViewResolver, "shownTo">;
  readonly lists: CatalogLists;
  /** Asks clients of the modern era. */
  readonly asking: InputRequired;
  /** What was too large for one answer. */
  readonly large: LargeValues;
  readonly invoker: Invoker;
  /** Told of faults that are found only when an answer is written. */
  readonly report: FaultReporter;
  /** How many entries a page of a list holds. */
  readonly pageSize: number;
  /** What is listed because it is there now; left out where nothing is. */
  readonly items?: ListedItems | undefined;
}

type RichOutcome = Extract<ToolOutcome, { readonly kind: "rich" }>;

const noArguments: JsonObject = Object.freeze({});

/** The answer for a tool that does not exist, or that this caller cannot see: one text for both. */
const unknownTool = toRpcError(rpcCodes.invalidParams, "Invalid params: there is no such tool");

const unanswerable = toRpcError(rpcCodes.internal, "Internal error");

const badToolParams = toRpcError(
  rpcCodes.invalidParams,
  'Invalid params: "name" must be a string and "arguments" an object',
);

const badReadParams = toRpcError(rpcCodes.invalidParams, 'Invalid params: "uri" must be a string');

function textBlock(text: string): string {
  return `"content":[{"type":"text","text":${writeJson(text)}}]`;
}

function toRichAnswer(tool: ToolEntry, { blocks, structured, isError }: RichOutcome, large: LargeValues): RpcAnswer {
  const said = structured === undefined ? "" : `,"structuredContent":${structured}`;
  const failed = isError === true ? `,"isError":true` : "";
  const body = toWellFormedJson(`"content":${blocks}${said}${failed}`);
  const bytes = bytesOver(body, large.maxResultBytes);
  return bytes === undefined ? toRpcResult(body) : toLargeBlocks(tool, bytes);
}

/** Where the parts of a large result are kept, and for whom. */
type Answering = Pick<Keeping, "large" | "caller"> & { readonly view: ResolvedView };

/** No structuredContent: it would have to fit the tool's output schema, which clients of both eras check. */
function toRefusedAnswer(refused: Refused): RpcAnswer {
  return toRpcResult(`${textBlock(refusalText(refused))},"isError":true`, {
    meta: `${JSON.stringify(errorMetaKey)}:${writeJson(refusalData(refused))}`,
  });
}

function toLargeAnswer(
  tool: ToolEntry,
  { text, bytes }: { readonly text: string; readonly bytes: number },
  { large, caller, view }: Answering,
): RpcAnswer {
  const { scopes, requires } = tool;
  const excerpt = large.keep(text, bytes, { caller, rules: view.rules, scopes, requires });
  const readOn = excerpt.next === undefined ? undefined : toReadOnCall(view, caller, excerpt.next);
  return toLargeResult(tool, { excerpt, readOn });
}

function toCallAnswer(tool: ToolEntry, outcome: ToolOutcome, answering: Answering): RpcAnswer {
  if (outcome.kind === "answer") {
    // Before it is spliced in: as a string within JSON, an escape would be escaped and found no more.
    const text = toWellFormedJson(outcome.text);
    const bytes = bytesOver(text, answering.large.maxResultBytes);
    if (bytes !== undefined) return toLargeAnswer(tool, { text, bytes }, answering);
    const failed = outcome.isError === true ? `,"isError":true` : "";
    return toRpcResult(`${textBlock(outcome.plain ?? text)},"structuredContent":${text}${failed}`);
  }
  if (outcome.kind === "rich") return toRichAnswer(tool, outcome, answering.large);
  if (outcome.kind === "denied") return toDeniedError(outcome.scopes, unknownTool);
  if (outcome.kind === "asking") return unanswerable;
  return toRefusedAnswer(outcome);
}

function toReadError(refused: Refused): RpcAnswer {
  return toRpcError(rpcCodes.internal, refusalText(refused), refusalData(refused));
}

function isShown(tool: ToolEntry, caller: Caller, { resolver }: HandlerSource): boolean {
  // The invoker compares a replaced entry with the entry that was called.
  return resolver.shownTo(caller)?.catalog.tool(tool.name) === (tool.now?.() ?? tool);
}

/** The tool that a request names, and its arguments. */
interface NamedCall {
  readonly name: string;
  readonly args: JsonObject;
}

/** Returns the call that params ask for; `undefined` where they do not fit. */
function readCall(params: JsonObject | undefined): NamedCall | undefined {
  const name = ownParam(params, "name");
  const args = ownParam(params, "arguments") ?? noArguments;
  if (typeof name !== "string" || !isJsonObject(args) || ownParam(params, "arguments") === null) return undefined;
  return { name, args };
}

/** A call of a tool. A class and no literal, for the reason of the dispatcher's requests. */
class ToolRequest implements AskingRequest {
  readonly method = "tools/call";
  readonly params: JsonObject | undefined;
  readonly request: McpRequest;
  readonly target: string;
  readonly args: JsonObject;

  constructor(params: JsonObject | undefined, request: McpRequest, { name, args }: NamedCall) {
    this.params = params;
    this.request = request;
    this.target = name;
    this.args = args;
  }
}

/** Runs the tool of a request whose caller was shown it, and may retry with an answer. */
function runTool(source: HandlerSource, tool: ToolEntry, asking: ToolRequest): RpcAnswer | Promise<RpcAnswer> {
  const { call, view } = asking.request;
  // A name of its own: V8 allocates a function that is assigned to a property among old objects.
  const stillShown = (): boolean => isShown(tool, call.caller, source);
  call.stillShown = stillShown;
  const toAnswer = (outcome: ToolOutcome): RpcAnswer => {
    chargeAttempt(call);
    const asked = source.asking.answer(outcome, asking);
    const answer = asked ?? toCallAnswer(tool, outcome, { large: source.large, caller: call.caller, view });
    return withMeta(answer, call.meta);
  };
  return andThen(source.invoker.call(tool, asking.args, call), toAnswer);
}

function createCallHandler(source: HandlerSource): Handler {
  return (params, request) => {
    const { call, view } = request;
    const said = readCall(params);
    if (said === undefined) return badToolParams;
    call.reached("gate");
    const limited = limitAttempt(call);
    if (limited !== undefined) return toRefusedAnswer(limited);
    const tool = view.catalog.tool(said.name);
    const asking = new ToolRequest(params, request, said);
    const start = (refused: RpcError | undefined): RpcAnswer | Promise<RpcAnswer> => {
      if (tool !== undefined && refused === undefined) return runTool(source, tool, asking);
      chargeAttempt(call);
      return refused ?? unknownTool;
    };
    return andThen(tool === undefined ? unknownTool : source.asking.begin(asking), start);
  };
}

/** What was read, and under which URI. */
interface Read {
  readonly resolved: Readable;
  readonly uri: string;
  readonly rules: symbol;
  readonly outcome: ReadOutcome;
}

function toReadAnswer(
  { resolved, uri, rules, outcome }: Read,
  { era, call }: McpRequest,
  { large }: HandlerSource,
): RpcAnswer {
  if (outcome.kind === "absent") return toAbsent(uri, era);
  if (outcome.kind === "denied") return toDeniedError(outcome.scopes, toNotFound(uri, era));
  if (outcome.kind === "refused") return toReadError(outcome);
  if (outcome.kind === "asking") return unanswerable;
  const { scopes, requires } = resolved;
  const keeping = { large, caller: call.caller, rules, scopes, requires };
  return toRpcResult(`"contents":[${renderContent(uri, outcome.content, keeping)}]`, { cacheable: true });
}

function createReadHandler(source: HandlerSource): Handler {
  return (params, request) => {
    const uri = ownParam(params, "uri");
    if (typeof uri !== "string") return badReadParams;
    const { call, view } = request;
    call.reached("gate");
    const { rules } = view;
    const resolved = source.large.resolve(uri, { caller: call.caller, rules }) ?? view.resource(uri);
    if (resolved === undefined) return toNotFound(uri, request.era);
    const asking = { params, request, method: "resources/read", target: uri };
    const toAnswer = (outcome: ReadOutcome): RpcAnswer => {
      const asked = source.asking.answer(outcome, asking);
      return withMeta(asked ?? toReadAnswer({ resolved, uri, rules, outcome }, request, source), call.meta);
    };
    const start = (refused: RpcError | undefined): RpcAnswer | Promise<RpcAnswer> => {
      return refused ?? andThen(source.invoker.read(resolved, call), toAnswer);
    };
    return andThen(source.asking.begin(asking), start);
  };
}

function createResourcesHandler(source: HandlerSource): Handler {
  const { lists, invoker, pageSize, items } = source;
  if (items === undefined) return createListHandler(lists, "resources");
  const known = new WeakMap<Catalog, ResourceList>();
  return (params, { call, view }) => {
    const catalog = view.listedFor(call.caller);
    const list = known.get(catalog) ?? new ResourceList({ catalog, invoker, pageSize, items });
    known.set(catalog, list);
    return list.page(params, call.caller);
  };
}

function createListHandler(lists: CatalogLists, name: Parameters<CatalogLists["of"]>[0]): Handler {
  return (params, { call, view }) => lists.of(name, view.listedFor(call.caller)).page(params);
}

/** Creates the handlers of an app. Each answers from the view of its caller. */
export function createHandlers(source: HandlerSource): Handlers {
  const { lists, catalog } = source;
  const complete = createCompleteHandler(source);
  const prompts = {
    "prompts/list": createListHandler(lists, "prompts"),
    "prompts/get": createPromptHandler(source),
  };
  return Object.freeze({
    "tools/list": createListHandler(lists, "tools"),
    "tools/call": createCallHandler(source),
    "resources/list": createResourcesHandler(source),
    "resources/templates/list": createListHandler(lists, "templates"),
    "resources/read": createReadHandler(source),
    ...(catalog.prompts.length === 0 ? {} : prompts),
    ...(complete === undefined ? {} : { "completion/complete": complete }),
  } satisfies Handlers);
}
