import type { AskPort } from "../call/ask-port.ts";
import type { Caller } from "../surface/caller.ts";
import type { Era } from "./protocol.ts";
import type { RequestId } from "./request-id.ts";
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

/** One connection, as the SDK's side of it sees it. */
export interface SdkPeer {
  /** Receives everything that the SDK says. */
  readonly send: (message: RpcMessage) => void;
  /** Who asks a request, and by which view; without an id, who asked last. Asked when a request is served. */
  readonly caller: (id?: RequestId) => Caller;
  /** How whoever asks a request is asked themselves. Left out: they are not, but by answers. */
  readonly askPort?: ((era: Era, id: RequestId) => AskPort | undefined) | undefined;
}

/** Makes the SDK's side of one connection. */
export type SdkConnector = (runtime: AppRuntime, peer: SdkPeer) => SdkPort;
