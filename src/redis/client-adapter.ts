import { SurfaceError } from "../errors.ts";
import { isFunction, isObject } from "../options/is-object.ts";

/** A client of the package `ioredis`, by the members that `redis()` uses. */
export interface IoredisClient {
  readonly status: string;
  call(command: string, args: string[]): Promise<unknown>;
  duplicate(options: object): object;
}

/** A client of the package `redis` (node-redis), by the members that `redis()` uses. Connect it before the server starts. */
export interface NodeRedisClient {
  readonly isReady: boolean;
  sendCommand(args: string[]): Promise<unknown>;
  duplicate(options: object): object;
}

/** A client of one Redis, with or without Sentinel. A client of Redis Cluster does not fit. */
export type RedisClient = IoredisClient | NodeRedisClient;

/** Callbacks of a subscriber. */
export interface SubscriberListener {
  text(text: string): void;
  /** Called when the subscription is active, for the first time or again. */
  subscribed(): void;
  readonly error: (cause: unknown) => void;
}

/** The use of a client, the same for each package. */
export interface ClientAdapter {
  /** Whether a command would be sent at once, and not wait in a queue of the client. */
  isReady(): boolean;
  send(args: string[]): Promise<unknown>;
  /** Opens a further connection that receives what is published. Connects again when it is lost. Returns a function that closes it. */
  subscribe(channel: string, listener: SubscriberListener): () => void;
  /** Receives errors of the author's client, which Node throws if there is no listener. Returns a function that ends it. */
  onError(listener: (cause: unknown) => void): () => void;
}

/** The members of a client and of its duplicates that are used. `destroy` and `isOpen` are of `redis` only. */
interface AnyClient {
  on(event: string, listener: (...args: unknown[]) => void): unknown;
  off(event: string, listener: (...args: unknown[]) => void): unknown;
  connect(): Promise<unknown>;
  subscribe(channel: string, listener?: (text: unknown) => void): Promise<unknown>;
  disconnect(): unknown;
  destroy(): unknown;
  readonly isOpen?: boolean;
}

/** Milliseconds until a subscriber connects again. The options of the author may say never. */
const retryDelayMs = (attempt: number): number => Math.min(50 * 2 ** Math.min(attempt, 5), 1000);

function isOneRedis(client: RedisClient): boolean {
  const has = (...names: readonly string[]): boolean => names.every((name) => isFunction(Reflect.get(client, name)));
  if (!isObject(client) || Reflect.get(client, "isCluster") === true || !has("duplicate", "on")) return false;
  return "isReady" in client ? has("sendCommand", "connect") : "status" in client && has("call");
}

function toAny(client: object): AnyClient {
  // The shape of the client was checked, and a duplicate is of its class.
  return client as AnyClient;
}

/** Makes the client of a subscriber. Each package ignores the options of the other. */
function duplicateOf(client: RedisClient): AnyClient {
  const options: unknown = Reflect.get(client, "options");
  const socket: unknown = isObject(options) ? Reflect.get(options, "socket") : undefined;
  return toAny(
    client.duplicate({
      ...{ lazyConnect: true, autoResubscribe: false, enableOfflineQueue: true, retryStrategy: retryDelayMs },
      ...{ disableOfflineQueue: false, socket: { ...(isObject(socket) && socket), reconnectStrategy: retryDelayMs } },
    }),
  );
}

/**
 * Reads the package of a client from its shape.
 *
 * @throws SurfaceError `INVALID_OPTION`.
 */
export function adaptClient(client: RedisClient): ClientAdapter {
  if (!isOneRedis(client)) {
    throw new SurfaceError(
      "INVALID_OPTION",
      `Cannot use a client for redis(): it is none of "ioredis" or "redis" for one Redis; pass new Redis(url) or createClient({ url })`,
    );
  }
  const isNodeRedis = "isReady" in client;
  return {
    // A client of ioredis with "lazyConnect" waits for its first command.
    isReady: () => (isNodeRedis ? client.isReady : client.status === "ready" || client.status === "wait"),
    send: ([command = "", ...args]) =>
      isNodeRedis ? client.sendCommand([command, ...args]) : client.call(command, args),
    subscribe(channel, listener) {
      const duplicate = duplicateOf(client);
      const receive = (text: unknown): void => listener.text(String(text));
      duplicate.on("error", listener.error);
      duplicate.on("message", (_channel, text) => receive(text));
      duplicate.on("ready", () => {
        // A client of redis has subscribed again before it is ready: then this resolves at once, and adds nothing.
        const subscribed = isNodeRedis ? duplicate.subscribe(channel, receive) : duplicate.subscribe(channel);
        void subscribed.then(() => listener.subscribed(), listener.error);
      });
      duplicate.connect().catch(listener.error);
      return () => {
        if (!isNodeRedis) duplicate.disconnect();
        else if (duplicate.isOpen === true) duplicate.destroy();
      };
    },
    onError(listener) {
      toAny(client).on("error", listener);
      return () => void toAny(client).off("error", listener);
    },
  };
}
