import type { ClientPort } from "../call/asker.ts";
import { clientKinds } from "../mcp/asking/ask-protocol.ts";
import { PushedAsks, type SendAsk } from "../mcp/asking/pushed-asks.ts";
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
import type { AppRuntime } from "../mcp/servable-app.ts";
import { anything, outerTimeoutMs, type V1Extra, type V1Port } from "./v1-port.ts";

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
function toResponse(id: string, result: unknown, limits: FrameLimits): ResponseFrame {
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

/** A question, or the notification that one is given up. */
interface SentAsk {
  readonly id?: string;
  readonly method: string;
  readonly params?: { readonly requestId?: string; readonly reason?: string };
}

type SendRequest = (request: object, signal: AbortSignal) => Promise<unknown>;

/** Returns the code of the client's error. Its message is the client's own and is not handed on. */
function toError(cause: unknown): object {
  const code: unknown = typeof cause === "object" && cause !== null ? Reflect.get(cause, "code") : undefined;
  return Number.isSafeInteger(code) ? { code } : {};
}

/** The questions to the client of one server. The SDK chooses the ids and matches the answers. */
export class V1Questions extends PushedAsks {
  readonly #limits: FrameLimits;
  /** Ends the requests of the SDK, by our ids. */
  readonly #waiting = new Map<string, AbortController>();

  constructor(port: V1Port, { limits, report }: Pick<AppRuntime, "limits" | "report">) {
    super({
      kinds: () => clientKinds(port.clientCapabilities),
      send: (json, onDropped) => this.#sendBy((request, signal) => port.request(request, signal))(json, onDropped),
      report,
    });
    this.#limits = limits;
  }

  /** Returns the port of one call: its questions go where its request came from. */
  portTo(extra: V1Extra): ClientPort {
    return this.portFor(
      this.#sendBy((request, signal) => extra.sendRequest(request, anything, { timeout: outerTimeoutMs, signal })),
    );
  }

  #sendBy(send: SendRequest): SendAsk {
    return (json) => {
      // Ours.
      const { id, method, params } = JSON.parse(json) as SentAsk;
      if (id === undefined) return this.#waiting.get(params?.requestId ?? "")?.abort(params?.reason);
      void this.#ask(id, (signal) => send(params === undefined ? { method } : { method, params }, signal));
    };
  }

  async #ask(id: string, send: (signal: AbortSignal) => Promise<unknown>): Promise<void> {
    const controller = new AbortController();
    this.#waiting.set(id, controller);
    try {
      this.answer(toResponse(id, await send(controller.signal), this.#limits));
    } catch (cause) {
      this.answer({ kind: "response", id, error: toError(cause) });
    } finally {
      this.#waiting.delete(id);
    }
  }
}
