import type { CallContext } from "../call/call-context.ts";
import { chargeAttempt, refuseAttempt } from "../call/limit-call.ts";
import type { Caller } from "../surface/caller.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { ToolEntry } from "../catalog/entry.ts";
import type { ListedItems } from "../catalog/resources/listed-items.ts";
import type { Invoker, ReadOutcome } from "../call/create-invoker.ts";
import type { ErrorResult, ToolOutcome } from "../catalog/outcome.ts";
import { isJsonObject, type JsonObject } from "../schema/json.ts";
import type { FaultReporter } from "../surface/fault.ts";
import { andThen } from "../surface/is-thenable.ts";
import type { AskingRequest, InputRequired } from "./asking/input-required.ts";
import { createCompleteHandler } from "./complete-handler.ts";
import { findExtended, listedBy, extensionMethodsOf, type Extension } from "./extensions/extensions.ts";
import type { LargeValues, Readable } from "./large-values.ts";
import {
  badUri,
  bytesOver,
  ownParam,
  rpcCodes,
  toAbsent,
  toDeniedError,
  toNotFound,
  toRpcError,
  toRpcResult,
  toUnknownError,
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
} from "./render-result.ts";
import { ResourceList } from "./resource-list.ts";
import type { ResolvedView } from "./resolved-view.ts";
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

/** Methods that an app has only with entries for them. */
export type OptionalMethod =
  | "prompts/list"
  | "prompts/get"
  | "completion/complete"
  | "skills/list"
  | "skills/get"
  | "resources/directory/read";

/** One handler a method. */
export type Handlers = Readonly<
  Record<Exclude<HandledMethod, OptionalMethod>, Handler> & Partial<Record<OptionalMethod, Handler>>
>;

/** Dependencies of {@link createHandlers}. */
export interface HandlerSource {
  /** The entries at boot: an app without prompts, for example, has no handlers for them. */
  readonly catalog: Catalog;
  readonly resolver: Pick<ViewResolver, "shownTo">;
  readonly lists: CatalogLists;
  readonly extensions: readonly Extension[];
  /** Asks clients of the modern era. */
  readonly asking: InputRequired;
  /** Keeps values that are too large for one answer. */
  readonly large: LargeValues;
  readonly invoker: Invoker;
  /** Receives faults that are found only when an answer is written. */
  readonly report: FaultReporter;
  /** The maximum number of entries of a page. */
  readonly pageSize: number;
  /** Items of collections, which are listed as resources. @default none */
  readonly items?: ListedItems | undefined;
}

type RichOutcome = Extract<ToolOutcome, { readonly kind: "rich" }>;

const noArguments: JsonObject = Object.freeze({});

/** The answer for a tool that does not exist, or that this caller cannot see: one text for both. */
const unknownTool = toUnknownError("Invalid params: there is no such tool");

const badToolParams = toRpcError(
  rpcCodes.invalidParams,
  'Invalid params: "name" must be a string and "arguments" an object',
);

/** A result in which the author reports a failure has no code. */
const reportsFailure = Object.freeze({ failure: Object.freeze({}) });

function textBlock(text: string): string {
  return `"content":[{"type":"text","text":${writeJson(text)}}]`;
}

/** Returns the blocks of a result. A tool with a page gets a text, since a host without pages must show something. */
function withFallback({ ui, title, name }: ToolEntry, { blocks, structured }: RichOutcome): string {
  // A quote within a text is escaped, so only a block has this.
  if (ui?.page === undefined || blocks.includes('"type":"text"')) return blocks;
  const text = structured ?? `${title ?? name}: the result has no text`;
  const block = `{"type":"text","text":${writeJson(text)}}`;
  return blocks === "[]" ? `[${block}]` : `${blocks.slice(0, -1)},${block}]`;
}

function toRichAnswer(tool: ToolEntry, outcome: RichOutcome, large: LargeValues): RpcAnswer {
  const { structured, isError } = outcome;
  const said = structured === undefined ? "" : `,"structuredContent":${structured}`;
  const failed = isError === true ? `,"isError":true` : "";
  const body = toWellFormedJson(`"content":${withFallback(tool, outcome)}${said}${failed}`);
  const bytes = bytesOver(body, large.maxResultBytes);
  if (bytes !== undefined) return toLargeBlocks(tool, bytes);
  return isError === true ? toRpcResult(body, reportsFailure) : toRpcResult(body);
}

