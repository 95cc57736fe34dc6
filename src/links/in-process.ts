import { SurfaceError } from "../errors.ts";
import { createClient } from "../surface/create-client.ts";
import type { Surface } from "../surface/define-surface.ts";
import { kChannel, type LiveSurface } from "../surface/implement-surface.ts";
import type { Spec } from "../surface/member.ts";
import type { CloseReason, Connection, Link } from "./link.ts";

function assertSame(asked: Surface<Spec>, live: Surface<Spec>): void {
  if (asked.name === live.name) return;
  throw new SurfaceError("UNKNOWN_MEMBER", `Connecting to surface "${asked.name}": this link reaches "${live.name}"`);
}

/**
 * A link to a live surface in the same process. Values are handed over as they are, without a wire; closing a
 * connection does not close the live surface, which stays its maker's.
 *
 * @example
 * ```ts
 * const connection = await inProcess(live).connect(counter);
 * ```
 */
export function inProcess<TSpec extends Spec>(live: LiveSurface<TSpec>): Link {
  return Object.freeze({
    async connect<TAsked extends Spec>(surface: Surface<TAsked>): Promise<Connection<TAsked>> {
      assertSame(surface, live.surface);
      let end: (reason: CloseReason) => void = () => {};
      const closed = new Promise<CloseReason>((resolve) => (end = resolve));
      const channel = live[kChannel];
      return Object.freeze({
        client: createClient(surface, channel),
        channel,
        closed,
        async close() {
          end({ kind: "closed" });
        },
      });
    },
  });
}
