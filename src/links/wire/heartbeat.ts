import type { Clock } from "../../spine/clock.ts";
import { methods } from "./protocol.ts";
import type { WirePeer } from "./wire-peer.ts";

/** What a {@link Heartbeat} watches over. */
export interface HeartbeatDeps {
  readonly clock: Clock;
  /** How long nothing is heard before the far side is asked, in milliseconds. */
  readonly everyMs: number;
  /** The end of the connection that is looked after. */
  readonly peer: Pick<WirePeer, "takeHeard" | "takeMoved" | "tell" | "ask">;
  /** The far side is not there. */
  lost(): void;
}

/** How many intervals without a sign of life are too many: one before it is asked, two after. */
const maxSilent = 3;

/** A timer that fires this much of an interval late says that this process did not run, and nothing of the far side. */
const lateShare = 0.2;

/** Asks a far side that has fallen silent whether it is there, and gives it up when it does not answer. */
export class Heartbeat {
  readonly #deps: HeartbeatDeps;
  #silent = 0;
  #stop: () => void;
  #isOver = false;

  constructor(deps: HeartbeatDeps) {
    this.#deps = deps;
    this.#stop = this.#arm();
  }

  /** Stops it. Callable twice. */
  stop(): void {
    this.#isOver = true;
    this.#stop();
  }

  #arm(): () => void {
    const { clock, everyMs } = this.#deps;
    const dueAt = clock.now() + everyMs;
    return clock.after(everyMs, () => {
      if (this.#isOver) return;
      const isLate = clock.now() - dueAt > everyMs * lateShare;
      this.#tick(isLate);
      if (!this.#isOver) this.#stop = this.#arm();
    });
  }

  #tick(isLate: boolean): void {
    const { peer } = this.#deps;
    const wasHeard = peer.takeHeard();
    const hasMoved = peer.takeMoved();
    // Its answer would come behind the message that is under way, and it may hear nothing else of us until then.
    if (hasMoved && !wasHeard) peer.tell(methods.ping);
    if (wasHeard || hasMoved || isLate) {
      this.#silent = 0;
      return;
    }
    this.#silent += 1;
    if (this.#silent === 1) peer.ask(methods.ping);
    if (this.#silent < maxSilent) return;
    this.stop();
    this.#deps.lost();
  }
}
