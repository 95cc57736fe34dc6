/** Who a server of the SDK 1.x says that asks, as its middleware found out. */
export interface V1AuthInfo {
  /** The program that asks. */
  readonly clientId: string;
  readonly scopes: readonly string[];
  /** Seconds since 1970. */
  readonly expiresAt?: number | undefined;
  /** What else the verifier of the token has said. */
  readonly extra?: Readonly<Record<string, unknown>> | undefined;
}

/** What a server of the SDK 1.x knows of a request besides its params. */
export interface V1RequestInfo {
  readonly requestId: string | number;
  /** Names the session, over transports that have several. */
  readonly sessionId?: string | undefined;
  /** Left out where nobody verified who asks. */
  readonly authInfo?: V1AuthInfo | undefined;
  /** The request that it came with, over HTTP. */
  readonly requestInfo?:
    | { readonly headers: Readonly<Record<string, string | readonly string[] | undefined>> }
    | undefined;
}

/**
 * A low-level `Server` of `@modelcontextprotocol/sdk` 1.x, in so far as it is used here. Its own type fits, of whichever copy of
 * the package it is; what is `never` here is what the SDK says of it in types of its own.
 */
export interface V1Server {
  /** There while it is connected. */
  readonly transport?: unknown;
  assertCanSetRequestHandler(method: string): void;
  setRequestHandler(schema: never, handler: never): void;
  removeRequestHandler(method: string): void;
  registerCapabilities(capabilities: never): void;
  getClientCapabilities(): object | undefined;
  getClientVersion(): object | undefined;
  notification(notification: never): Promise<void>;
  request(request: never, schema: never, options?: never): Promise<unknown>;
  sendLoggingMessage(params: never, sessionId?: string): Promise<void>;
}

/** A `McpServer` of `@modelcontextprotocol/sdk` 1.x: what it wraps is used. */
export interface V1McpServer {
  readonly server: V1Server;
}
