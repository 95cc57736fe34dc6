import { levelsOf, markAt, measureFrame, QUOTE, skipString, SPACE } from "../json-rpc/scan.ts";
import { isJsonObject, type JsonObject } from "../schema/json.ts";
import { isRequestId, ownParam, rpcCodes, type RequestId, type RpcError } from "./protocol.ts";

/** A request, which gets one answer. */
export interface RequestFrame {
  readonly kind: "request";
  readonly id: RequestId;
  readonly method: string;
  /** Handlers may change them. */
  readonly params: JsonObject | undefined;
  /** The frame as it came. */
  readonly text?: string;
}

/** A notification, which is never answered. */
export interface NotificationFrame {
  readonly kind: "notification";
  readonly method: string;
  readonly params: JsonObject | undefined;
}

/** The response of a client to a request of the server. */
export interface ResponseFrame {
  readonly kind: "response";
  /** As it came. */
  readonly id: unknown;
  /** Left out, as the error is, if the frame was too large. */
  readonly result?: unknown;
  readonly error?: unknown;
}

/** A parsed frame. `blank`: only whitespace. `ignored`: a notification with bad params, which JSON-RPC allows no answer to. */
export type ParsedFrame =
  | RequestFrame
  | NotificationFrame
  | FrameError
  | ResponseFrame
  | { readonly kind: "blank" }
  | { readonly kind: "ignored" };

/**
 * Reads one frame as a JSON-RPC 2.0 message of MCP: one object, params an object, no batches. Never throws. Depth and elements are
 * bounded before `JSON.parse` runs.
 *
 * A frame with `result` or `error` is a response also if its id is unusable: two peers that answer responses with errors would
 * never end. One that has a `method` too is refused, because a proxy may take it for a response.
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
  return isJsonObject(value) ? readMessage(value, text) : toFrameError("not-an-object");
}

const OPEN_BRACE = 0x7b;

function firstMark(text: string): string {
  return /[^ \t\r\n]/.exec(text)?.[0] ?? "";
}

/** Returns the error for a frame that is too large to parse, under its id, since the client waits for that. */
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
  if (params !== undefined && !isJsonObject(params)) {
    return id === undefined ? { kind: "ignored" } : toFrameError("bad-params", id);
  }
  return id === undefined ? { kind: "notification", method, params } : { kind: "request", id, method, params, text };
}

/** Returns whether an id can be echoed. `1e-400` parses as 0 as well: only the text tells the two apart. */
function isSentId(id: unknown, text: string): id is RequestId {
  return isRequestId(id) && (id !== 0 || scanEnvelope(text).id === 0);
}

/** The envelope of a message that was not parsed. */
interface EnvelopeScan {
  /** The last id at the top level; `null` if none can be echoed. */
  readonly id: RequestId | null;
  readonly isResponse: boolean;
}

/** The longest key of an envelope: each letter written as an escape of six characters, and its quotes. */
const MAX_KEY = 6 * "method".length + 2;
/** The longest id: 1 KiB, written the same way. */
const MAX_ID = 6 * 1024 + 2;

/**
 * Finds the id of a message that is too large to parse, in one pass: clients write the id first or last. The text need not be JSON,
 * so the work for each key is small: only the last id is read.
 */
export function scanEnvelope(text: string): EnvelopeScan {
  let idAt: number | undefined;
  let isCall = false;
  let isAnswer = false;
  for (const [key, valueAt] of topLevelKeys(text)) {
    if (key === "id") idAt = valueAt;
    else if (key === "method") isCall = true;
    else if (key === "result" || key === "error") isAnswer = true;
  }
  return { id: idAt === undefined ? null : readId(text, idAt), isResponse: isAnswer && !isCall };
}

/** Yields the short keys of the outermost object, with the index at which each value starts. */
function* topLevelKeys(text: string): Generator<readonly [key: string, valueAt: number]> {
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const mark = markAt(text, at);
    depth += levelsOf(mark);
    if (mark !== QUOTE) continue;
    const end = skipString(text, at);
    const valueAt = depth === 1 ? findValue(text, end + 1) : undefined;
    if (valueAt !== undefined && end - at < MAX_KEY) yield [readKey(text.slice(at + 1, end)), valueAt];
    at = end;
  }
}

