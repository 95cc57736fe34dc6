import { OwnedIterator } from "../spine/owned-iterator.ts";
import type { Scope } from "../spine/scope.ts";
import type { SurfaceChannel } from "./channel.ts";

/** A channel that ends with a scope: subscriptions end, new operations are refused; a call under way goes on to its end. */
export function createScopedChannel(inner: SurfaceChannel, scope: Scope): SurfaceChannel {
  return {
    request(operation) {
      scope.assertOpen();
      return inner.request(operation);
    },
    subscribe(operation) {
      scope.assertOpen();
      // Subscribed now, so that a closed surface says so at once. Nothing runs until the first `next()`.
      const values = inner.subscribe(operation);
      return new OwnedIterator({ open: () => values, scope, signal: operation.options.signal });
    },
  };
}
