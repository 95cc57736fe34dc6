import { rpcCodes, toRpcError, type RpcError } from "../mcp/protocol.ts";
import type { Refusal } from "./respond.ts";

/** Why a request is not served, and the status it is told with. */
export interface HttpRefusal extends Refusal {
  readonly error: RpcError;
}

/** Makes the refusal of a request whose HTTP is not what is served here, before any message of it is looked at. */
export function refuseRequest(
  status: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): HttpRefusal {
  return Object.freeze({ status, headers, error: toRpcError(rpcCodes.invalidRequest, `Invalid request: ${message}`) });
}

/** Makes the refusal of headers that say something else than the body, or nothing that could be compared with it. */
export function refuseHeader(message: string): HttpRefusal {
  return Object.freeze({ status: 400, error: toRpcError(rpcCodes.headerMismatch, `Header mismatch: ${message}`) });
}
