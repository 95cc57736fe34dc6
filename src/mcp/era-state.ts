import type { JsonObject } from "../schema/json.ts";
import { checkEnvelope, checkInitialize, claimsModern, missingEnvelope, unsupportedVersion } from "./envelope.ts";
import { rpcCodes, toRpcError, type Era, type RequestId, type RpcError } from "./protocol.ts";

/** What a connection has agreed on. `probed`: a modern client asked who is there, and may still fall back. */
type State = "opening" | "probed" | "modern" | "legacy";

const notInitialised = toRpcError(
  rpcCodes.invalidRequest,
  "Invalid request: this connection is not initialised; send initialize, or the modern envelope on every request",
);

const alreadyInitialised = toRpcError(
  rpcCodes.invalidRequest,
  "Invalid request: this connection is initialised already",
);

/** What is known of a request when its era is decided. */
export interface OpeningRequest {
  readonly method: string;
  readonly params: JsonObject | undefined;
}

/**
 * Which era a connection speaks. Decided by its first requests and then fixed; a request that does not fit is refused
 * before anything runs.
 */
export class EraState {
  #state: State = "opening";
  #initializeId: RequestId | undefined;
  #mayInitialiseAgain = false;

  /** Whether the handshake succeeded. Only the legacy era has notifications other than cancellation. */
  get isLegacy(): boolean {
    return this.#state === "legacy";
  }

  /** Returns the era of a request, or the error that refuses it. A handshake counts once {@link initialised} is called. */
  admit(request: OpeningRequest): Era | RpcError {
    if (this.isLegacy) return this.#admitLegacy(request);
    if (claimsModern(request.params)) return this.#admitModern(request);
    if (request.method === "initialize") return this.#admitInitialize(request);
    // A ping is answered before the handshake, and decides nothing.
    if (this.#state === "opening") return request.method === "ping" ? "legacy" : notInitialised;
    return missingEnvelope;
  }

  /** Fixes the legacy era: the handshake of this id succeeded. */
  initialised(id: RequestId): void {
    this.#state = "legacy";
    this.#initializeId = id;
    this.#mayInitialiseAgain = false;
  }

  /** Whether this id is the handshake's. Cancelling it, which the protocol forbids, only makes room for another one. */
  cancelInitialize(id: unknown): boolean {
    if (this.#initializeId === undefined || id !== this.#initializeId) return false;
    this.#mayInitialiseAgain = true;
    return true;
  }

  #admitLegacy(request: OpeningRequest): Era | RpcError {
    if (request.method !== "initialize") return "legacy";
    return this.#mayInitialiseAgain ? this.#admitInitialize(request) : alreadyInitialised;
  }

  #admitInitialize({ params }: OpeningRequest): Era | RpcError {
    if (this.#state === "modern") {
      const requested = params?.["protocolVersion"];
      return unsupportedVersion(typeof requested === "string" ? requested : "unknown");
    }
    return checkInitialize(params) ?? "legacy";
  }

  #admitModern({ method, params }: OpeningRequest): Era | RpcError {
    const wrong = checkEnvelope(params);
    if (wrong !== undefined) return wrong;
    if (method !== "server/discover") this.#state = "modern";
    else if (this.#state === "opening") this.#state = "probed";
    return "modern";
  }
}
