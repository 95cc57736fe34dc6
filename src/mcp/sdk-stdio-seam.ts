import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { internalError } from "../surface/fault.ts";
import { SdkErrors } from "./sdk-errors.ts";
import type { SdkConnector, SdkPort } from "./sdk-port.ts";
import { createSdkServer } from "./sdk-server.ts";

// The SDK's own types of a connection stop at this file.
type ServeOptions = NonNullable<Parameters<typeof serveStdio>[1]>;
type Transport = NonNullable<ServeOptions["transport"]>;
type SdkMessage = Parameters<Transport["send"]>[0];

/**
 * Connects one gate to the SDK's stdio serving, which owns the handshake, discovery and every rare method; of
 * subscriptions it never hears. The transport between them is a pair of functions: no stream, no framing.
 */
export const connectSdkStdio: SdkConnector = (runtime, { send, caller, askPort }): SdkPort => {
  const errors = new SdkErrors(runtime.report);
  const transport: Transport = {
    start: async () => {},
    close: async () => {
      transport.onclose?.();
    },
    send: async (message) => send(errors.toClient(message)),
  };
  const handle = serveStdio(({ era }) => createSdkServer({ runtime, era, errors, asking: { caller, askPort } }), {
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
