import { Refusal } from "surface-mcp";

import { CiError } from "./engine/errors.ts";

/**
 * Runs `work`, and says its "no" aloud: a {@link CiError} becomes a `Refusal`, which reaches the agent with its code and
 * message. Every other error stays what it is, and is masked on its way.
 */
export function refuseCiErrors<TResult>(work: () => TResult): TResult {
  try {
    return work();
  } catch (error) {
    return rethrowAsRefusal(error);
  }
}

/** The same for what failed later: the argument of a promise's `catch`. */
export function rethrowAsRefusal(error: unknown): never {
  if (error instanceof CiError) throw new Refusal(error.code, error.message);
  throw error;
}
