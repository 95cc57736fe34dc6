import { OwnedIterator } from "../../spine/owned-iterator.ts";
import type { Scope } from "../../spine/scope.ts";
import { burst, nextTurn } from "./next-turn.ts";
import type { PushedValue } from "./pushed-value.ts";
import { Rearm } from "./rearm.ts";
import { toReason } from "./to-reason.ts";
import type { Upstream } from "./upstream.ts";
import { Wakeups } from "./wakeups.ts";

/** What a {@link SharedUpstream} follows, and what it tells. */
export interface SharedSetting {
  readonly upstream: Upstream;
  readonly value: PushedValue;
  readonly scope: Scope;
}

/**
 * One iteration over what a cell comes from, shared by all who read it: opened with the first of them, ended with the
 * last, and opened again after a while where it failed and somebody still cares. What can be opened only once goes on
 * without readers, until the scope closes.
 */
export class SharedUpstream {
  readonly #setting: SharedSetting;
  readonly #wakeups = new Wakeups();
  readonly #rearm: Rearm;
  #users = 0;
  #running: OwnedIterator<unknown> | undefined;
  #isFinished = false;

  constructor(setting: SharedSetting) {
    this.#setting = setting;
    this.#rearm = new Rearm(setting.scope, () => this.#retry());
  }

  /** Whether it has said its last word, and is not opened again. */
  get isFinished(): boolean {
    return this.#isFinished;
  }

  /** Whether nobody reads it, and there is something that could be opened. */
  get isResting(): boolean {
    return this.#users === 0 && !this.#isFinished;
  }

  /** Resolves when something may have changed, or `signal` fires. */
  change(signal: AbortSignal): Promise<void> {
    return this.#wakeups.next(signal);
  }

  /** Marks it as used; returns what ends the use, which resolves when what was left by the last user has ended. */
  hold(): () => Promise<void> {
    this.#users += 1;
    if (this.#users === 1 && !this.#isFinished && this.#running === undefined) {
      this.#setting.value.begin();
      this.#start();
    }
    return async () => {
      this.#users -= 1;
      if (this.#users === 0) await this.#rest();
    };
  }

  #start(): void {
    const { upstream, scope, value } = this.#setting;
    if (scope.closed) return;
    const running: OwnedIterator<unknown> = new OwnedIterator({
      open: (signal) => upstream.open(signal),
      mask: (cause) => {
        // What it fails with while it runs is told by whoever follows it; what its end fails with, by nobody else.
        if (this.#running !== running || scope.closed) value.note(cause);
        return cause;
      },
      scope,
      signal: undefined,
    });
    this.#running = running;
    this.#rearm.started();
    void this.#follow(running);
  }

  /** Let go of before it has ended: a use from here on is to start another, and not to wait for this one. */
  async #rest(): Promise<void> {
    if (this.#setting.upstream.isOpenedOnce) return;
    const running = this.#running;
    this.#running = undefined;
    this.#rearm.cancel();
    if (!this.#isFinished) this.#setting.value.rest();
    await running?.return();
  }

  #retry(): void {
    if (this.#users === 0 || this.#running !== undefined) return;
    this.#setting.value.retry();
    this.#start();
  }

  async #follow(running: OwnedIterator<unknown>): Promise<void> {
    try {
      await this.#collect(running);
      if (this.#isCurrent(running)) this.#end();
    } catch (cause) {
      if (this.#isCurrent(running)) this.#fail(toReason(cause), cause);
    }
  }

  async #collect(running: OwnedIterator<unknown>): Promise<void> {
    const { upstream, value } = this.#setting;
    let count = 0;
    for await (const frame of running) {
      if (!this.#isCurrent(running)) return;
      await value.takeFrame(
        () => upstream.toFrame(frame),
        () => this.#isCurrent(running),
      );
      this.#wakeups.wake();
      count += 1;
      if (count % burst === 0) await nextTurn();
    }
  }

  #isCurrent(running: OwnedIterator<unknown>): boolean {
    return this.#running === running && !this.#setting.scope.closed;
  }

  #end(): void {
    const { upstream, value } = this.#setting;
    if (!upstream.isFinalAtEnd) {
      this.#fail("ended");
      return;
    }
    this.#running = undefined;
    this.#isFinished = true;
    value.finish();
    this.#wakeups.wake();
  }

  #fail(reason: "invalid" | "lost" | "ended", cause?: unknown): void {
    this.#running = undefined;
    this.#setting.value.fail(reason, cause);
    this.#wakeups.wake();
    this.#rearm.failed();
  }
}
