import type { ConnectionHolder } from "../spine/connection-holder.ts";
import type { HeldLink } from "../spine/dial.ts";
import type { HolderUser } from "../spine/holder-user.ts";

/**
 * Keeps the link that there is from being closed for want of use: until it is released, or that link has ended. It asks
 * for no other.
 */
export class Lease<TLink extends HeldLink> implements HolderUser<TLink> {
  readonly wants = false;
  readonly #leave: () => void;
  #generation = 0;

  constructor(holder: ConnectionHolder<TLink>) {
    this.#leave = holder.join(this);
  }

  isPatient(): boolean {
    return true;
  }

  live(_link: TLink, generation: number): void {
    if (this.#generation === 0) this.#generation = generation;
  }

  down(): void {
    // What is under way on it may still be answered.
  }

  ended(generation: number): void {
    if (generation === this.#generation) this.release();
  }

  unreachable(): void {
    // The holder was closed, and has let go of it.
  }

  /** Callable twice. */
  release(): void {
    this.#leave();
  }
}
