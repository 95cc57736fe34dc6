import type { Caller } from "../../surface/caller.ts";

/**
 * Goes with a caller wherever they are copied, and is neither listed nor written with them: it is no business of handlers,
 * and nothing that could be sent to a worker.
 */
const kRevoked: unique symbol = Symbol("revoked");

/** A caller whose token may be taken back: the signal fires then. */
export function withRevocation(caller: Caller, revoked: AbortSignal | undefined): Caller {
  return revoked === undefined ? caller : Object.freeze({ ...caller, [kRevoked]: revoked });
}

/** What fires when a caller's token is taken back; `undefined`: nobody says so. */
export function revocationOf(caller: Caller): AbortSignal | undefined {
  const revoked: unknown = Reflect.get(caller, kRevoked);
  return revoked instanceof AbortSignal ? revoked : undefined;
}
