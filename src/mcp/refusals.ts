import { rpcCodes, toRpcError, toRpcResult, type RpcError, type RpcResult } from "./protocol.ts";

/** The error for a request whose id belongs to a request that still runs. */
export const duplicateId: RpcError = toRpcError(
  rpcCodes.invalidRequest,
  "Invalid request: a request with this id is still running",
);

/** The error for a request that has no room in its queue. */
export const busy: RpcError = toRpcError(rpcCodes.busy, "Server busy: too many requests are in flight");

/** The error for a request to a server that is closing. */
export const closing: RpcError = toRpcError(rpcCodes.busy, "Server busy: it is closing");

/** The error for a method that the app or the era does not have. */
export const unknownMethod: RpcError = toRpcError(rpcCodes.methodNotFound, "Method not found");

/** The error for a session that does not exist, or that belongs to another caller. */
export const sessionNotFound: RpcError = toRpcError(rpcCodes.sessionNotFound, "Session not found");

/** The result without members. */
export const emptyResult: RpcResult = toRpcResult("");
