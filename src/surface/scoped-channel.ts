import { OwnedIterator } from "../spine/owned-iterator.ts";
import type { Scope } from "../spine/scope.ts";
import type { SurfaceChannel } from "./channel.ts";
import { toChannel, toPort } from "./channel-port.ts";

/** A channel that ends with a scope: watches end, new uses are refused; a call under way goes on to its end. */
export function createScopedChannel(inner: SurfaceChannel, scope: Scope): SurfaceChannel {
  const port = toPort(inner);
  const refuse = async (): Promise<never> => {
    throw scope.createClosed();
  };
  return toChannel({
    // Not asynchronous itself: a use costs nothing more than the promise of its owner.
    ask: (use) => (scope.closed ? refuse() : port.ask(use)),
    follow(use) {
      scope.assertOpen();
      // Asked now, so that what is closed says so at once, as this does itself. Nothing runs until it is iterated over.
      const values = port.follow(use);
      return new OwnedIterator({ open: () => values, scope, signal: use.options.signal });
    },
  });
}
