import { SurfaceError } from "../errors.ts";
import { internalError, type FaultReporter } from "../surface/fault.ts";
import { rpcCodes, type RpcAnswer } from "./protocol.ts";
import type { RpcMessage } from "./sdk-port.ts";

/**
 * How far a request has come: handed to the SDK, taken by our handler, answered by that with an error, or with the legacy
 * code for a resource that does not exist.
 */
type Progress = "handed" | "taken" | "told" | "legacyNotFound";

/** The codes under which the SDK shows what its own schemas, or whatever was thrown, have said. */
const speaking: ReadonlySet<unknown> = new Set([rpcCodes.invalidParams, rpcCodes.internal]);

/**
 * The errors that the SDK answers with, as clients of the hot path see them. It quotes its own validator, which may quote
 * what was sent, under a code that says that the server is to blame; and it never emits `-32002`, for which it has the code
 * of 2026-07-28 in both eras. One for each connection.
 */
export class SdkErrors {
  readonly #requests = new Map<unknown, Progress>();
  readonly #report: FaultReporter;

  constructor(report: FaultReporter) {
    this.#report = report;
  }

  /** Told of every message to the SDK, before that is. */
  handed(message: RpcMessage): void {
    const { id, method, params } = message;
    if (id !== undefined) this.#requests.set(id, "handed");
    // To who cancelled nothing is sent, so nothing would take the id out again.
    else if (method === "notifications/cancelled") this.#requests.delete(Reflect.get(Object(params), "requestId"));
  }

  /** Told when a request has come to its handler. */
  taken(id: unknown, signal: AbortSignal): void {
    this.#move(id, signal, "taken");
  }

  /** Told what a handler answers with. */
  told(id: unknown, signal: AbortSignal, answer: RpcAnswer): void {
    if (answer.kind === "error")
      this.#move(id, signal, answer.code === rpcCodes.legacyResourceNotFound ? "legacyNotFound" : "told");
  }

  /** A message of the SDK, as it may go out. */
  toClient(message: RpcMessage): RpcMessage {
    const { id, error } = message;
    if ("method" in message) return message;
    const progress = this.#requests.get(id);
    this.#requests.delete(id);
    if (typeof error !== "object" || error === null) return message;
    if (progress === "legacyNotFound")
      return { ...message, error: { ...error, code: rpcCodes.legacyResourceNotFound } };
    if (progress === "told" || !speaking.has(Reflect.get(error, "code"))) return message;
    if (progress === "handed")
      return { ...message, error: { code: rpcCodes.invalidParams, message: "Invalid params" } };
    const cause = new SurfaceError("INTERNAL", "Answering through the SDK: it refused the answer", { cause: error });
    const { correlationId } = internalError(cause, "the SDK", this.#report);
    return { ...message, error: { code: rpcCodes.internal, message: "Internal error", data: { correlationId } } };
  }

  /** The id of a request that was cancelled may be that of another one by now. */
  #move(id: unknown, signal: AbortSignal, progress: Progress): void {
    if (!signal.aborted && this.#requests.has(id)) this.#requests.set(id, progress);
  }
}
