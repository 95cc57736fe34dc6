import type { CallContext } from "../call/call-context.ts";
import { authorise } from "../call/authorise.ts";
import { toObservedTool, toOutcome, toWorkValues } from "../call/observed-call.ts";
import type { EntryGuard, PromptEntry, ToolEntry } from "../catalog/entry.ts";
import { toDefined } from "../observe/to-defined.ts";
import type { ObservedChannel } from "../observe/observed-channel.ts";
import { ObservedWork, toOrigin, type WorkValues } from "../observe/observed-work.ts";
import type { ObservedOperation, RefusalStage, RequestStart } from "../observe/observation.ts";
import type { Observers } from "../observe/observers.ts";
import { addDetails, type Draft, type WorkOutcome } from "../observe/work-records.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../schema/json.ts";
import type { Caller } from "../surface/caller.ts";
import { readTraceContext, type TraceContext } from "../surface/trace-context.ts";
import { versionOf } from "./envelope.ts";
import type { RequestFrame } from "./parse-frame.ts";
import { metaOf, ownParam, rpcCodes, type Era, type RpcAnswer, type RpcError, type RpcResult } from "./protocol.ts";
import { truncatedMetaKey } from "./render-result.ts";
import type { ResolvedView } from "./resolved-view.ts";

/** A request of a client. */
interface ReceivedRequest {
  /** The method; `undefined` for subscriptions and unknown ones. */
  readonly method: object | undefined;
  readonly frame: RequestFrame;
  readonly era: Era;
  readonly version: string | undefined;
  readonly caller: Caller;
  readonly view: ResolvedView;
  readonly call: CallContext | undefined;
  /** The trace context of the transport. @default none */
  readonly outerTrace?: TraceContext | undefined;
}

/** An operation in records. */
interface Described {
  readonly guard: EntryGuard;
  readonly operation: ObservedOperation;
  /** The entry of a tool or prompt, whose arguments records may have. */
  readonly called?: ToolEntry | PromptEntry;
}

/** Returns whether a caller may know that an entry exists: they may use it, or learn the scopes that it takes. */
function maySee(caller: Caller, entry: EntryGuard): boolean {
  const missing = authorise(caller, entry);
  return missing === undefined || missing.scopes !== undefined;
}

const subjectKeys: ReadonlyMap<string, "name" | "uri"> = new Map([
  ["tools/call", "name"],
  ["prompts/get", "name"],
  ["resources/read", "uri"],
  ["resources/subscribe", "uri"],
  ["resources/unsubscribe", "uri"],
]);

/** Returns the type and the name or URI of the subject of a request. */
function subjectOf({ method, params }: RequestFrame): readonly [type: string, key: unknown] {
  const key = subjectKeys.get(method);
  if (key !== undefined) return [method, ownParam(params, key)];
  const ref = method === "completion/complete" ? ownParam(params, "ref") : undefined;
  if (!isJsonObject(ref)) return ["", undefined];
  return ref["type"] === "ref/prompt" ? ["prompts/get", ref["name"]] : ["ref/resource", ref["uri"]];
}

function describeTool(tool: ToolEntry | undefined): Described | undefined {
  return tool && { guard: tool, operation: toObservedTool(tool), called: tool };
}

function describePrompt(prompt: PromptEntry | undefined): Described | undefined {
  if (prompt === undefined) return undefined;
  const { id, name } = prompt;
  const operation = Object.freeze({ kind: "prompt", id, name, mutates: false } as const);
  return { guard: prompt, operation, called: prompt };
}

function describeResource(resource: (EntryGuard & { readonly id: string }) | undefined): Described | undefined {
  return (
    resource && { guard: resource, operation: Object.freeze({ kind: "resource", id: resource.id, mutates: false }) }
  );
}

/** Describes the operation that a request names, if it exists for the caller. */
function describe({ view, caller }: ReceivedRequest, frame: RequestFrame): Described | undefined {
  const [type, key] = subjectOf(frame);
  const described = typeof key === "string" ? findOperation(view, type, key) : undefined;
  return described !== undefined && maySee(caller, described.guard) ? described : undefined;
}

