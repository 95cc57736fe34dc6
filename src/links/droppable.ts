import { SurfaceError } from "../errors.ts";
import type { Operation, RequestVerb, SurfaceChannel } from "../surface/channel.ts";
import { memberOf } from "../surface/define-surface.ts";
import { kChannel, kScope, type AnyLiveSurface } from "../surface/implement-surface.ts";
import { RelayedError, isRelayed } from "../surface/relayed.ts";
import { tagOf } from "../tags/tag-of.ts";
import { retold } from "./retold.ts";

/** Creates the error of an operation on a live surface that was closed while its siblings go on. */
export function createDropped(name: string): SurfaceError {
  return new RelayedError("DROPPED", `Using surface "${name}": it was dropped`);
}

/** Whether a live surface in this process fails an operation with this error because it closes. */
export function isCutByClose(cause: unknown): boolean {
  return cause instanceof SurfaceError && (cause.code === "CLOSED" || cause.code === "ABORTED") && !isRelayed(cause);
}

/** Whether sending a request twice changes nothing. */
export function isRead(member: Parameters<typeof tagOf>[0] | undefined, operation: Operation<RequestVerb>): boolean {
  if (operation.verb !== "call") return true;
  return operation.options.idempotent ?? (member !== undefined && tagOf(member).effect === "read");
}

/**
 * Returns the channel of a live surface that has siblings: when it closes, the connection stays, so its operations end by
 * themselves. They end with `DROPPED`; a call that had begun and may have changed something with `OUTCOME_UNKNOWN`.
 */
export function droppable({ surface, [kScope]: scope, [kChannel]: channel }: AnyLiveSurface): SurfaceChannel {
  const toCut = (operation: Operation<RequestVerb>): SurfaceError => {
    const { member: key } = operation;
    if (isRead(memberOf(surface, key), operation)) return createDropped(surface.name);
    const message = `Calling "${key}" of surface "${surface.name}": it was dropped before the answer`;
    return new RelayedError("OUTCOME_UNKNOWN", message);
  };
  return {
    async request(operation) {
      if (scope.closed) throw createDropped(surface.name);
      try {
        return await channel.request(operation);
      } catch (cause) {
        throw scope.closed && isCutByClose(cause) ? toCut(operation) : cause;
      }
    },
    subscribe(operation) {
      const { signal } = operation.options;
      const isDropped = (): boolean => scope.closed && signal?.aborted !== true;
      return retold(() => channel.subscribe(operation), {
        failed: (cause) => (isDropped() && isCutByClose(cause) ? createDropped(surface.name) : cause),
        // A consumer would take the end of the iteration for the end of the stream.
        cut: () => (isDropped() ? createDropped(surface.name) : undefined),
      });
    },
  };
}
