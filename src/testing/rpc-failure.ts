import type { RpcError } from "../mcp/protocol.ts";

/** A request was answered with a JSON-RPC error. */
export class RpcFailure extends Error {
  override readonly name = "RpcFailure";
  /** The JSON-RPC code, for example `-32602`. */
  readonly code: number;
  readonly data: unknown;

  constructor({ code, message, data }: RpcError) {
    super(message);
    this.code = code;
    this.data = data;
  }
}