function findOperation(view: ResolvedView, type: string, key: string): Described | undefined {
  const { catalog } = view;
  if (type === "tools/call") return describeTool(catalog.tool(key));
  if (type === "prompts/get") return describePrompt(catalog.prompt(key));
  if (type !== "ref/resource") return describeResource(view.resource(key));
  return describeResource(catalog.templates.find(({ uriTemplate }) => uriTemplate === key));
}

/** Methods of subscriptions, which no handler serves. */
const subscriptionMethods: ReadonlySet<string> = new Set([
  "resources/subscribe",
  "resources/unsubscribe",
  "subscriptions/listen",
]);

/** The errors of JSON-RPC by which a request is refused before a handler runs. */
const stagesOfCodes: ReadonlyMap<number, RefusalStage> = new Map<number, RefusalStage>([
  [rpcCodes.methodNotFound, "method"],
  [rpcCodes.invalidParams, "params"],
  [rpcCodes.invalidRequest, "envelope"],
  [rpcCodes.busy, "busy"],
  [rpcCodes.insufficientScope, "scope"],
  [rpcCodes.legacyResourceNotFound, "name"],
  [rpcCodes.sessionNotFound, "session"],
  [rpcCodes.headerMismatch, "envelope"],
  [rpcCodes.unsupportedVersion, "envelope"],
  [rpcCodes.unauthenticated, "token"],
]);

/** Returns the stage that an error stands for; `undefined` if a handler ran. */
function stageOf({ stage, code, data }: Pick<RpcError, "stage" | "code" | "data">): RefusalStage | undefined {
  const isFailure = isJsonObject(data) && typeof data["code"] === "string" && data["code"] !== "VALIDATION_ERROR";
  return stage ?? (isFailure ? undefined : stagesOfCodes.get(code));
}

function textOf(data: unknown, key: string): string | undefined {
  const value = isJsonObject(data) ? data[key] : undefined;
  return typeof value === "string" ? value : undefined;
}

function toErrorOutcome(error: RpcError, call: CallContext | undefined): WorkOutcome {
  const { code: rpcCode, data } = error;
  const outcome = toOutcome({ code: textOf(data, "code"), correlationId: textOf(data, "correlationId") }, call);
  const stage = stageOf(error);
  const refused = stage === undefined ? {} : ({ outcome: "refused", refusedAt: stage } as const);
  return { ...outcome, ...refused, rpcCode };
}

function toAnswerOutcome(answer: RpcAnswer, call: CallContext | undefined): WorkOutcome {
  if (answer.kind === "error") return toErrorOutcome(answer, call);
  const bytesOut = Buffer.byteLength(answer.body) + 2;
  if (answer.asks === true) return { outcome: "asked", bytesOut };
  return answer.failure === undefined ? { outcome: "ok", bytesOut } : { ...toOutcome(answer.failure, call), bytesOut };
}

/** Returns the structured result of a tool. An excerpt of a large one is a text, in which names are not found. */
function resultOf({ body, meta }: RpcResult): JsonValue | undefined {
  if (meta.includes(truncatedMetaKey)) return undefined;
  // A handler wrote it as the members of a JSON object.
  return (JSON.parse(`{${body}}`) as JsonObject)["structuredContent"];
}

/** A request that was refused before it could start. */
interface RefusedRequest {
  readonly status?: number | undefined;
  readonly address?: string | undefined;
  /** @default none: the HTTP status says it all */
  readonly error?: Pick<RpcError, "stage" | "code" | "data"> | undefined;
  readonly channel: Pick<ObservedChannel, "transport" | "session">;
  /** @default not known yet */
  readonly caller?: Caller | undefined;
  /** @default the stage that the error stands for */
  readonly stage?: RefusalStage | undefined;
}

/** Records a refusal. Call it only if there are observers. */
export function tellRefused(
  observers: Observers,
  { error, channel: { transport, session }, caller, stage = error && stageOf(error), ...more }: RefusedRequest,
): void {
  const origin = caller === undefined ? {} : toOrigin(caller);
  const refused = { type: "refused" as const, at: Date.now(), transport, session, ...origin };
  observers.tell(toDefined({ ...refused, stage: stage ?? "envelope", rpcCode: error?.code, ...more }));
}

