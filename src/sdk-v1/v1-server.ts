/** The token of a request, as the middleware of a server of the SDK 1.x verified it. */
export interface V1AuthInfo {
  /** The program of the caller. */
  readonly clientId: string;
  readonly scopes: readonly string[];
  /** Seconds since 1970. */
  readonly expiresAt?: number | undefined;
  /** Further claims of the token. */
  readonly extra?: Readonly<Record<string, unknown>> | undefined;
}

/** A request of a server of the SDK 1.x, without its params. */
export interface V1RequestInfo {
  readonly requestId: string | number;
  /** The session, over transports that have several. */
  readonly sessionId?: string | undefined;
  /** Left out if no middleware verified a token. */
  readonly authInfo?: V1AuthInfo | undefined;
  /** The HTTP request. */
  readonly requestInfo?:
    | { readonly headers: Readonly<Record<string, string | readonly string[] | undefined>> }
    | undefined;
}

/**
 * The members of a low-level `Server` of `@modelcontextprotocol/sdk` 1.x that are used. The class fits, of any copy of the package:
 * `never` stands for the SDK's own types.
 */
export interface V1Server {
  /** Set while it is connected. */
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

/** A `McpServer` of `@modelcontextprotocol/sdk` 1.x. */
export interface V1McpServer {
  readonly server: V1Server;
}
