import { toLazyConnector } from "../../mcp/lazy-sdk.ts";
import type { NotificationFrame, RequestFrame } from "../../mcp/parse-frame.ts";
import type { AskPort } from "../../call/ask-port.ts";
import type { Caller } from "../../surface/caller.ts";
import { rpcCodes, toRpcError, toRpcResult, type RpcAnswer } from "../../mcp/protocol.ts";
import type { RequestId } from "../../mcp/request-id.ts";
import type { RpcMessage, SdkPort } from "../../mcp/sdk-port.ts";
import type { AppRuntime } from "../../mcp/servable-app.ts";
import { isJsonObject, type JsonObject } from "../../schema/json.ts";

const connectSdk = toLazyConnector(async () => (await import("../../mcp/sdk-stdio-seam.ts")).connectSdkStdio);

/** Who hears what the SDK has to say to one session. */
export interface SdkListener {
  /** Whose the session is, by the view of its handshake. */
  readonly caller: Caller;
  /** How the client is asked for a request. */
  readonly askPort: (id: RequestId) => AskPort | undefined;
  /** It has answered a request, which may be one that nobody waits for any more. */
  readonly answered: (id: RequestId, message: RpcMessage) => void;
  /** It has something to say by itself. */
  readonly told: (message: RpcMessage) => void;
}

/** What the SDK has answered, as handlers of ours answer. */
export function toAnswer({ result, error }: RpcMessage): RpcAnswer {
  if (isJsonObject(result)) return toRpcResult(JSON.stringify(result).slice(1, -1));
  const { code, message, data } = isJsonObject(error) ? error : {};
  const isWhole = typeof code === "number" && typeof message === "string";
  return isWhole ? toRpcError(code, message, data) : toRpcError(rpcCodes.internal, "Internal error");
}

/** The SDK behind one session, which answers what no handler of ours knows. Loaded with the first request that needs it. */
export class SessionSdk {
  readonly #runtime: AppRuntime;
  readonly #handshake: JsonObject;
  readonly #listener: SdkListener;
  /** Of the handshake that the SDK is told when it joins, whose answer goes nowhere. No client can choose the same. */
  readonly #replayId = `replayed-handshake ${crypto.randomUUID()}`;
  #port: SdkPort | undefined;

  /** @param handshake - the params of the session's own, which the SDK is told when it joins. */
  constructor(runtime: AppRuntime, handshake: JsonObject, listener: SdkListener) {
    this.#runtime = runtime;
    this.#handshake = handshake;
    this.#listener = listener;
  }

  /** Hands a request over. */
  request({ id, method, params }: RequestFrame): void {
    this.#port ??= this.#connect();
    this.#port.deliver({ jsonrpc: "2.0", id, method, ...(params === undefined ? {} : { params }) });
  }

  /** Hands a notification over, where there is anybody to hear it. */
  notify({ method, params }: NotificationFrame): void {
    this.#port?.deliver({ jsonrpc: "2.0", method, ...(params === undefined ? {} : { params }) });
  }

  /** Lets go of it. Callable twice. */
  async close(): Promise<void> {
    await this.#port?.close();
  }

  #connect(): SdkPort {
    const caller = (): Caller => this.#listener.caller;
    const askPort = (_era: unknown, id: RequestId): AskPort | undefined => this.#listener.askPort(id);
    const port = connectSdk(this.#runtime, { send: (message) => this.#receive(message), caller, askPort });
    port.deliver({ jsonrpc: "2.0", id: this.#replayId, method: "initialize", params: this.#handshake });
    port.deliver({ jsonrpc: "2.0", method: "notifications/initialized" });
    return port;
  }

  #receive(message: RpcMessage): void {
    const { id } = message;
    if ("method" in message || id === undefined) this.#listener.told(message);
    // It answers with the ids that were handed to it.
    else if (id !== this.#replayId) this.#listener.answered(id as RequestId, message);
  }
}