/** Decodes escaped letters. Other escapes stay, since no key of an envelope has them: `JSON.parse` takes 10 µs to throw. */
function readKey(raw: string): string {
  if (!raw.includes("\\")) return raw;
  return raw.replaceAll(/\\u(00[67][\da-fA-F])/g, (_, hex: string) => String.fromCodePoint(Number.parseInt(hex, 16)));
}

/** Returns the start of the value if the string that ends before `from` is a key, so if a colon follows it. */
function findValue(text: string, from: number): number | undefined {
  const colon = skipSpace(text, from);
  return text[colon] === ":" ? skipSpace(text, colon + 1) : undefined;
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && markAt(text, at) === SPACE) at += 1;
  return at;
}

function readId(text: string, at: number): RequestId | null {
  const head = text.slice(at, at + MAX_ID);
  const token = head.startsWith('"') ? head.slice(0, skipString(head, 0) + 1) : (/^[^\s,}]*/.exec(head)?.[0] ?? "");
  let id: unknown;
  try {
    id = JSON.parse(token);
  } catch {
    return null;
  }
  // A number too small for a double reads as 0, and could not be echoed.
  const isUnderflow = id === 0 && !/^-?0*\.?0*(?:e|$)/i.test(token);
  return isRequestId(id) && !isUnderflow ? id : null;
}

/** A frame that is answered with a JSON-RPC error and never executed. */
export interface FrameError extends RpcError {
  /** `null` if the frame has no id that can be echoed. */
  readonly id: RequestId | null;
}

/** Messages by fault: fixed texts, which never quote the frame. */
const faults = {
  "not-utf8": "Parse error: the frame is not valid UTF-8",
  "not-json": "Parse error: the frame is not valid JSON",
  "too-large": "Invalid request: the frame is larger than this server accepts",
  "too-deep": "Invalid request: the frame is nested deeper than this server accepts",
  "too-many-elements": "Invalid params: the frame has more elements than this server accepts",
  batch: "Invalid request: expected one object, got an array (batches are not supported)",
  "not-an-object": "Invalid request: expected one JSON object",
  "bad-version": 'Invalid request: "jsonrpc" must be "2.0"',
  "bad-id": 'Invalid request: "id" must be a safe integer or a string of at most 1024 bytes',
  "bad-method": 'Invalid request: "method" must be a string',
  "request-and-response": 'Invalid request: a message with "method" must have neither "result" nor "error"',
  "bad-params": 'Invalid params: "params" must be an object',
} as const;

/** A fault of a frame that is found before its method is looked at. */
export type FrameFault = keyof typeof faults;

const codes: readonly (readonly [start: string, code: number])[] = [
  ["Parse error", rpcCodes.parse],
  ["Invalid request", rpcCodes.invalidRequest],
  ["Invalid params", rpcCodes.invalidParams],
];

/** Returns the answer to a faulty frame: under the id of the sender, or `null`, as JSON-RPC 2.0 section 5 asks. */
export function toFrameError(fault: FrameFault, id: RequestId | null = null): FrameError {
  const message = faults[fault];
  const [, code = rpcCodes.invalidRequest] = codes.find(([start]) => message.startsWith(start)) ?? [];
  return { kind: "error", id, code, message };
}

/** The maximum size of one incoming message. The same numbers hold for every transport, so that all of them refuse the same messages. */
export interface FrameLimits {
  /** Bytes of one message as it travels, without the line end. */
  readonly maxBytes: number;
  /** Objects and arrays inside each other; `{}` has depth 1. */
  readonly maxDepth: number;
  /** Array items and object properties of the whole message, counted together at every level. */
  readonly maxElements: number;
}

/**
 * The limits in force, on every transport: 4 MiB, depth 64, 10,000 elements.
 *
 * 4 MiB is the body limit the MCP SDK 2.x uses over HTTP. Depth 64 is far above any tool input seen and far below the
 * recursion any schema library survives (CWE-674). The element cap answers GHSA-46jr-4wx8-v453: inside 4 MiB a
 * validator can still be made to build a million issue objects (1.17 GB and 4 s; 124 MB and 0.1 s with this cap).
 */
export const defaultFrameLimits: FrameLimits = { maxBytes: 4 * 1024 * 1024, maxDepth: 64, maxElements: 10_000 };
