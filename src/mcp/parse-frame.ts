import type { JsonObject } from "type-fest";
import type { FrameError } from "./frame-error.ts";
import { toFrameError } from "./frame-error.ts";
import type { FrameLimits } from "./limits.ts";
import { measureFrame } from "./measure-frame.ts";
import type { RequestId } from "./request-id.ts";
import { isRequestId } from "./request-id.ts";
import { scanEnvelope } from "./scan-envelope.ts";
import { ownParam } from "./own-param.ts";

/** A message that is owed exactly one answer, under its `id`. */
export interface RequestFrame {
  readonly kind: "request";
  readonly id: RequestId;
  readonly method: string;
  /** Handed to code of authors, which may change it. */
  readonly params: JsonObject | undefined;
  /** The frame as it came. */
  readonly text?: string;
}

/** A message without an id: it is acted upon or dropped, and never answered. */
export interface NotificationFrame {
  readonly kind: "notification";
  readonly method: string;
  readonly params: JsonObject | undefined;
}

/** What somebody answers to something that we asked. */
export interface ResponseFrame {
  readonly kind: "response";
  /** As it came. */
  readonly id: unknown;
  /** Left out, as the error is, where it was too large to be read. */
  readonly result?: unknown;
  readonly error?: unknown;
}

/**
 * One frame, judged. A `response` answers something that we asked. A `blank` frame holds whitespace only. An `ignored`
 * one is a notification with bad params: JSON-RPC allows no answer to a notification, not even an error.
 */
export type ParsedFrame =
  | RequestFrame
  | NotificationFrame
  | FrameError
  | ResponseFrame
  | { readonly kind: "blank" }
  | { readonly kind: "ignored" };

/**
 * Reads one frame as a JSON-RPC 2.0 message of MCP: one object, params an object, no batches. Never throws; whatever
 * is wrong comes back as `error`, with the sender's id where one can be echoed.
 *
 * Depth and number of elements are bounded before `JSON.parse` runs; bytes are the framing's business. Only own
 * properties count, and of duplicate keys the last. Without a `method`, `result` or `error` make the frame a response
 * even when its id is unusable: if both peers answered responses with errors, the exchange would never end. A frame with
 * a `method` and a `result` or `error` is refused, because a proxy that looks for `result` first reads it as a response.
 */
export function parseFrame(text: string, limits: FrameLimits): ParsedFrame {
  const first = text.charCodeAt(0) === OPEN_BRACE ? "{" : firstMark(text);
  if (first === "") return { kind: "blank" };
  if (first === "{" || first === "[") {
    const measure = measureFrame(text, limits);
    if (measure !== "ok") return refuseUnparsed(text, first, measure);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return toFrameError("not-json");
  }
  if (Array.isArray(value)) return toFrameError("batch");
  return isObject(value) ? readMessage(value, text) : toFrameError("not-an-object");
}

const OPEN_BRACE = 0x7b;

/** The first character that is not JSON whitespace; empty when there is none. */
function firstMark(text: string): string {
  return /[^ \t\r\n]/.exec(text)?.[0] ?? "";
}

/** A refusal of what is too large to be parsed: under its id, since somebody waits for that. */
function refuseUnparsed(text: string, first: "{" | "[", fault: "too-deep" | "too-many-elements"): ParsedFrame {
  if (first === "[") return toFrameError(fault === "too-deep" ? fault : "batch");
  const { id, isResponse } = scanEnvelope(text);
  return isResponse ? { kind: "response", id } : toFrameError(fault, id);
}

function readMessage(message: Readonly<Record<string, unknown>>, text: string): ParsedFrame {
  if (ownParam(message, "jsonrpc") !== "2.0") return toFrameError("bad-version");
  const id = ownParam(message, "id");
  const method = ownParam(message, "method");
  const isResponse = Object.hasOwn(message, "result") || Object.hasOwn(message, "error");
  if (method === undefined && isResponse) {
    return { kind: "response", id, result: ownParam(message, "result"), error: ownParam(message, "error") };
  }
  if (id !== undefined && !isSentId(id, text)) return toFrameError("bad-id");
  if (isResponse) return toFrameError("request-and-response", id ?? null);
  return readCall(message, id, text);
}

function readCall(message: Readonly<Record<string, unknown>>, id: RequestId | undefined, text: string): ParsedFrame {
  const method = ownParam(message, "method");
  const params = ownParam(message, "params");
  if (typeof method !== "string") return toFrameError("bad-method", id ?? null);
  if (params !== undefined && !isObject(params)) {
    return id === undefined ? { kind: "ignored" } : toFrameError("bad-params", id);
  }
  return id === undefined ? { kind: "notification", method, params } : { kind: "request", id, method, params, text };
}

/** Whether an id can be echoed. `1e-400` parses as 0 as well: only the text tells the two apart. */
function isSentId(id: unknown, text: string): id is RequestId {
  return isRequestId(id) && (id !== 0 || scanEnvelope(text).id === 0);
}

/** An object out of `JSON.parse` holds JSON values by construction. */
function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
