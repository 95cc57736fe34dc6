import { ProtocolError, Server } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { CallContext } from "../call/call-context.ts";
import { isJsonObject } from "../catalog/is-json-object.ts";
import type { HandledMethod } from "./handlers.ts";
import type { Era, RpcAnswer } from "./protocol.ts";
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
];

function createServer(runtime: AppRuntime, era: Era): Server {
  const { info, instructions, handlers } = runtime;
  const server = new Server(
    { ...info },
    { capabilities: { tools: {}, resources: {} }, ...(instructions === undefined ? {} : { instructions }) },
  );
  for (const method of handled) {
    server.setRequestHandler(method, async (request, context) => {
      const { signal, _meta: meta, notify } = context.mcpReq;
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
      return toSdkResult(await handlers[method](isJsonObject(params) ? params : undefined, { era, call }));
    });
  }
  return server;
}

/**
 * Connects one gate to the SDK's stdio serving, which owns the handshake, discovery, subscriptions and every rare
 * method. The transport between them is a pair of functions: no stream, no framing.
 */
export const connectSdkStdio: SdkConnector = (runtime, send): SdkPort => {
  const transport: Transport = {
    start: async () => {},
    close: async () => {
      transport.onclose?.();
    },
    send: async (message) => send(message),
  };
  const handle = serveStdio(({ era }) => createServer(runtime, era), {
    transport,
    onerror: (cause) => runtime.report({ correlationId: "sdk", where: "the SDK", cause }),
  });
  return {
    deliver(message) {
      // The gate has checked that it is a JSON-RPC message.
      transport.onmessage?.(message as unknown as SdkMessage);
    },
    close: () => handle.close(),
  };
};
