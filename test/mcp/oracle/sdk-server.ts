import { LOG_LEVEL_META_KEY, ProtocolError, Server, type ServerContext } from "@modelcontextprotocol/server";
import { CallContext, type LogSink } from "../../../src/call/call-context.ts";
import { toCapabilities } from "../../../src/mcp/handshake.ts";
import { ClientLog, isLogLevel, toLogSink, toProgressParams } from "../../../src/mcp/notifications.ts";
import type { Era, RpcAnswer } from "../../../src/mcp/protocol.ts";
import type { AppRuntime } from "../../../src/mcp/servable-app.ts";
import { isJsonObject, type JsonObject } from "../../../src/schema/json.ts";
import type { Caller } from "../../../src/surface/caller.ts";
import type { SdkErrors } from "./sdk-errors.ts";
import { handlersOf, instructionsFor } from "../../fixtures/handlers-of.ts";

/** Dependencies of a server of the SDK. */
export interface SdkServerDeps {
  readonly runtime: AppRuntime;
  readonly era: Era;
  readonly errors: SdkErrors;
  /** The caller, with the client that tests say they are. */
  readonly caller: Caller;
  /** The URIs that the client subscribes to. */
  readonly subscribed?: Set<string>;
}

/** Turns the answer of a handler into what the SDK expects: a result object, or a thrown error. */
function toSdkResult(answer: RpcAnswer): never {
  if (answer.kind === "error") throw new ProtocolError(answer.code, answer.message, answer.data);
  const meta = answer.meta === "" ? "" : `"_meta":{${answer.meta}}`;
  const type = answer.asks === undefined ? "" : '"resultType":"input_required"';
  // The SDK's type of a result is a union over all methods, and fits none of the overloads.
  return JSON.parse(`{${[type, answer.body, meta].filter((part) => part !== "").join(",")}}`) as never;
}

function toParams(params: unknown): JsonObject | undefined {
  return isJsonObject(params) ? params : undefined;
}

/** Returns the params of a modern request as they came: the SDK takes out the envelope and the answers of a retry. */
function toWholeParams(params: unknown, { mcpReq }: ServerContext): JsonObject {
  const { envelope, inputResponses, requestState, _meta: meta } = mcpReq;
  const state = requestState();
  const whole = {
    ...toParams(params),
    _meta: { ...envelope, ...meta },
    ...(inputResponses === undefined ? {} : { inputResponses }),
    ...(state === undefined ? {} : { requestState: state }),
  };
  // It came as JSON.
  return whole as JsonObject;
}

function openCall({ runtime, era, caller }: SdkServerDeps, log: ClientLog, { mcpReq }: ServerContext): CallContext {
  const { signal, _meta: meta, notify, envelope } = mcpReq;
  const progressToken = meta?.progressToken;
  // A notification that cannot be sent has no reader.
  const tell = (notice: Parameters<typeof notify>[0]): void => void notify(notice).catch(() => {});
  const asked: unknown = Reflect.get(envelope ?? {}, LOG_LEVEL_META_KEY);
  const output = {
    // A notification with params.
    send: (json: string) => tell(JSON.parse(json) as Parameters<typeof notify>[0]),
    isFull: () => false,
  };
  const modernSink = isLogLevel(asked) ? toLogSink(asked, output) : undefined;
  const sink: LogSink | undefined = era === "legacy" ? log.sinkTo(output) : modernSink;
  const call = new CallContext({
    sink:
      progressToken === undefined
        ? undefined
        : (report) =>
            tell({ method: "notifications/progress", params: { ...toProgressParams(report), progressToken } }),
    log: runtime.logs ? sink : undefined,
    caller,
  });
  signal.addEventListener("abort", () => call.cancel(), { once: true });
  return call;
}

/** Creates a server of the SDK with the handlers of an app. Whoever connects it closes it. */
export function createSdkServer(deps: SdkServerDeps): Server {
  const { runtime, era, errors, caller } = deps;
  const instructions = instructionsFor(runtime, caller);
  const server = new Server(
    // The SDK's type does not know readonly arrays.
    runtime.info as ConstructorParameters<typeof Server>[0],
    { capabilities: toCapabilities(runtime), ...(instructions === undefined ? {} : { instructions }) },
  );
  const log = new ClientLog();
  if (runtime.logs) {
    server.setRequestHandler("logging/setLevel", ({ params: { level } }, { mcpReq: { id, signal } }) => {
      errors.taken(id, signal);
      const answer = log.setLevel({ level });
      errors.told(id, signal, answer);
      return toSdkResult(answer);
    });
  }
  const { subscribed = new Set<string>() } = deps;
  if (era === "legacy") {
    server.setRequestHandler("resources/subscribe", ({ params: { uri } }) => {
      subscribed.add(uri);
      return {};
    });
    server.setRequestHandler("resources/unsubscribe", ({ params: { uri } }) => {
      subscribed.delete(uri);
      return {};
    });
  }
  for (const [method, handler] of Object.entries(handlersOf(runtime))) {
    // Each is a method of the protocol.
    server.setRequestHandler(method as "tools/call", async (request, context) => {
      const { id, signal } = context.mcpReq;
      errors.taken(id, signal);
      const params = era === "modern" ? toWholeParams(request.params, context) : toParams(request.params);
      const answer = await handler(params, { era, call: openCall(deps, log, context) });
      errors.told(id, signal, answer);
      return toSdkResult(answer);
    });
  }
  return server;
}
