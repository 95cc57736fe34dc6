import { isJsonObject } from "../schema/json.ts";
import {
  LOG_LEVEL_META_KEY,
  ProtocolError,
  Server,
  type Implementation,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { CallContext, type LogSink } from "../call/call-context.ts";
import { internalError } from "../surface/fault.ts";
import { ClientLog, loggedMethod, type LogOutput } from "./client-log.ts";
import type { HandledMethod } from "./handlers.ts";
import { toCapabilities } from "./handshake.ts";
import { isLogLevel } from "./log-level.ts";
import type { Era, RpcAnswer } from "./protocol.ts";
import { SdkErrors } from "./sdk-errors.ts";
import type { SdkConnector, SdkPort } from "./sdk-port.ts";
import type { AppRuntime } from "./servable-app.ts";

// The SDK's own types stop at this file: its transport and its handlers are typed here, and nowhere else.
type ServeOptions = NonNullable<Parameters<typeof serveStdio>[1]>;
type Transport = NonNullable<ServeOptions["transport"]>;
type SdkMessage = Parameters<Transport["send"]>[0];

/** Answers of a handler -> what the SDK expects: an object, or a thrown error. */
function toSdkResult(answer: RpcAnswer): never {
  if (answer.kind === "error") throw new ProtocolError(answer.code, answer.message, answer.data);
  const meta = answer.meta === "" ? "" : `"_meta":{${answer.meta}}`;
  // The handler wrote it in the shape of the method's own result, which the differential test checks; the SDK's type of
  // a result is a union over all methods, and never fits all of its overloads.
  return JSON.parse(`{${[answer.body, meta].filter((part) => part !== "").join(",")}}`) as never;
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

interface ServerOptions {
  readonly runtime: AppRuntime;
  readonly era: Era;
  readonly errors: SdkErrors;
}

/** A call whose reports and log go out under the request that it serves. */
function toCall({ mcpReq }: ServerContext, log: (output: LogOutput) => LogSink | undefined): CallContext {
  const { signal, _meta: meta, notify } = mcpReq;
  const progressToken = meta?.progressToken;
  // What cannot be sent any more has no one left to read it.
  const tell = (notice: Parameters<typeof notify>[0]): void => void notify(notice).catch(() => {});
  const call = new CallContext({
    sink:
      progressToken === undefined
        ? undefined
        : (report) => tell({ method: "notifications/progress", params: { ...report, progressToken } }),
    log: log({
      // The params of a notice are an object.
      send: (params) => tell({ method: loggedMethod, params: JSON.parse(params) as Record<string, unknown> }),
      isFull: () => false,
    }),
  });
  signal.addEventListener("abort", () => call.cancel(), { once: true });
  return call;
}

function createServer({ runtime, era, errors }: ServerOptions): Server {
  const { info, instructions, handlers } = runtime;
  const server = new Server(
    // It only writes them out: that its arrays may not be changed is what its type does not know.
    info as Implementation,
    { capabilities: toCapabilities(runtime), ...(instructions === undefined ? {} : { instructions }) },
  );
  const log = new ClientLog();
  // In the place of the SDK's own, which tells everything until a level is set.
  if (runtime.logs) {
    server.setRequestHandler("logging/setLevel", ({ params: { level } }, { mcpReq: { id, signal } }) => {
      errors.taken(id, signal);
      const answer = log.setLevel({ level });
      errors.told(id, signal, answer);
      return toSdkResult(answer);
    });
  }
  for (const method of handled) {
    const handler = handlers[method];
    if (handler === undefined) continue;
    server.setRequestHandler(method, async (request, context) => {
      const { id, signal } = context.mcpReq;
      errors.taken(id, signal);
      const params = isJsonObject(request.params) ? request.params : undefined;
      const level: unknown = Reflect.get(context.mcpReq.envelope ?? {}, LOG_LEVEL_META_KEY);
      const asked = isLogLevel(level) ? level : undefined;
      const call = toCall(context, (output) => (runtime.logs ? log.sinkFor(era, asked, output) : undefined));
      const answer = await handler(params, { era, call });
      errors.told(id, signal, answer);
      return toSdkResult(answer);
    });
  }
  return server;
}

/**
 * Connects one gate to the SDK's stdio serving, which owns the handshake, discovery and every rare method; of
 * subscriptions it never hears. The transport between them is a pair of functions: no stream, no framing.
 */
export const connectSdkStdio: SdkConnector = (runtime, send): SdkPort => {
  const errors = new SdkErrors(runtime.report);
  const transport: Transport = {
    start: async () => {},
    close: async () => {
      transport.onclose?.();
    },
    send: async (message) => send(errors.toClient(message)),
  };
  const handle = serveStdio(({ era }) => createServer({ runtime, era, errors }), {
    transport,
    onerror: (cause) => void internalError(cause, "the SDK", runtime.report),
  });
  return {
    deliver(message) {
      errors.handed(message);
      // The gate has checked that it is a JSON-RPC message.
      transport.onmessage?.(message as unknown as SdkMessage);
    },
    close: () => handle.close(),
  };
};
