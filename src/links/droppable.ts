import { SurfaceError } from "../errors.ts";
import { OwnedIterator } from "../spine/owned-iterator.ts";
import type { Operation, RequestVerb, SurfaceChannel } from "../surface/channel.ts";
import { memberOf } from "../surface/define-surface.ts";
import { kChannel, kScope, type AnyLiveSurface } from "../surface/implement-surface.ts";
import { RelayedError, isRelayed } from "../surface/relayed.ts";
import { tagOf } from "../tags/tag-of.ts";

/** Creates the error of an operation on a live surface that was closed while its siblings go on. */
export function createDropped(name: string): SurfaceError {
  return new RelayedError("DROPPED", `Cannot use surface "${name}": it was dropped`);
}

/** Returns whether an error says that a live surface of this process closed during an operation. */
export function isClosedDuringUse(cause: unknown): boolean {
  return cause instanceof SurfaceError && (cause.code === "CLOSED" || cause.code === "ABORTED") && !isRelayed(cause);
}

/** Returns whether a request may be sent twice. */
export function isRead(member: Parameters<typeof tagOf>[0] | undefined, operation: Operation<RequestVerb>): boolean {
  if (operation.verb !== "call") return true;
  return operation.options.idempotent ?? (member !== undefined && tagOf(member).effect === "read");
}

/** Returns the channel of a live surface with siblings: once that closes, its operations fail with `DROPPED` or `OUTCOME_UNKNOWN`. */
export function toDroppableChannel({ surface, [kScope]: scope, [kChannel]: channel }: AnyLiveSurface): SurfaceChannel {
  const toCut = (operation: Operation<RequestVerb>): SurfaceError => {
    const { member: key } = operation;
    if (isRead(memberOf(surface, key), operation)) return createDropped(surface.name);
    const message = `Cannot call "${key}" of surface "${surface.name}": it was dropped before the answer; the call may have taken effect`;
    return new RelayedError("OUTCOME_UNKNOWN", message);
  };
  return {
    async request(operation) {
      if (scope.closed) throw createDropped(surface.name);
      try {
        return await channel.request(operation);
      } catch (cause) {
        throw scope.closed && isClosedDuringUse(cause) ? toCut(operation) : cause;
      }
    },
    subscribe(operation) {
      const { signal } = operation.options;
      const isDropped = (): boolean => scope.closed && signal?.aborted !== true;
      return new OwnedIterator({
        open() {
          if (isDropped()) throw createDropped(surface.name);
          return channel.subscribe(operation);
        },
        mask: (cause) => (isDropped() && isClosedDuringUse(cause) ? createDropped(surface.name) : cause),
        // A consumer would take the end of the iteration for the end of the stream.
        cut: () => (isDropped() ? createDropped(surface.name) : undefined),
        signal: undefined,
      });
    },
  };
}
