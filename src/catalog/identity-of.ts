import type { Caller } from "./caller.ts";

/** Written once a caller: there is one for each token, and many requests come with it. */
const known = new WeakMap<Caller, string>();

/**
 * A text for all that a handler can tell a caller by, which nobody who differs in any of it shares: one principal may come
 * with tokens that were granted different things. When a token ends is left out, so that a new one is no other caller.
 */
export function identityOf(caller: Caller): string {
  const found = known.get(caller);
  if (found !== undefined) return found;
  const { id, isAnonymous, isTool, scopes, clientId, resources, view, claims } = caller;
  const identity = JSON.stringify([id, isAnonymous, isTool, scopes, clientId, resources, view, claims]);
  known.set(caller, identity);
  return identity;
}
