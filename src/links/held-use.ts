import type { Clock } from "../spine/clock.ts";
import type { ConnectionHolder } from "../spine/connection-holder.ts";
import { followSignal } from "../spine/follow-signal.ts";
import { startRequest, type Reply } from "../spine/request.ts";
import { toAborted } from "../spine/until-aborted.ts";
import type { ChannelPort, AskVerb, Use } from "../surface/channel-port.ts";
import type { OpenedLink } from "./dial-link.ts";
import { resumeWait, toTimedOut, waitMs } from "./held-wait.ts";
import { toLinkLoss } from "./link-loss.ts";

/** How long a read waits for a connection, in milliseconds: longer than an application takes to start again. */
export const readPatienceMs = 5000;

/** What one use of a held surface is made of. */
export interface HeldUseSetting {
  readonly holder: ConnectionHolder<OpenedLink>;
  readonly clock: Clock;
  /** Names it in errors. */
  readonly what: string;
  readonly kind: "read" | "mutation";
}

/** One use that is answered once: a promise around a request of the spine. */
export class HeldUse {
  readonly #setting: HeldUseSetting;
  readonly #use: Use<AskVerb>;
  readonly #startedAt: number;
  #resolve: (value: unknown) => void = () => {};
  #reject: (cause: unknown) => void = () => {};
  #cancel: () => void = () => {};
  #leaveSignal: (() => void) | undefined;
  #isSettled = false;
  #isSent = false;
  #hasWaited = false;

  constructor(use: Use<AskVerb>, setting: HeldUseSetting) {
    this.#use = use;
    this.#setting = setting;
    this.#startedAt = setting.clock.now();
  }

  /** Starts it; settles as the use does. */
  run(): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      const { holder, clock, what, kind } = this.#setting;
      this.#cancel = startRequest<OpenedLink, unknown>(holder, clock, {
        what,
        kind,
        patienceMs: Math.max(waitMs(this.#use), readPatienceMs),
        waiting: () => this.#wait(),
        send: ({ port }, reply) => this.#send(port, reply),
        answered: (value) => this.#answer(value),
        failed: (cause) => this.#fail(cause),
      });
      // Its caller had gone before there was anything to cancel.
      if (this.#isSettled) this.#cancel();
    });
  }

  #send(port: ChannelPort, reply: Reply<unknown>): () => void {
    let sending: Promise<unknown>;
    try {
      sending = this.#ask(port);
    } catch (cause) {
      // A channel should reject, and not throw.
      reply.refused(cause);
      return () => {};
    }
    sending.then(
      (value) => reply.answered(value),
      (cause: unknown) => {
        const loss = toLinkLoss(cause);
        if (loss === undefined) reply.refused(cause);
        else reply.lost(loss === "sent");
      },
    );
    // Who cancels does so by the signal that the use itself carries.
    return () => {};
  }

  #ask(port: ChannelPort): Promise<unknown> {
    const isAgain = this.#isSent;
    this.#isSent = true;
    if (this.#use.verb !== "wait" || !(isAgain || this.#hasWaited)) return port.ask(this.#use);
    return resumeWait(port, this.#use, { elapsedMs: this.#setting.clock.now() - this.#startedAt, isAgain });
  }

  /** Listens to its caller's signal, which is made only for what has to wait: most uses find a connection. */
  #wait(): void {
    this.#hasWaited = true;
    const { signal } = this.#use.options;
    if (this.#isSettled || this.#leaveSignal !== undefined || signal === undefined) return;
    this.#leaveSignal = () => {};
    const leave = followSignal(signal, () => {
      this.#cancel();
      this.#fail(toAborted(signal, `Using ${this.#setting.what}`));
    });
    if (this.#isSettled) leave();
    else this.#leaveSignal = leave;
  }

  #answer(value: unknown): void {
    this.#settle();
    this.#resolve(value);
  }

  #fail(cause: unknown): void {
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
