import { SurfaceError } from "../errors.ts";
import type { Clock } from "../spine/clock.ts";
import type { ConnectionManager } from "../spine/connection-manager.ts";
import { type Reply, type HeldRequestOptions, isFinalFailure, startRequest } from "../spine/request.ts";
import { createAbortedError, followAbort } from "../spine/signals.ts";
import type { Operation, RequestVerb, SurfaceChannel } from "../surface/channel.ts";
import type { EventWait } from "../surface/client.ts";
import { defaultWaitMs } from "../surface/owner/event-owner.ts";
import { linkLossOf, type OpenedLink } from "./dial-link.ts";
import { isClosedDuringUse } from "./reach-surface.ts";

/** Milliseconds that a read waits for a connection: longer than an application takes to start again. */
export const readConnectTimeoutMs = 5000;

/** Dependencies that the requests of a held surface share. */
export interface PendingRequestDeps {
  readonly holder: ConnectionManager<OpenedLink>;
  readonly clock: Clock;
  /** The surface's name, for errors. */
  readonly surface: string;
  /** Whether the end of the connection of a live surface counts as a loss: see `ReconnectingSurfaceOptions`. */
  readonly outlivesLink: boolean;
}

const nothing = (): void => {};

/** Names a member, for errors. */
export function nameMember(surface: string, member: string): string {
  return `"${member}" of surface "${surface}"`;
}

/** Returns the milliseconds that a request waits for an event. */
function waitMs({ verb, options }: Operation<RequestVerb>): number {
  return verb === "wait" ? (options.timeoutMs ?? defaultWaitMs) : 0;
}

/**
 * Sends a wait for an event after it waited for a connection, with the rest of its time. A wait that was sent before, over a lost
 * connection, goes on from its cursor. Without a cursor it answers at once with `reset` and the cursor of now, so that its caller reads
 * the state.
 */
async function resumeWait(
  channel: SurfaceChannel,
  operation: Operation<RequestVerb>,
  progress: { readonly elapsedMs: number; readonly wasSent: boolean },
): Promise<unknown> {
  const { since, signal } = operation.options;
  // Not spread whole: a getter may create the signal.
  const options = signal === undefined ? {} : { signal };
  if (since === undefined && progress.wasSent) {
    // The type of a channel's answer to a wait.
    const now = (await channel.request({ ...operation, options: { ...options, timeoutMs: 0 } })) as EventWait;
    return { ...now, reset: true } satisfies EventWait;
  }
  const timeoutMs = Math.max(0, waitMs(operation) - progress.elapsedMs);
  const cursor = since === undefined ? {} : { since };
  return channel.request({ ...operation, options: { ...options, timeoutMs, ...cursor } });
}

/**
 * Returns the answer of a wait with a cursor that found no connection in its time: it timed out, and the next wait goes on from the
 * cursor. `undefined` for other operations and failures, and for failures that waiting does not mend.
 */
function toTimedOut(operation: Operation<RequestVerb>, cause: unknown): EventWait | undefined {
  const { since } = operation.options;
  if (operation.verb !== "wait" || since === undefined) return undefined;
  if (!(cause instanceof SurfaceError) || cause.code !== "UNAVAILABLE" || isFinalFailure(cause.cause)) return undefined;
  return { status: "timed_out", cursor: since };
}

/**
 * A promise around a request of the spine. Every call and read creates one, and most find a connection, so it implements the port of
 * the spine itself and creates the rest only if there is no connection.
 */
export class PendingRequest implements HeldRequestOptions<OpenedLink, unknown> {
  readonly kind: "read" | "mutation";
  readonly #deps: PendingRequestDeps;
  readonly #operation: Operation<RequestVerb>;
  readonly #startedAt: number;
  #resolve: (value: unknown) => void = nothing;
  #reject: (cause: unknown) => void = nothing;
  #cancel: () => void = nothing;
  #leaveSignal: (() => void) | undefined;
  #isSettled = false;
  #isSent = false;
  #hasWaited = false;

  constructor(operation: Operation<RequestVerb>, kind: "read" | "mutation", deps: PendingRequestDeps) {
    this.#operation = operation;
    this.kind = kind;
    this.#deps = deps;
    this.#startedAt = operation.verb === "wait" ? deps.clock.now() : 0;
  }

  get what(): string {
    return nameMember(this.#deps.surface, this.#operation.member);
  }

  get patienceMs(): number {
    return Math.max(waitMs(this.#operation), readConnectTimeoutMs);
  }

  /** Starts it, and settles as the operation does. */
  run(): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      this.#cancel = startRequest(this.#deps.holder, this.#deps.clock, this);
      // The caller cancelled before `#cancel` was known.
      if (this.#isSettled) this.#cancel();
    });
  }

  send(link: OpenedLink, reply: Reply<unknown>): () => void {
    // From here on the operation follows the signal of its caller, and settles when its handler has ended.
    this.#leaveSignal?.();
    this.#leaveSignal = undefined;
    let sending: unknown;
    try {
      sending = this.#request(link.channel);
    } catch (cause) {
      sending = Promise.reject(cause);
    }
    if (!(sending instanceof Promise)) {
      reply.answered(sending);
      return nothing;
    }
    sending.then(
      (value) => reply.answered(value),
      (cause: unknown) => {
        const loss = linkLossOf(cause);
        if (loss !== undefined || this.#isCut(cause, link)) reply.lost(loss !== "unsent");
        else reply.refused(cause);
      },
    );
    // A caller cancels by the signal of the operation.
    return nothing;
  }

  /** Returns whether a live surface of this process closed during the request. */
  #isCut(cause: unknown, link: OpenedLink): boolean {
    const { outlivesLink } = this.#deps;
    return (
      outlivesLink && isClosedDuringUse(cause) && this.#operation.options.signal?.aborted !== true && !link.isOpen()
    );
  }

  #request(channel: SurfaceChannel): unknown {
    const wasSent = this.#isSent;
    this.#isSent = true;
    if (this.#operation.verb !== "wait" || !(wasSent || this.#hasWaited)) return channel.request(this.#operation);
    return resumeWait(channel, this.#operation, { elapsedMs: this.#deps.clock.now() - this.#startedAt, wasSent });
  }

  /** Follows the cancellation by the caller while there is no connection. */
  waiting(): void {
    this.#hasWaited = true;
    const { options } = this.#operation;
    if (this.#isSettled || this.#leaveSignal !== undefined) return;
    this.#leaveSignal = nothing;
    const leave = followAbort(options, (reason) => {
      this.#cancel();
      if (!this.#isSent) options.unsent?.();
      this.failed(createAbortedError({ reason }, `Cannot use ${this.what}`));
    });
    if (this.#isSettled) leave();
    else this.#leaveSignal = leave;
  }

  answered(value: unknown): void {
    this.#settle();
    this.#resolve(value);
  }

  failed(cause: unknown): void {
    this.#settle();
    const late = toTimedOut(this.#operation, cause);
    if (late === undefined) this.#reject(cause);
    else this.#resolve(late);
  }

  #settle(): void {
    this.#isSettled = true;
    this.#leaveSignal?.();
  }
}
