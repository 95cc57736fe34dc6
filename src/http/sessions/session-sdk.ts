import type { JsonObject } from "../../schema/json.ts";
import { toLazyConnector } from "../../mcp/lazy-sdk.ts";
import type { RpcMessage, SdkPort } from "../../mcp/sdk-port.ts";
import type { AppRuntime } from "../../mcp/servable-app.ts";

const connectSdk = toLazyConnector(async () => (await import("../../mcp/sdk-stdio-seam.ts")).connectSdkStdio);

/** The handshake that is told to the SDK when it joins; its answer goes nowhere. */
const replayId = "surface-mcp/replayed-handshake";

/** What the SDK has to say to one session. */
export interface SdkListener {
  /** It has answered a request, which may be one that nobody waits for any more. */
  readonly answered: (message: RpcMessage) => void;
  /** It has something to say by itself. */
  readonly told: (message: RpcMessage) => void;
}

/** The SDK behind one session, which answers what no handler of ours knows. Loaded with the first request that needs it. */
export class SessionSdk {
  readonly #runtime: AppRuntime;
  readonly #handshake: JsonObject;
  readonly #listener: SdkListener;
  #port: SdkPort | undefined;

  constructor(runtime: AppRuntime, handshake: JsonObject, listener: SdkListener) {
    this.#runtime = runtime;
    this.#handshake = handshake;
    this.#listener = listener;
  }

  /** Hands a request over. */
  request(message: RpcMessage): void {
    this.#port ??= this.#connect();
    this.#port.deliver(message);
  }

  /** Hands a notification over, where there is anybody to hear it. */
  notify(message: RpcMessage): void {
    this.#port?.deliver(message);
  }

  /** Lets go of it. Callable twice. */
  async close(): Promise<void> {
    await this.#port?.close();
  }

  #connect(): SdkPort {
    const port = connectSdk(this.#runtime, (message) => this.#receive(message));
    port.deliver({ jsonrpc: "2.0", id: replayId, method: "initialize", params: this.#handshake });
    port.deliver({ jsonrpc: "2.0", method: "notifications/initialized" });
    return port;
  }

  #receive(message: RpcMessage): void {
    if ("method" in message || !("id" in message)) this.#listener.told(message);
    else if (message["id"] !== replayId) this.#listener.answered(message);
  }
}
