import {
  parseFrame,
  toFrameError,
  type FrameError,
  type FrameLimits,
  type ParsedFrame,
  type RequestFrame,
  type ResponseFrame,
} from "../mcp/parse-frame.ts";
import type { RpcError, RpcResult } from "../mcp/protocol.ts";
import type { V1Extra } from "./v1-port.ts";

/** One request, as the server hands it over. */
export interface V1Request {
  readonly method: string;
  readonly params: unknown;
  readonly extra: V1Extra;
}

/** Judges a message that the SDK has read as its frame is judged elsewhere: the SDK reads any JSON, however deep and large. */
function parse(message: object, limits: FrameLimits): ParsedFrame {
  let text: string;
  try {
    text = JSON.stringify({ jsonrpc: "2.0", ...message });
  } catch {
    // Only depth keeps what was read as JSON from being written.
    return toFrameError("too-deep");
  }
  return Buffer.byteLength(text) > limits.maxBytes ? toFrameError("too-large") : parseFrame(text, limits);
}

/** Reads a request. Never throws. */
export function toFrame({ method, params, extra }: V1Request, limits: FrameLimits): RequestFrame | FrameError {
  const frame = parse({ id: extra.requestId, method, params }, limits);
  return frame.kind === "request" || frame.kind === "error" ? frame : toFrameError("bad-id");
}

/** Reads the client's answer to a question. One that is too large is no answer. Never throws. */
export function toResponse(id: string, result: unknown, limits: FrameLimits): ResponseFrame {
  const frame = parse({ id, result }, limits);
  return frame.kind === "response" ? frame : { kind: "response", id };
}

/** Returns an answer as the SDK takes it. */
export function toResult({ body, meta }: RpcResult): object {
  const members = [body, meta === "" ? "" : `"_meta":{${meta}}`].filter((part) => part !== "");
  // The braces make it an object.
  return JSON.parse(`{${members.join(",")}}`) as object;
}

/**
 * The error of an answer. The SDK takes code, message and data of any error that a handler rejects with; its own class would put
 * the code before the message.
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