/** A request that observers see start. */
export class ObservedRequest extends ObservedWork {
  readonly method: string;
  readonly bytesIn: number | undefined;
  readonly #from: Observers;
  readonly #number: number;
  readonly #request: ReceivedRequest;
  /** Its frame as it arrived: subscriptions drop the params later. */
  readonly #frame: RequestFrame;
  #described: Described | "hidden" | undefined;

  constructor(observers: Observers, request: ReceivedRequest, channel: ObservedChannel) {
    super(observers.all ?? [], channel, request.caller);
    const { frame, method } = request;
    this.method = method !== undefined || subscriptionMethods.has(frame.method) ? frame.method : "unknown";
    this.bytesIn = frame.text === undefined ? undefined : Buffer.byteLength(frame.text);
    this.#from = observers;
    this.#number = observers.nextNumber();
    this.#request = request;
    this.#frame = frame;
  }

  get id(): string {
    return this.#from.toId(this.#number);
  }

  get operation(): ObservedOperation | undefined {
    // A reader asks when the tool has run, and needs no second search for it.
    const tool = this.#described === undefined ? this.#request.call?.entry : undefined;
    return tool === undefined ? this.#subject?.operation : toObservedTool(tool);
  }

  /** The operation that the request names. Found on demand. */
  get #subject(): Described | undefined {
    this.#described ??= describe(this.#request, this.#frame) ?? "hidden";
    return this.#described === "hidden" ? undefined : this.#described;
  }

  get protocol(): string | undefined {
    const { era, version } = this.#request;
    const sent = era === "legacy" ? version : versionOf(this.#frame.params);
    return typeof sent === "string" ? sent : undefined;
  }

  get callNumber(): number | undefined {
    return this.#request.call?.tracked?.number;
  }

  get callId(): string | undefined {
    return this.#request.call?.tracked?.requestId;
  }

  get #traceInMeta(): TraceContext | undefined {
    return readTraceContext(metaOf(this.#frame.params));
  }

  protected get sentTrace(): TraceContext | undefined {
    return this.#traceInMeta ?? this.#request.outerTrace;
  }

  /** Records the end of the request with its answer. */
  answered(answer: RpcAnswer): void {
    const outcome = toAnswerOutcome(answer, this.#request.call);
    this.end(outcome, () => (answer.kind === "result" ? resultOf(answer) : undefined));
  }

  /** Records the end of a request that gets no answer. */
  dropped(outcome: "cancelled" | "closed"): void {
    this.end({ outcome }, () => undefined);
  }

  protected toStart(): RequestStart {
    const { id, method, transport, caller, view } = this;
    const [at, rpcId] = [Date.now(), this.#frame.id];
    const inMeta = this.#traceInMeta;
    const trace = inMeta ?? this.#request.outerTrace;
    const start: Draft<RequestStart> = { type: "request-start", at, id, rpcId, method, transport, caller, view };
    if (trace !== undefined) start.traceFrom = inMeta === undefined ? "headers" : "meta";
    addDetails(start, this, trace);
    return start;
  }

  /** Returns the values of the request. Without an operation there is no schema that tells the secret ones. */
  protected toValues(): WorkValues {
    const { method, params } = this.#frame;
    const called = this.#subject?.called;
    if (called === undefined || (method !== "tools/call" && method !== "prompts/get")) return {};
    // Params are JSON.
    const args = ownParam(params, "arguments") as JsonValue | undefined;
    return "hints" in called ? toWorkValues(called, args) : { input: called.inputSchema, arguments: args };
  }
}

/** Records the start of a request; returns `undefined` without observers. Never throws. */
export function observeRequest(
  observers: Observers,
  request: ReceivedRequest,
  channel: ObservedChannel,
): ObservedRequest | undefined {
  if (observers.all === undefined) return undefined;
  try {
    const observed = new ObservedRequest(observers, request, channel);
    if (request.call !== undefined) request.call.observed = observed;
    observed.begin();
    return observed;
  } catch (cause) {
    observers.fail(cause);
    return undefined;
  }
}
