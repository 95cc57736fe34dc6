import type { Clock } from "../spine/clock.ts";
import type { ConnectionHolder } from "../spine/connection-holder.ts";
import { followSignal } from "../spine/follow-signal.ts";
import { startRequest, type Reply, type RequestSetting } from "../spine/request.ts";
import { toAborted } from "../spine/until-aborted.ts";
import type { Operation, RequestVerb, SurfaceChannel } from "../surface/channel.ts";
import type { OpenedLink } from "./dial-link.ts";
import { isCutByClose } from "./droppable.ts";
import { resumeWait, toTimedOut, waitMs } from "./held-wait.ts";
import { toLinkLoss } from "./link-loss.ts";

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
