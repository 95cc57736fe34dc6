import type { RpcError } from "../mcp/protocol.ts";

/** A request was answered with a JSON-RPC error. */
export class RpcFailure extends Error {
  override readonly name = "RpcFailure";
  /** The JSON-RPC code, for example `-32602`. */
  readonly code: number;
  readonly data: unknown;
  /** All that the caller would have had to be granted; only where that is what was missing. */
  readonly scopes: readonly string[] | undefined;

  constructor({ code, message, data, scopes }: RpcError) {
    super(scopes === undefined ? message : `${message}: this takes ${scopes.join(" ")}`);
    this.code = code;
    this.data = data;
    this.scopes = scopes;
  }
}
