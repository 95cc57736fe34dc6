import {
  LOG_LEVEL_META_KEY,
  ProtocolError,
  Server,
  type Implementation,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { CallContext, type CallSetting, type LogSink } from "../call/call-context.ts";
import { isJsonObject, type JsonObject } from "../schema/json.ts";
import { ClientLog, loggedMethod, type LogOutput } from "./client-log.ts";
import type { HandledMethod } from "./handlers.ts";
import { toCapabilities } from "./handshake.ts";
import { isLogLevel } from "./log-level.ts";
import { toProgressParams } from "./progress-sink.ts";
import type { Era, RpcAnswer } from "./protocol.ts";
import type { SdkErrors } from "./sdk-errors.ts";
import type { SdkPeer } from "./sdk-port.ts";
import type { AppRuntime } from "./servable-app.ts";

/** What a server of the SDK's is made of. */
export interface SdkServerParts {
  readonly runtime: AppRuntime;
  readonly era: Era;
  readonly errors: SdkErrors;
  /** Who asks, by which view, how they are asked themselves, and who counts how far they come. */
  readonly asking: Pick<CallSetting, "reached" | "limiter"> & Pick<SdkPeer, "caller" | "askPort">;
  /** Told what a handler of ours answers with: of an error the SDK takes the code, the text and the data alone. */
  readonly onAnswer?: (answer: RpcAnswer) => void;
}

const handled: readonly HandledMethod[] = [
  "tools/list",
  "tools/call",
  "resources/list",
  "resources/templates/list",
  "resources/read",
  "prompts/list",
  "prompts/get",
  "completion/complete",
];

/** Answers of a handler -> what the SDK expects: an object, or a thrown error. */
function toSdkResult(answer: RpcAnswer): never {
  if (answer.kind === "error") throw new ProtocolError(answer.code, answer.message, answer.data);
  const meta = answer.meta === "" ? "" : `"_meta":{${answer.meta}}`;
  const type = answer.asks === undefined ? "" : '"resultType":"input_required"';
  // The handler wrote it in the shape of the method's own result, which the differential test checks; the SDK's type of
  // a result is a union over all methods, and never fits all of its overloads.
  return JSON.parse(`{${[type, answer.body, meta].filter((part) => part !== "").join(",")}}`) as never;
}

function toParams(params: unknown): JsonObject | undefined {
  return isJsonObject(params) ? params : undefined;
}

/** The params of a modern request as they came: the SDK takes out the envelope, and what a request says that is made again. */
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

/** Makes the calls of one server: their reports and their log go out under the request that each serves. */
class SdkCalls {
  readonly #parts: SdkServerParts;
  readonly #log: ClientLog;

  constructor(parts: SdkServerParts, log: ClientLog) {
    this.#parts = parts;
    this.#log = log;
  }

  open({ mcpReq }: ServerContext): CallContext {
    const { id, signal, _meta: meta, notify, envelope } = mcpReq;
    const progressToken = meta?.progressToken;
    // What cannot be sent any more has no one left to read it.
    const tell = (notice: Parameters<typeof notify>[0]): void => void notify(notice).catch(() => {});
    const { caller, askPort, reached, limiter } = this.#parts.asking;
    const call = new CallContext({
      sink:
        progressToken === undefined
          ? undefined
          : (report) =>
              tell({ method: "notifications/progress", params: { ...toProgressParams(report), progressToken } }),
      log: this.#logSink(Reflect.get(envelope ?? {}, LOG_LEVEL_META_KEY), {
        // The params of a notice are an object.
        send: (params) => tell({ method: loggedMethod, params: JSON.parse(params) as Record<string, unknown> }),
        isFull: () => false,
      }),
      caller: caller(id),
      reached,
      limiter,
      asking: askPort?.(this.#parts.era, id),
    });
    signal.addEventListener("abort", () => call.cancel(), { once: true });
    return call;
  }

  #logSink(asked: unknown, output: LogOutput): LogSink | undefined {
    const { runtime, era } = this.#parts;
    return runtime.logs ? this.#log.sinkFor(era, isLogLevel(asked) ? asked : undefined, output) : undefined;
  }
}

/** In the place of the SDK's own, which tells everything until a level is set. */
function setLogHandler(server: Server, errors: SdkErrors, log: ClientLog): void {
  server.setRequestHandler("logging/setLevel", ({ params: { level } }, { mcpReq: { id, signal } }) => {
    errors.taken(id, signal);
    const answer = log.setLevel({ level });
    errors.told(id, signal, answer);
    return toSdkResult(answer);
  });
}

/** Makes a server of the SDK's that answers from our handlers. Whoever connects it closes it. */
export function createSdkServer(parts: SdkServerParts): Server {
  const { runtime, era, errors, asking, onAnswer } = parts;
  const { info, handlers } = runtime;
  const instructions = runtime.instructionsFor(asking.caller());
  const server = new Server(
    // It only writes them out: that its arrays may not be changed is what its type does not know.
    info as Implementation,
    { capabilities: toCapabilities(runtime), ...(instructions === undefined ? {} : { instructions }) },
  );
  const log = new ClientLog();
  if (runtime.logs) setLogHandler(server, errors, log);
  const calls = new SdkCalls(parts, log);
  for (const method of handled) {
    const handler = handlers[method];
    if (handler === undefined) continue;
    server.setRequestHandler(method, async (request, context) => {
      const { id, signal } = context.mcpReq;
      errors.taken(id, signal);
      const params = era === "modern" ? toWholeParams(request.params, context) : toParams(request.params);
      const answer = await handler(params, { era, call: calls.open(context) });
      errors.told(id, signal, answer);
      onAnswer?.(answer);
      return toSdkResult(answer);
    });
  }
  return server;
}