/**
 * Returns the answer for a tool call that failed. It has no structuredContent, which would have to fit the tool's output schema: clients
 * of both eras check that.
 */
export function toFailedAnswer(refused: ErrorResult): RpcAnswer {
  return toRpcResult(`${textBlock(refusalText(refused))},"isError":true`, {
    meta: `${JSON.stringify(errorMetaKey)}:${writeJson(refusalData(refused))}`,
    failure: refused,
  });
}

function toLargeAnswer({ source, tool, request }: ToolRequest, text: string, bytes: number): RpcAnswer {
  const { view } = request;
  const { caller } = request.call;
  const { scopes, requires } = tool;
  const excerpt = source.large.keep(text, bytes, { caller, rules: view.rules, scopes, requires });
  const readOn = excerpt.next === undefined ? undefined : toReadOnCall(view, caller, excerpt.next);
  return toLargeResult(tool, { excerpt, readOn });
}

function toCallAnswer(asking: ToolRequest, outcome: ToolOutcome): RpcAnswer {
  const { source, tool } = asking;
  if (outcome.kind === "answer") {
    // Before it is spliced in: within a JSON string the escape itself is escaped, and not found.
    const text = toWellFormedJson(outcome.text);
    const bytes = bytesOver(text, source.large.maxResultBytes);
    if (bytes !== undefined) return toLargeAnswer(asking, text, bytes);
    const body = `${textBlock(outcome.plain ?? text)},"structuredContent":${text}`;
    return outcome.isError === true ? toRpcResult(`${body},"isError":true`, reportsFailure) : toRpcResult(body);
  }
  if (outcome.kind === "rich") return toRichAnswer(tool, outcome, source.large);
  if (outcome.kind === "denied") return toDeniedError(outcome.scopes, unknownTool);
  if (outcome.kind === "asking") return source.asking.ask(outcome, asking);
  return source.asking.refuse(outcome, asking) ?? toFailedAnswer(outcome);
}

/** Returns the error for a read that failed. */
export function toReadError(refused: ErrorResult): RpcAnswer {
  return toRpcError(rpcCodes.internal, refusalText(refused), refusalData(refused));
}

/** A call of a tool. A class and no literal, for the reason of the dispatcher's requests. */
class ToolRequest implements AskingRequest {
  readonly method = "tools/call";
  readonly source: HandlerSource;
  readonly tool: ToolEntry;
  readonly params: JsonObject | undefined;
  readonly request: McpRequest;

  constructor(source: HandlerSource, tool: ToolEntry, { params, request }: Pick<AskingRequest, "params" | "request">) {
    this.source = source;
    this.tool = tool;
    this.params = params;
    this.request = request;
  }

  get target(): string {
    return this.tool.name;
  }

  /** Runs the tool, once the answers of a retry are known. */
  run(args: JsonObject): RpcAnswer | Promise<RpcAnswer> {
    const { source, tool, request } = this;
    const { call } = request;
    // A named constant: V8 allocates a function that is assigned to a property among old objects.
    const stillShown = (): boolean => isShown(tool, call.caller, source);
    call.stillShown = stillShown;
    const toAnswer = (outcome: ToolOutcome): RpcAnswer => {
      if (call.limiter !== undefined) chargeAttempt(call);
      const answer = toCallAnswer(this, outcome);
      return call.meta === undefined ? answer : withMeta(answer, call.meta);
    };
    return andThen(source.invoker.call(tool, args, call), toAnswer);
  }
}

function isShown(tool: ToolEntry, caller: Caller, { resolver }: HandlerSource): boolean {
  // The invoker compares a replaced entry with the entry that was called.
  return resolver.shownTo(caller)?.catalog.tool(tool.name) === (tool.now?.() ?? tool);
}

function refuseCall(call: CallContext, error: RpcError): RpcError {
  chargeAttempt(call);
  return error;
}

function createCallHandler(source: HandlerSource): Handler {
  return (params, request) => {
    const name = ownParam(params, "name");
    const given = ownParam(params, "arguments");
    const args = given === undefined ? noArguments : given;
    if (typeof name !== "string" || !isJsonObject(args)) return badToolParams;
    const { call, view } = request;
    call.reached("gate");
    const limited = call.limiter && refuseAttempt(call);
    if (limited !== undefined) return toFailedAnswer(limited);
    const tool = view.catalog.tool(name);
    if (tool === undefined) return refuseCall(call, unknownTool);
    const asking = new ToolRequest(source, tool, { params, request });
    if (request.era === "legacy") return asking.run(args);
    const begun = source.asking.begin(asking);
    if (!(begun instanceof Promise)) return begun === undefined ? asking.run(args) : refuseCall(call, begun);
    return begun.then((error) => {
      if (error === undefined && isShown(tool, call.caller, source)) return asking.run(args);
      return refuseCall(call, error ?? unknownTool);
    });
  };
}

