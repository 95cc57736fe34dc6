import { isJsonObject } from "../schema/json.ts";
import { ProtocolError, Server } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { CallContext } from "../call/call-context.ts";
import { internalError } from "../surface/fault.ts";
import type { HandledMethod } from "./handlers.ts";
import { toCapabilities } from "./handshake.ts";
import { rpcCodes, type Era, type RpcAnswer } from "./protocol.ts";
import type { RpcMessage, SdkConnector, SdkPort } from "./sdk-port.ts";
import type { AppRuntime } from "./servable-app.ts";

// The SDK's own types stop at this file: its transport and its handlers are typed here, and nowhere else.
type ServeOptions = NonNullable<Parameters<typeof serveStdio>[1]>;
type Transport = NonNullable<ServeOptions["transport"]>;
type SdkMessage = Parameters<Transport["send"]>[0];

/** Requests that the handlers answered with the legacy code for a resource that does not exist. */
type NotFoundIds = Set<unknown>;

/**
 * The SDK never emits `-32002`: it maps the code to that of 2026-07-28 in both eras. Up to 2025-11-25 the
 * specification says `-32002`, so the code is put back on its way out.
 */
function restoreCode(message: RpcMessage, notFound: NotFoundIds): RpcMessage {
  const { id, error } = message;
  if (!notFound.delete(id) || typeof error !== "object") return message;
  return { ...message, error: { ...error, code: rpcCodes.legacyResourceNotFound } };
}

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
];

interface ServerOptions {
  readonly runtime: AppRuntime;
  readonly era: Era;
  readonly notFound: NotFoundIds;
}

function createServer({ runtime, era, notFound }: ServerOptions): Server {
  const { info, instructions, handlers, resources } = runtime;
  const server = new Server(
    { ...info },
    { capabilities: toCapabilities(resources), ...(instructions === undefined ? {} : { instructions }) },
  );
  for (const method of handled) {
    server.setRequestHandler(method, async (request, context) => {
      const { id, signal, _meta: meta, notify } = context.mcpReq;
      const progressToken = meta?.progressToken;
      const call = new CallContext(
        progressToken === undefined
          ? undefined
          : (report) => {
              // A progress report that cannot be sent any more has no one left to read it.
              notify({ method: "notifications/progress", params: { ...report, progressToken } }).catch(() => {});
            },
      );
      signal.addEventListener("abort", () => call.cancel(), { once: true });
      const params: unknown = request.params;
      const answer = await handlers[method](isJsonObject(params) ? params : undefined, { era, call });
      const isLegacyCode = answer.kind === "error" && answer.code === rpcCodes.legacyResourceNotFound;
      // Nothing is sent to who cancelled, so nothing would take the id out again.
      if (isLegacyCode && !signal.aborted) notFound.add(id);
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
  const notFound: NotFoundIds = new Set();
  const transport: Transport = {
    start: async () => {},
    close: async () => {
      transport.onclose?.();
    },
    send: async (message) => send(restoreCode(message, notFound)),
  };
  const handle = serveStdio(({ era }) => createServer({ runtime, era, notFound }), {
    transport,
    onerror: (cause) => void internalError(cause, "the SDK", runtime.report),
  });
  return {
    deliver(message) {
      // The gate has checked that it is a JSON-RPC message.
      transport.onmessage?.(message as unknown as SdkMessage);
    },
    close: () => handle.close(),
  };
};
