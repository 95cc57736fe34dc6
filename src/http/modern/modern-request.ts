import { logLevelOf, progressTokenOf } from "../../mcp/envelope.ts";
import type { RequestFrame } from "../../mcp/parse-frame.ts";
import type { RpcError } from "../../mcp/protocol.ts";
import { acceptsType } from "../head/media-type.ts";
import type { HttpPost } from "../leg.ts";
import type { Answering } from "./exchange.ts";

/** A request of the modern era, with what it says of how it wants to be answered. */
export interface ModernRequest extends HttpPost {
  readonly frame: RequestFrame;
  /** Under which progress is reported; left out where none is wanted, or could not be read. */
  readonly token: string | number | undefined;
  readonly answering: Answering;
  /** Whether its client reads streams. */
  readonly isStreamable: boolean;
}

/** Reads what a request says of how it wants to be answered, or says what is wrong with it. */
export function readModernRequest(post: HttpPost, frame: RequestFrame): ModernRequest | RpcError {
  const asked = progressTokenOf(frame.params);
  if (typeof asked === "object") return asked;
  const isStreamable = acceptsType(post.request.header("accept"), "text/event-stream");
  const token = isStreamable ? asked : undefined;
  const hears = isStreamable && logLevelOf(frame.params) !== undefined;
  // Who asks for the log of a call, and for no progress, is told of it as it happens too; else there is one piece.
  const answering = token === undefined ? (hears ? "either" : "json") : "stream";
  const { request, reply, caller, bytes } = post;
  return { request, reply, caller, bytes, frame, token, answering, isStreamable };
}
