import {
  LOG_LEVEL_META_KEY,
  ProtocolError,
  Server,
  type Implementation,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { CallContext, type CallSetting, type LogSink } from "../call/call-context.ts";
import { isJsonObject } from "../schema/json.ts";
import { ClientLog, loggedMethod, type LogOutput } from "./client-log.ts";
import type { Caller } from "../catalog/caller.ts";
import type { HandledMethod } from "./handlers.ts";
import { toCapabilities } from "./handshake.ts";
import { isLogLevel } from "./log-level.ts";
import type { Era, RpcAnswer } from "./protocol.ts";
import type { RequestId } from "./request-id.ts";
import type { SdkErrors } from "./sdk-errors.ts";
import type { AppRuntime } from "./servable-app.ts";

/** What a server of the SDK's is made of. */
export interface SdkServerParts {
  readonly runtime: AppRuntime;
  readonly era: Era;
  readonly errors: SdkErrors;
  /** Who asks, by which view, and who counts how far they come. */
  readonly asking: Pick<CallSetting, "reached" | "limiter"> & { readonly caller: (id?: RequestId) => Caller };
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
  // The handler wrote it in the shape of the method's own result, which the differential test checks; the SDK's type of
  // a result is a union over all methods, and never fits all of its overloads.
  return JSON.parse(`{${[answer.body, meta].filter((part) => part !== "").join(",")}}`) as never;
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
    const { caller, reached, limiter } = this.#parts.asking;
    const call = new CallContext({
      sink:
        progressToken === undefined
          ? undefined
          : (report) => tell({ method: "notifications/progress", params: { ...report, progressToken } }),
      log: this.#logSink(Reflect.get(envelope ?? {}, LOG_LEVEL_META_KEY), {
        // The params of a notice are an object.
        send: (params) => tell({ method: loggedMethod, params: JSON.parse(params) as Record<string, unknown> }),
        isFull: () => false,
      }),
      caller: caller(id),
      reached,
      limiter,
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
      const params = isJsonObject(request.params) ? request.params : undefined;
      const answer = await handler(params, { era, call: calls.open(context) });
      errors.told(id, signal, answer);
      onAnswer?.(answer);
      return toSdkResult(answer);
    });
  }
  return server;
}
