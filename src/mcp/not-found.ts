import { rpcCodes, toRpcError, type Era, type RpcError } from "./protocol.ts";

function toCode(era: Era): number {
  return era === "modern" ? rpcCodes.invalidParams : rpcCodes.legacyResourceNotFound;
}

/** The URI, for the answer's data, unless it is of a length that no resource's is. */
function shown(uri: string): { readonly uri?: string } {
  return uri.length <= 256 ? { uri } : {};
}

/** The answer for a URI that names nothing: unknown, not exposed and malformed alike. */
export function toNotFound(uri: string, era: Era): RpcError {
  const data = shown(uri);
  return toRpcError(toCode(era), "Resource not found", data.uri === undefined ? undefined : data);
}

/** The answer for a URI that fits an exposed template, and has nothing under it now. */
export function toAbsent(uri: string, era: Era): RpcError {
  return toRpcError(toCode(era), "There is nothing under this URI now", { code: "ABSENT", ...shown(uri) });
}
