import type { RpcError } from "../mcp/protocol.ts";

/**
 * What a handler of the SDK's rejects with to answer with an error: it takes the code, the text and the data of whatever it is.
 * The SDK's own class puts the code before the text, and its client does so again.
 */
export class V1Failure extends Error {
  override readonly name = "V1Failure";
  readonly code: number;
  readonly data: unknown;

  constructor({ code, message, data }: RpcError) {
    super(message);
    this.code = code;
    this.data = data;
  }
}
