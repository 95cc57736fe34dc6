import { maxAskTimeoutMs } from "../catalog/asking/asking.ts";
import { SurfaceError } from "../errors.ts";
import { isJsonObject, type JsonObject } from "../schema/json.ts";

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
  readonly requestInfo?:
    | { readonly headers: Readonly<Record<string, string | readonly string[] | undefined>> }
    | undefined;
}

/**
 * The members of a low-level `Server` of `@modelcontextprotocol/sdk` 1.x that are used. The class fits, of any copy of the package:
 * `never` stands for the SDK's own types.
 */
export interface V1Server {
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

/** Milliseconds that the SDK waits for an answer: longer than any question may take, so that the question's own time holds. */
export const outerTimeoutMs: number = maxAskTimeoutMs + 60_000;

/** The second argument of a handler. */
export interface V1Extra extends V1RequestInfo {
  /** Fires when the client cancels, and when the connection closes. */
  readonly signal: AbortSignal;
  /** Sends a notification where the request came from. */
  sendNotification(notification: object): Promise<void>;
  /** Sends a request there. An abort of the signal has the SDK cancel it at the client. */
  sendRequest(
    request: object,
    schema: V1Schema,
    options: { readonly timeout: number; readonly signal: AbortSignal },
  ): Promise<unknown>;
}

/** The common part of the SDK's versions of zod; the SDK uses no more of a schema that it did not create. */
interface V1Schema {
  parse(value: unknown): unknown;
  safeParse(value: unknown): { readonly success: true; readonly data: unknown };
}

function toSchema(take: (value: unknown) => unknown): V1Schema {
  return Object.freeze({ parse: take, safeParse: (value: unknown) => ({ success: true, data: take(value) }) as const });
}

/** Takes every value as it is. */
export const anything: V1Schema = /* @__PURE__ */ toSchema((value) => value);

const kRequest = Symbol("request");

/**
 * Returns a schema that takes every request of a method and hands it on unread. Otherwise the SDK would check the params of a call
 * before its handler, and refuse them in the words of its validator. The params that it checks instead always fit.
 */
function requestsOf(method: string): object {
  const carry = (request: unknown): object => ({ method, params: { name: method }, [kRequest]: request });
  return Object.freeze({ shape: { method: { value: method, _def: { value: method } } }, ...toSchema(carry) });
}

function paramsOf(carried: object): unknown {
  const request: unknown = Reflect.get(carried, kRequest);
  return typeof request === "object" && request !== null ? Reflect.get(request, "params") : undefined;
}

const used: readonly (keyof V1Server)[] = [
  "assertCanSetRequestHandler",
  "setRequestHandler",
  "removeRequestHandler",
  "registerCapabilities",
  "getClientCapabilities",
  "getClientVersion",
  "notification",
  "request",
  "sendLoggingMessage",
];

function toServer(given: V1Server | V1McpServer): V1Server {
  const within: unknown = typeof given === "object" && given !== null ? Reflect.get(given, "server") : undefined;
  const server: unknown = within ?? given;
  const isServer =
    typeof server === "object" &&
    server !== null &&
    used.every((name) => typeof Reflect.get(server, name) === "function");
  // It has all methods that are used.
  if (isServer) return server as V1Server;
  throw notV1();
}

function notV1(cause?: unknown): SurfaceError {
  const what = 'Attaching to a server: it must be a "Server" or a "McpServer" of @modelcontextprotocol/sdk 1.x';
  return new SurfaceError("INVALID_OPTION", what, { cause });
}

function toSdk(value: unknown): never {
  // The parameters of V1Server's methods are never, so that the SDK's own types fit.
  return value as never;
}

/**
 * Calls `ours` before the function that a property of a server holds, whenever that is set: authors set theirs before or after they
 * attach. `ours` must not throw. Returns a function that ends it and leaves theirs.
 */
function hook(server: object, name: "onclose" | "oninitialized", ours: () => void): () => void {
  const join =
    (next: unknown): ((message: unknown) => unknown) =>
    (message) => {
      ours();
      return typeof next === "function" ? (Reflect.apply(next, server, [message]) as unknown) : undefined;
    };
  let theirs: unknown = Reflect.get(server, name);
  // Of the function that was set last: one that wraps what it found must not be called by itself.
  let both = join(theirs);
  Object.defineProperty(server, name, {
    configurable: true,
    enumerable: true,
    get: () => both,
    set(next: unknown) {
      theirs = next;
      both = join(next);
    },
  });
  return () => {
    Object.defineProperty(server, name, { configurable: true, enumerable: true, writable: true, value: theirs });
  };
}

/**
 * Calls `ours` with every message that a transport receives, before its server has it. A server tells one handler of a notification
 * only, which may be the author's. `ours` must not throw. Returns a function that ends it.
 */
function hookMessages(transport: unknown, ours: (message: unknown) => void): () => void {
  if (typeof transport !== "object" || transport === null) return () => {};
  const theirs: unknown = Reflect.get(transport, "onmessage");
  if (typeof theirs !== "function") return () => {};
  let isOn = true;
  const both = (...message: unknown[]): unknown => {
    if (isOn) ours(message[0]);
    return Reflect.apply(theirs, transport, message);
  };
  Reflect.set(transport, "onmessage", both);
  return () => {
    isOn = false;
    // A later wrapper keeps what is within it.
    if (Reflect.get(transport, "onmessage") === both) Reflect.set(transport, "onmessage", theirs);
  };
}

/** A server of the SDK 1.x. Call `release()` when done. */
export class V1Port {
  readonly #server: V1Server;
  readonly #set: string[] = [];
  readonly #hooks: (() => void)[] = [];

