import type { AppRuntime } from "./servable-app.ts";

/** A JSON-RPC message as an object, in either direction. */
export type RpcMessage = Readonly<Record<string, unknown>>;

/** A connection to the SDK, which answers what the gate does not. */
export interface SdkPort {
  /** Hands a message over that the gate has checked. */
  deliver(message: RpcMessage): void;
  /** Ends it and aborts what runs behind it. Callable twice. */
  close(): Promise<void>;
}

/** Makes the SDK's side of one connection; `send` receives everything it says. */
export type SdkConnector = (runtime: AppRuntime, send: (message: RpcMessage) => void) => SdkPort;
