import { rpcCodes, type RpcAnswer } from "../../../src/mcp/protocol.ts";

/** A JSON-RPC message as an object. */
export type RpcMessage = Readonly<Record<string, unknown>>;

/** State of a request: given to the SDK, in its handler, answered by the handler with an error, or with `-32002`. */
type Progress = "handed" | "taken" | "told" | "legacyNotFound";

/** The codes of errors in which the SDK quotes a schema error or a thrown one. */
const speaking: ReadonlySet<unknown> = new Set([rpcCodes.invalidParams, rpcCodes.internal]);

/**
 * Maps the SDK's errors to ours. The SDK quotes its own validator, under a code that blames the server, when it refuses params;
 * and it has the code of 2026-07-28 for a resource that does not exist in both eras. One for each connection.
 */
export class SdkErrors {
  readonly #requests = new Map<unknown, Progress>();

  /** Takes every message to the SDK, before the SDK. */
  handed({ id, method, params }: RpcMessage): void {
    if (id !== undefined) this.#requests.set(id, "handed");
    // A cancelled request gets no answer, which would remove its id.
    else if (method === "notifications/cancelled") this.#requests.delete(Reflect.get(Object(params), "requestId"));
  }

  /** Takes the request that a handler was called for. */
  taken(id: unknown, signal: AbortSignal): void {
    this.#move(id, signal, "taken");
  }

  /** Takes the answer of a handler. */
  told(id: unknown, signal: AbortSignal, answer: RpcAnswer): void {
    if (answer.kind === "error")
      this.#move(id, signal, answer.code === rpcCodes.legacyResourceNotFound ? "legacyNotFound" : "told");
  }

  /** Returns a message of the SDK with its error mapped. */
  toClient(message: RpcMessage): RpcMessage {
    const { id, error } = message;
    if ("method" in message) return message;
    const progress = this.#requests.get(id);
    this.#requests.delete(id);
    if (typeof error !== "object" || error === null) return message;
    if (progress === "legacyNotFound")
      return { ...message, error: { ...error, code: rpcCodes.legacyResourceNotFound } };
    if (progress !== "handed" || !speaking.has(Reflect.get(error, "code"))) return message;
    return { ...message, error: { code: rpcCodes.invalidParams, message: "Invalid params" } };
  }

  /** The id of a cancelled request may belong to another request. */
  #move(id: unknown, signal: AbortSignal, progress: Progress): void {
    if (!signal.aborted && this.#requests.has(id)) this.#requests.set(id, progress);
  }
}