  /** @throws SurfaceError `INVALID_OPTION` for a server that is connected or not of the SDK 1.x. */
  constructor(given: V1Server | V1McpServer) {
    this.#server = toServer(given);
    if (this.#server.transport === undefined) return;
    throw new SurfaceError("INVALID_OPTION", "Attaching to a server: it is connected, attach before it connects");
  }

  handles(method: string): boolean {
    try {
      this.#server.assertCanSetRequestHandler(method);
      return false;
    } catch {
      return true;
    }
  }

  announce(capabilities: object): void {
    this.#server.registerCapabilities(toSdk(capabilities));
  }

  /**
   * Answers the requests of a method until {@link release}, by a function of their params as they came.
   *
   * @throws SurfaceError `INVALID_OPTION` for a server that takes handlers in another way: that of the SDK 2.x looks the same before.
   */
  handle(method: string, handler: (params: unknown, extra: V1Extra) => Promise<object>): void {
    const handle = (carried: object, extra: V1Extra): Promise<object> => handler(paramsOf(carried), extra);
    try {
      this.#server.setRequestHandler(toSdk(requestsOf(method)), toSdk(handle));
    } catch (cause) {
      throw notV1(cause);
    }
    this.#set.push(method);
  }

  /** Calls `told` beside the server's own listener, until {@link release}. */
  on(name: "onclose" | "oninitialized", told: () => void): void {
    this.#hooks.push(hook(this.#server, name, told));
  }

  /** Calls `told` with the method of every message on the present connection, until {@link release}. `told` must not throw. */
  onMessage(told: (method: unknown) => void): void {
    const hear = (message: unknown): void => {
      if (typeof message === "object" && message !== null) told(Reflect.get(message, "method"));
    };
    this.#hooks.push(hookMessages(this.#server.transport, hear));
  }

  get clientCapabilities(): JsonObject | undefined {
    const said: unknown = this.#server.getClientCapabilities();
    // It came as JSON.
    return isJsonObject(said) ? said : undefined;
  }

  get clientInfo(): unknown {
    return this.#server.getClientVersion();
  }

  notify(notification: object): Promise<void> {
    return this.#server.notification(toSdk(notification));
  }

  /** Sends the client a request that belongs to no request of the client. */
  request(request: object, signal: AbortSignal): Promise<unknown> {
    return this.#server.request(toSdk(request), toSdk(anything), toSdk({ timeout: outerTimeoutMs, signal }));
  }

  /** Writes to the client's log by the level that the server keeps. */
  log(notice: object, sessionId: string | undefined): Promise<void> {
    return this.#server.sendLoggingMessage(toSdk(Reflect.get(notice, "params")), sessionId);
  }

  /** Leaves the server as it was, except for its capabilities. Callable twice. */
  release(): void {
    for (const method of this.#set.splice(0)) this.#server.removeRequestHandler(method);
    for (const unhook of this.#hooks.splice(0)) unhook();
  }
}