/** A request to read, and its outcome. */
interface Read {
  readonly asking: AskingRequest;
  readonly resolved: Readable;
  readonly outcome: ReadOutcome;
}

function toReadAnswer({ asking, resolved, outcome }: Read, source: HandlerSource): RpcAnswer {
  const { era, call, view } = asking.request;
  const { target: uri } = asking;
  if (outcome.kind === "absent") return toAbsent(uri, era);
  if (outcome.kind === "denied") return toDeniedError(outcome.scopes, toNotFound(uri, era));
  if (outcome.kind === "refused") return source.asking.refuse(outcome, asking) ?? toReadError(outcome);
  if (outcome.kind === "asking") return source.asking.ask(outcome, asking);
  const { scopes, requires } = resolved;
  const keeping = { large: source.large, caller: call.caller, rules: view.rules, scopes, requires };
  return toRpcResult(`"contents":[${renderContent(uri, outcome.content, keeping)}]`, { cacheable: true });
}

function createReadHandler(source: HandlerSource): Handler {
  const find = (uri: string, view: ResolvedView): Readable | undefined =>
    view.resource(uri) ?? findExtended(source.extensions, uri, view);
  return (params, request) => {
    const uri = ownParam(params, "uri");
    if (typeof uri !== "string") return badUri;
    const isFound = (shown: ResolvedView | undefined): boolean => shown !== undefined && find(uri, shown) !== undefined;
    const { call, view } = request;
    call.reached("gate");
    const resolved = source.large.resolve(uri, { caller: call.caller, rules: view.rules }) ?? find(uri, view);
    if (resolved === undefined) return toNotFound(uri, request.era);
    const asking = { params, request, method: "resources/read", target: uri };
    const toAnswer = (outcome: ReadOutcome): RpcAnswer => {
      const answer = toReadAnswer({ asking, resolved, outcome }, source);
      return call.meta === undefined ? answer : withMeta(answer, call.meta);
    };
    const run = (): RpcAnswer | Promise<RpcAnswer> => andThen(source.invoker.read(resolved, call), toAnswer);
    if (request.era === "legacy") return run();
    const begun = source.asking.begin(asking);
    if (!(begun instanceof Promise)) return begun ?? run();
    return begun.then((error) => {
      // Parts of large values ask nothing, so they are never claimed.
      if (error === undefined && isFound(source.resolver.shownTo(call.caller))) return run();
      return error ?? toNotFound(uri, request.era);
    });
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

function createToolsHandler({ lists, extensions }: HandlerSource): Handler {
  if (extensions.length === 0) return createListHandler(lists, "tools");
  return (params, { call, view, extensions: usable }) => {
    const { caller } = call;
    const catalog = listedBy(extensions, view.listedFor(caller), { view, caller, extensions: usable });
    return lists.of("tools", catalog).page(params);
  };
}

function createListHandler(lists: CatalogLists, name: Parameters<CatalogLists["of"]>[0]): Handler {
  return (params, { call, view }) => lists.of(name, view.listedFor(call.caller)).page(params);
}

/** Creates the handlers of an app. Each answers from the view of its caller. */
export function createHandlers(source: HandlerSource): Handlers {
  const { lists, catalog, extensions } = source;
  const complete = createCompleteHandler(source);
  const prompts = {
    "prompts/list": createListHandler(lists, "prompts"),
    "prompts/get": createPromptHandler(source),
  };
  return Object.freeze({
    "tools/list": createToolsHandler(source),
    "tools/call": createCallHandler(source),
    "resources/list": createResourcesHandler(source),
    "resources/templates/list": createListHandler(lists, "templates"),
    "resources/read": createReadHandler(source),
    ...(catalog.prompts.length === 0 ? {} : prompts),
    ...(complete === undefined ? {} : { "completion/complete": complete }),
    ...extensionMethodsOf(extensions),
  } satisfies Handlers);
}
