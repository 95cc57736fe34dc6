import { internalError } from "../surface/fault.ts";
import { rpcCodes, toRpcError } from "./protocol.ts";
import type { SdkExchange, SdkExchangeMaker } from "./sdk-http-port.ts";
import type { RpcMessage, SdkConnector, SdkPeer, SdkPort } from "./sdk-port.ts";
import type { AppRuntime } from "./servable-app.ts";

/** Stands in for an SDK that could not be loaded: answers every request with the id of the one entry in the log. */
function createBrokenPort(correlationId: string | undefined, { send }: SdkPeer): SdkPort {
  const error = { code: rpcCodes.internal, message: "Internal error", data: { correlationId } };
  return {
    deliver({ id, method }) {
      if (id !== undefined && method !== undefined) send({ jsonrpc: "2.0", id, error });
    },
    close: async () => {},
  };
}

/**
 * Makes a connector that loads the SDK with the first message that needs it. What is delivered until then waits, in
 * order. An SDK that cannot be loaded is a broken installation: it is reported once, and every request that needs it is
 * answered with `-32603` and the id of that report.
 */
export function toLazyConnector(load: () => Promise<SdkConnector>): SdkConnector {
  return (runtime, peer) => {
    let port: SdkPort | undefined;
    let waiting: RpcMessage[] = [];
    let closed = false;
    const open = async (): Promise<void> => {
      const joined = await loadPort(load, runtime, peer);
      if (closed) return joined.close();
      port = joined;
      for (const message of waiting) joined.deliver(message);
      waiting = [];
    };
    const loading = open().catch((cause: unknown) => void internalError(cause, "joining the SDK", runtime.report));
    return {
      deliver(message) {
        if (port === undefined) waiting.push(message);
        else port.deliver(message);
      },
      async close() {
        closed = true;
        await loading;
        await port?.close();
      },
    };
  };
}

/** Never rejects. */
async function loadPort(load: () => Promise<SdkConnector>, runtime: AppRuntime, peer: SdkPeer): Promise<SdkPort> {
  try {
    const connect = await load();
    return connect(runtime, peer);
  } catch (cause) {
    return createBrokenPort(internalError(cause, "loading the SDK", runtime.report).correlationId, peer);
  }
}

/** Never rejects. */
async function loadExchange(load: () => Promise<SdkExchangeMaker>, runtime: AppRuntime): Promise<SdkExchange> {
  try {
    const create = await load();
    return create(runtime);
  } catch (cause) {
    const { correlationId } = internalError(cause, "loading the SDK", runtime.report);
    const error = toRpcError(rpcCodes.internal, "Internal error", { correlationId });
    return async () => ({ kind: "error", status: 500, error });
  }
}

/** Makes what loads the SDK with the first request that needs it, for requests that stand alone; as {@link toLazyConnector}. */
export function toLazyExchange(load: () => Promise<SdkExchangeMaker>): SdkExchangeMaker {
  return (runtime) => {
    let loading: Promise<SdkExchange> | undefined;
    return async (asked) => {
      loading ??= loadExchange(load, runtime);
      const exchange = await loading;
      return exchange(asked);
    };
  };
}
