import type { Clock } from "../spine/clock.ts";
import type { ConnectionHolder } from "../spine/connection-holder.ts";
import { followSignal, toAborted } from "../spine/signals.ts";
import { type Reply, type RequestSetting, isFinal, startRequest } from "../spine/request.ts";
import type { Operation, RequestVerb, SurfaceChannel } from "../surface/channel.ts";
import type { OpenedLink } from "./dial-link.ts";
import { isCutByClose } from "./droppable.ts";
import { toLinkLoss } from "./pump.ts";
import { SurfaceError } from "../errors.ts";
import type { EventWait } from "../surface/client.ts";
import { defaultWaitMs } from "../surface/owner/event-owner.ts";

/** How far a wait has come before it is sent. */
export interface WaitSoFar {
  readonly elapsedMs: number;
  /** Whether it was sent before, over a connection that was lost. */
  readonly isAgain: boolean;
}

/**
 * Sends a wait for an event that had to wait for a connection, for what is left of its time. One that was sent before goes
 * on where it was, where it has a cursor. Without one there is nothing to go on from: it answers at once that it was
 * reset, with the cursor of now, so that its caller looks.
 */
export async function resumeWait(
  channel: SurfaceChannel,
  use: Operation<RequestVerb>,
  soFar: WaitSoFar,
): Promise<unknown> {
  const { since } = use.options;
  if (since === undefined && soFar.isAgain) {
    // A channel answers a wait with this.
    const now = (await channel.request({ ...use, options: { ...optionsOf(use), timeoutMs: 0 } })) as EventWait;
    return { ...now, reset: true } satisfies EventWait;
  }
  const timeoutMs = Math.max(0, waitMs(use) - soFar.elapsedMs);
  return channel.request({
    ...use,
    options: { ...optionsOf(use), timeoutMs, ...(since === undefined ? {} : { since }) },
  });
}

/** How long a use waits for an event, in milliseconds. */
export function waitMs({ verb, options }: Operation<RequestVerb>): number {
  return verb === "wait" ? (options.timeoutMs ?? defaultWaitMs) : 0;
}

// Not spread whole: an entry's signal is made when it is looked at.
function optionsOf({ options }: Operation<RequestVerb>): { readonly signal?: AbortSignal } {
  return options.signal === undefined ? {} : { signal: options.signal };
}

/**
 * The answer of a wait that had a cursor and found no connection until it was over: that nothing was seen, which is
 * true, and where to go on. `undefined` for every other failure, and where waiting will not mend it.
 */
export function toTimedOut(use: Operation<RequestVerb>, cause: unknown): EventWait | undefined {
  const { since } = use.options;
  if (use.verb !== "wait" || since === undefined) return undefined;
  if (!(cause instanceof SurfaceError) || cause.code !== "UNAVAILABLE" || isFinal(cause.cause)) return undefined;
  return { status: "timed_out", cursor: since };
}

/** How long a read waits for a connection, in milliseconds: longer than an application takes to start again. */
export const readPatienceMs = 5000;

/** What all uses of one held surface share. */
export interface HeldUseSetting {
  readonly holder: ConnectionHolder<OpenedLink>;
  readonly clock: Clock;
  /** The surface's name, for errors. */
  readonly surface: string;
  /** Whether a request that is cut off by the end of its connection counts as lost. */
  readonly outlivesLink: boolean;
}

const nothing = (): void => {};

/** Names what is used, for errors. */
export function nameUse(surface: string, member: string): string {
  return `"${member}" of surface "${surface}"`;
}

/**
 * One use that is answered once: a promise around a request of the spine. Every call and read is one, and most find a
 * connection: it is its own setting, and makes only then what is needed only when there is none.
 */
export class HeldUse implements RequestSetting<OpenedLink, unknown> {
  readonly kind: "read" | "mutation";
  readonly #setting: HeldUseSetting;
  readonly #use: Operation<RequestVerb>;
  readonly #startedAt: number;
  #resolve: (value: unknown) => void = nothing;
  #reject: (cause: unknown) => void = nothing;
  #cancel: () => void = nothing;
  #leaveSignal: (() => void) | undefined;
  #isSettled = false;
  #isSent = false;
  #hasWaited = false;

  constructor(use: Operation<RequestVerb>, kind: "read" | "mutation", setting: HeldUseSetting) {
    this.#use = use;
    this.kind = kind;
    this.#setting = setting;
    this.#startedAt = use.verb === "wait" ? setting.clock.now() : 0;
  }

  get what(): string {
    return nameUse(this.#setting.surface, this.#use.member);
  }

  get patienceMs(): number {
    return Math.max(waitMs(this.#use), readPatienceMs);
  }

  /** Starts it; settles as the use does. */
  run(): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      this.#cancel = startRequest(this.#setting.holder, this.#setting.clock, this);
      // Its caller had gone before there was anything to cancel.
      if (this.#isSettled) this.#cancel();
    });
  }

  send(link: OpenedLink, reply: Reply<unknown>): () => void {
    // From here on the use itself hears that its caller has gone, and settles when what runs for it has ended.
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
        const loss = toLinkLoss(cause);
        if (loss !== undefined || this.#isCut(cause, link)) reply.lost(loss !== "unsent");
        else reply.refused(cause);
      },
    );
    // Who cancels does so by the signal that the use itself carries.
    return nothing;
  }

  /** Whether a live surface in this process has ended the request by closing. */
  #isCut(cause: unknown, link: OpenedLink): boolean {
    const { outlivesLink } = this.#setting;
    return outlivesLink && isCutByClose(cause) && this.#use.options.signal?.aborted !== true && !link.isOpen();
  }

  #request(channel: SurfaceChannel): unknown {
    const isAgain = this.#isSent;
    this.#isSent = true;
    if (this.#use.verb !== "wait" || !(isAgain || this.#hasWaited)) return channel.request(this.#use);
    return resumeWait(channel, this.#use, { elapsedMs: this.#setting.clock.now() - this.#startedAt, isAgain });
  }

  /** Listens to its caller's signal, which is made only for what has to wait: most uses find a connection. */
  waiting(): void {
    this.#hasWaited = true;
    const { signal } = this.#use.options;
    if (this.#isSettled || this.#leaveSignal !== undefined || signal === undefined) return;
    this.#leaveSignal = nothing;
    const leave = followSignal(signal, () => {
      this.#cancel();
      if (!this.#isSent) this.#use.options.unsent?.();
      this.failed(toAborted(signal, `Using ${this.what}`));
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
    const late = toTimedOut(this.#use, cause);
    if (late === undefined) this.#reject(cause);
    else this.#resolve(late);
  }

  #settle(): void {
    this.#isSettled = true;
    this.#leaveSignal?.();
  }
}
