import { SurfaceError } from "../errors.ts";
import type { Scope } from "../spine/scope.ts";
import type { Operation, RequestVerb, SubscribeVerb, SurfaceChannel } from "../surface/channel.ts";
import { memberOf } from "../surface/define-surface.ts";
import { kChannel, kScope } from "../surface/implement-surface.ts";
import type { AnyLiveSurface } from "../surface/implement-surfaces.ts";
import { markRelayed } from "../surface/relayed.ts";
import { tagOf } from "../tags/tag-of.ts";

/** The error of whatever uses a live surface that was closed while its siblings go on. */
export function createDropped(name: string): SurfaceError {
  return markRelayed(new SurfaceError("DROPPED", `Using surface "${name}": it was dropped`));
}

/** What a live surface that closes ends its uses with. */
function isEnd(cause: unknown): boolean {
  return cause instanceof SurfaceError && (cause.code === "CLOSED" || cause.code === "ABORTED");
}

/**
 * The port of a live surface that has siblings: when it closes, the connection stays, and so its uses have to end by
 * themselves. They end with `DROPPED`; a call that had begun and may have changed something with `OUTCOME_UNKNOWN`.
 */
export class DroppablePort implements SurfaceChannel {
  readonly #live: AnyLiveSurface;
  readonly #scope: Scope;
  readonly #port: SurfaceChannel;

  constructor(live: AnyLiveSurface) {
    this.#live = live;
    this.#scope = live[kScope];
    this.#port = live[kChannel];
  }

  async request(use: Operation<RequestVerb>): Promise<unknown> {
    if (this.#scope.closed) throw this.#createDropped();
    try {
      return await this.#port.request(use);
    } catch (cause) {
      throw this.#scope.closed && isEnd(cause) ? this.#toCut(use) : cause;
    }
  }

  subscribe(use: Operation<SubscribeVerb>): AsyncIterable<unknown> {
    return { [Symbol.asyncIterator]: () => this.#iterate(use) };
  }

  /** Not a generator: one of those would let `return()` wait for the `next()` before it. */
  #iterate(use: Operation<SubscribeVerb>): AsyncIterator<unknown> {
    const { signal } = use.options;
    let inner: AsyncIterator<unknown> | undefined;
    let hasLeft = false;
    const isDropped = (): boolean => this.#scope.closed && !hasLeft && signal?.aborted !== true;
    return {
      next: async () => {
        if (isDropped() && inner === undefined) throw this.#createDropped();
        try {
          inner ??= this.#port.subscribe(use)[Symbol.asyncIterator]();
          const step = await inner.next();
          // An iteration over what closes just ends, which its consumer would take for the end of what there was to say.
          if (step.done !== true || !isDropped()) return step;
        } catch (cause) {
          if (!isDropped() || !isEnd(cause)) throw cause;
        }
        throw this.#createDropped();
      },
      return: async () => {
        hasLeft = true;
        return (await inner?.return?.()) ?? { done: true, value: undefined };
      },
    };
  }

  #createDropped(): SurfaceError {
    return createDropped(this.#live.surface.name);
  }

  #toCut({ verb, member: key, options }: Operation<RequestVerb>): SurfaceError {
    const member = memberOf(this.#live.surface, key);
    const reads = options.idempotent ?? (member !== undefined && tagOf(member).effect === "read");
    if (verb !== "call" || reads) return this.#createDropped();
    const what = `"${key}" of surface "${this.#live.surface.name}"`;
    return markRelayed(new SurfaceError("OUTCOME_UNKNOWN", `Calling ${what}: it was dropped before the answer`));
  }
}
