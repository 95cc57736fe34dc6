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

/** The members of a duplicate that are used. */
interface Duplicate {
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

function has(client: object, ...methods: readonly string[]): boolean {
  return methods.every((name) => isFunction(Reflect.get(client, name)));
}

/**
 * Reads the package of a client from its shape.
 *
 * @throws SurfaceError `INVALID_OPTION`.
 */
export function adaptClient(client: RedisClient): ClientAdapter {
  if (isObject(client) && Reflect.get(client, "isCluster") !== true && has(client, "duplicate", "on")) {
    if ("status" in client && has(client, "call")) return adaptIoredis(client);
    if ("isReady" in client && has(client, "sendCommand", "connect")) return adaptNodeRedis(client);
  }
  throw new SurfaceError(
    "INVALID_OPTION",
    `Cannot use a client for redis(): it is none of "ioredis" or "redis" for one Redis; pass new Redis(url) or createClient({ url })`,
  );
}

function toDuplicate(duplicate: object): Duplicate {
  // The shape of the client was checked, and a duplicate is of its class.
  return duplicate as Duplicate;
}

function listenForErrors(client: object, listener: (cause: unknown) => void): () => void {
  const emitter = toDuplicate(client);
  emitter.on("error", listener);
  return () => void emitter.off("error", listener);
}

/** Connects a duplicate, which subscribes with each connection. */
function connect(duplicate: Duplicate, listener: SubscriberListener, subscribe: () => Promise<unknown>): void {
  duplicate.on("error", listener.error);
  duplicate.on("ready", () => void subscribe().then(() => listener.subscribed(), listener.error));
  duplicate.connect().catch(listener.error);
}

function adaptIoredis(client: IoredisClient): ClientAdapter {
  return {
    // A client with "lazyConnect" waits for its first command.
    isReady: () => client.status === "ready" || client.status === "wait",
    send: ([command = "", ...args]) => client.call(command, args),
    subscribe(channel, listener) {
      const options = {
        lazyConnect: true,
        autoResubscribe: false,
        enableOfflineQueue: true,
        retryStrategy: retryDelayMs,
      };
      const duplicate = toDuplicate(client.duplicate(options));
      duplicate.on("message", (_channel, text) => listener.text(String(text)));
      connect(duplicate, listener, () => duplicate.subscribe(channel));
      return () => void duplicate.disconnect();
    },
    onError: (listener) => listenForErrors(client, listener),
  };
}

function adaptNodeRedis(client: NodeRedisClient): ClientAdapter {
  return {
    isReady: () => client.isReady,
    send: (args) => client.sendCommand(args),
    subscribe(channel, listener) {
      const options: unknown = Reflect.get(client, "options");
      const socket: unknown = isObject(options) ? Reflect.get(options, "socket") : undefined;
      const duplicate = toDuplicate(
        client.duplicate({
          disableOfflineQueue: false,
          socket: { ...(isObject(socket) && socket), reconnectStrategy: retryDelayMs },
        }),
      );
      const receive = (text: unknown): void => listener.text(String(text));
      // The client subscribes again before it says that it is ready: then this resolves at once, and adds nothing.
      connect(duplicate, listener, () => duplicate.subscribe(channel, receive));
      return () => {
        if (duplicate.isOpen === true) duplicate.destroy();
      };
    },
    onError: (listener) => listenForErrors(client, listener),
  };
}
