import {
  parseFrame,
  toFrameError,
  type FrameError,
  type FrameLimits,
  type RequestFrame,
  type ResponseFrame,
} from "../mcp/parse-frame.ts";
import type { RpcResult } from "../mcp/protocol.ts";
import type { V1Asked } from "./v1-extra.ts";

/** A message as the text of a frame; `undefined` where it is nested so deep that nobody could write it. */
function write(message: object): string | undefined {
  try {
    return JSON.stringify({ jsonrpc: "2.0", ...message });
  } catch {
    return undefined;
  }
}

/**
 * A request that the SDK has read, judged as the same frame would be anywhere else: the SDK reads whatever is JSON, however
 * deep and large. Never throws.
 */
export function toFrame({ method, params, extra }: V1Asked, limits: FrameLimits): RequestFrame | FrameError {
  const text = write({ id: extra.requestId, method, params });
  if (text === undefined) return toFrameError("too-deep");
  if (Buffer.byteLength(text) > limits.maxBytes) return toFrameError("too-large");
  const frame = parseFrame(text, limits);
  return frame.kind === "request" || frame.kind === "error" ? frame : toFrameError("bad-id");
}

/** The same of what its client has answered to a question of ours: what is too large is no answer. Never throws. */
export function toResponse(id: string, result: unknown, limits: FrameLimits): ResponseFrame {
  const text = write({ id, result });
  const isRead = text !== undefined && Buffer.byteLength(text) <= limits.maxBytes;
  const frame = isRead ? parseFrame(text, limits) : undefined;
  return frame?.kind === "response" ? frame : { kind: "response", id };
}

/** An answer as the SDK takes it. */
export function toResult({ body, meta }: RpcResult): object {
  const members = [body, meta === "" ? "" : `"_meta":{${meta}}`].filter((part) => part !== "");
  // The braces make it an object.
  return JSON.parse(`{${members.join(",")}}`) as object;
}
