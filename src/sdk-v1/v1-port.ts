import { SurfaceError } from "../errors.ts";
import { isJsonObject, type JsonObject } from "../schema/json.ts";
import { hookMessages } from "./hook-messages.ts";
import { hook, type HookName } from "./hook.ts";
import { anything, outerTimeoutMs, paramsOf, requestsOf, type V1Extra } from "./v1-extra.ts";
import type { V1McpServer, V1Server } from "./v1-server.ts";

/** Answers the requests of one method: params as they came -> a result, or a rejection with an error that has a code. */
export type V1Handler = (params: unknown, extra: V1Extra) => Promise<object>;

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

function isServer(value: unknown): value is V1Server {
  return (
    typeof value === "object" && value !== null && used.every((name) => typeof Reflect.get(value, name) === "function")
  );
}

function toServer(given: V1Server | V1McpServer): V1Server {
  const within: unknown = typeof given === "object" && given !== null ? Reflect.get(given, "server") : undefined;
  const server: unknown = within ?? given;
  if (isServer(server)) return server;
  throw isNone();
}

function isNone(cause?: unknown): SurfaceError {
  const what = 'Attaching to a server: it must be a "Server" or a "McpServer" of @modelcontextprotocol/sdk 1.x';
  return new SurfaceError("INVALID_OPTION", what, { cause });
}

/** What is asked of the SDK, and hers to check: its types are not named here, and what stands for them fits all of them. */
function theirs(value: unknown): never {
  // The parameters of V1Server's methods are never, so that the SDK's own types fit whatever they are.
  return value as never;
}

/** A server of the SDK's, as it is used here. */
export class V1Port {
  readonly #server: V1Server;
  readonly #set: string[] = [];
  readonly #hooks: (() => void)[] = [];

  /** @throws SurfaceError `INVALID_OPTION` where it is no server of the SDK 1.x, or is connected. */
  constructor(given: V1Server | V1McpServer) {
    this.#server = toServer(given);
    if (this.#server.transport === undefined) return;
    throw new SurfaceError("INVALID_OPTION", "Attaching to a server: it is connected, attach before it connects");
  }

  /** Whether the server answers a method itself. */
  handles(method: string): boolean {
    try {
      this.#server.assertCanSetRequestHandler(method);
      return false;
    } catch {
      return true;
    }
  }

  /** Has it say that it can do this, besides what it says already. */
  announce(capabilities: object): void {
    this.#server.registerCapabilities(theirs(capabilities));
  }

  /**
   * Has a method answered, until {@link release}.
   *
   * @throws SurfaceError `INVALID_OPTION` where it takes handlers in another way: that of the SDK 2.x looks the same until then.
   */
  handle(method: string, handler: V1Handler): void {
    const handle = (carried: object, extra: V1Extra): Promise<object> => handler(paramsOf(carried), extra);
    try {
      this.#server.setRequestHandler(theirs(requestsOf(method)), theirs(handle));
    } catch (cause) {
      throw isNone(cause);
    }
    this.#set.push(method);
  }

  /** Has something told besides whoever is told by the server's own, until {@link release}. */
  on(name: HookName, told: (message: unknown) => void): void {
    this.#hooks.push(hook(this.#server, name, told));
  }

  /** Has something told of every message on the connection that there is now, until {@link release}. `told` must not throw. */
  onMessage(told: (message: unknown) => void): void {
    this.#hooks.push(hookMessages(this.#server.transport, told));
  }

  /** What its client says that it can do. The same object for as long as it says the same. */
  get clientCapabilities(): JsonObject | undefined {
    const said: unknown = this.#server.getClientCapabilities();
    // It came as JSON.
    return isJsonObject(said) ? said : undefined;
  }

  /** What its client says that it is. */
  get clientInfo(): unknown {
    return this.#server.getClientVersion();
  }

  /** Sends what belongs to no request. */
  notify(notification: object): Promise<void> {
    return this.#server.notification(theirs(notification));
  }

  /** Asks the client what belongs to no request. */
  request(request: object, signal: AbortSignal): Promise<unknown> {
    return this.#server.request(theirs(request), theirs(anything), theirs({ timeout: outerTimeoutMs, signal }));
  }

  /** Tells the client's log by the level that the server keeps for it. */
  log(params: object, sessionId: string | undefined): Promise<void> {
    return this.#server.sendLoggingMessage(theirs(params), sessionId);
  }

  /** Leaves the server as it was, but for what it has said that it can do. Callable twice. */
  release(): void {
    for (const method of this.#set.splice(0)) this.#server.removeRequestHandler(method);
    for (const unhook of this.#hooks.splice(0)) unhook();
  }
}
