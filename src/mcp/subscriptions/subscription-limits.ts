import { rpcCodes, toRpcError, type RpcError } from "../protocol.ts";

/** How many subscriptions of the modern era one connection may have open. */
export const maxListens = 64;

/** How many URIs one connection may watch, over all its subscriptions. */
export const maxUris = 1024;

/** How long a client waits at most to hear that it is subscribed, in milliseconds: the backend may be away. */
export const openPatienceMs = 1000;

/** The answer for what would be more than these. */
export const tooManySubscriptions: RpcError = toRpcError(rpcCodes.busy, "Server busy: too many subscriptions are open");
