import { rpcCodes, toRpcError, type Era, type RpcError } from "./protocol.ts";

/** The answer for a URI under which there is nothing: unknown, not exposed and malformed alike. */
export function toNotFound(uri: string, era: Era): RpcError {
  const code = era === "modern" ? rpcCodes.invalidParams : rpcCodes.legacyResourceNotFound;
  const shown = uri.length <= 256 ? { uri } : undefined;
  return toRpcError(code, "Resource not found", shown);
}
