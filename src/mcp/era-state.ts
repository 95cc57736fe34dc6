import type { JsonObject } from "../schema/json.ts";
import { checkEnvelope, checkInitialize, claimsModern, missingEnvelope, unsupportedVersion } from "./envelope.ts";
import { rpcCodes, toRpcError, type Era, type RpcError } from "./protocol.ts";
import type { RequestId } from "./request-id.ts";

/** What a connection has agreed on. `probed`: a modern client asked who is there, and may still fall back. */
type State = "opening" | "probed" | "modern" | "initialising" | "legacy";

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
  readonly id: RequestId;
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

  /** Whether the handshake is under way: what comes after it waits for its answer. */
  get initialising(): boolean {
    return this.#state === "initialising";
  }

  /** Whether the handshake came, answered or not. Only the legacy era has notifications besides cancellation. */
  get isLegacy(): boolean {
    return this.#state === "legacy" || this.#state === "initialising";
  }

  /** The era in which a request is served, or why it is not. Moves the state on. */
  admit(request: OpeningRequest): Era | RpcError {
    if (this.isLegacy) return this.#admitLegacy(request);
    if (claimsModern(request.params)) return this.#admitModern(request);
    if (request.method === "initialize") return this.#admitInitialize(request);
    // A ping is answered before the handshake, and decides nothing.
    if (this.#state === "opening") return request.method === "ping" ? "legacy" : notInitialised;
    return missingEnvelope;
  }

  /** The handshake was answered. */
  initialised(id: RequestId, succeeded: boolean): void {
    if (this.#state !== "initialising" || id !== this.#initializeId) return;
    this.#state = succeeded ? "legacy" : "opening";
  }

  /** Whether this id is the handshake's. Cancelling it, which the protocol forbids, only makes room for another one. */
  cancelInitialize(id: unknown): boolean {
    if (this.#initializeId === undefined || id !== this.#initializeId) return false;
    this.#mayInitialiseAgain = true;
    return true;
  }

  #admitLegacy(request: OpeningRequest): Era | RpcError {
    if (request.method !== "initialize") {
      return this.#state === "legacy" || request.method === "ping" ? "legacy" : notInitialised;
    }
    return this.#mayInitialiseAgain ? this.#admitInitialize(request) : alreadyInitialised;
  }

  #admitInitialize({ id, params }: OpeningRequest): Era | RpcError {
    if (this.#state === "modern") {
      const requested = params?.["protocolVersion"];
      return unsupportedVersion(typeof requested === "string" ? requested : "unknown");
    }
    const wrong = checkInitialize(params);
    if (wrong !== undefined) return wrong;
    this.#state = "initialising";
    this.#initializeId = id;
    this.#mayInitialiseAgain = false;
    return "legacy";
  }

  #admitModern({ method, params }: OpeningRequest): Era | RpcError {
    const wrong = checkEnvelope(params);
    if (wrong !== undefined) return wrong;
    if (method !== "server/discover") this.#state = "modern";
    else if (this.#state === "opening") this.#state = "probed";
    return "modern";
  }
}
