import { pump } from "../links/pump.ts";
import type { OpenedLink } from "../links/dial-link.ts";
import type { WatchEvents } from "../spine/shared-watch.ts";
import type { ResourceWatch } from "./entry.ts";

/** A value, written: its text, `undefined` for nothing under the URI. */
export interface Written {
  readonly text: string | undefined;
}

/** What a {@link WatchedResource} is made of. */
export interface WatchedSetting {
  readonly watch: ResourceWatch;
  /** Names its life: from its first watcher to its last. */
  readonly epoch: string;
}

/**
 * What is known of one resource for as long as it is watched: the value that was seen last, how often it has changed, and
 * its text, which is written once a value.
 */
export class WatchedResource {
  readonly epoch: string;
  readonly #watch: ResourceWatch;
  #seen: { readonly value: unknown } | undefined;
  #version = 0;
  #written: { readonly of: unknown; readonly written: Written | undefined } | undefined;

  constructor({ watch, epoch }: WatchedSetting) {
    this.#watch = watch;
    this.epoch = epoch;
  }

  /** The value that was seen last, also while its connection is lost. */
  get seen(): { readonly value: unknown } | undefined {
    return this.#seen;
  }

  /** How many changes have been seen. A value that comes back unchanged after its connection was lost is none. */
  get version(): number {
    return this.#version;
  }

  /** Follows it over a link, for the spine. */
  open({ channel }: OpenedLink, events: WatchEvents<unknown>): () => void {
    let isSnapshot = true;
    return pump((signal) => this.#watch.follow(channel, { signal }), {
      value: (value) => {
        this.#see(value, isSnapshot);
        isSnapshot = false;
        events.value(value);
      },
      ended: () => events.ended(),
      failed: (lasting) => events.failed(lasting),
    });
  }

  /** The text of a value; `undefined` where it cannot be written, or says nothing yet. */
  write(value: unknown): Written | undefined {
    const last = this.#written;
    if (last !== undefined && Object.is(last.of, value)) return last.written;
    const written = this.#render(value);
    this.#written = { of: value, written };
    return written;
  }

  #render(value: unknown): Written | undefined {
    try {
      return { text: this.#watch.render(value) };
    } catch {
      // Reading it finds the same, and tells the log.
      return undefined;
    }
  }

  #see(value: unknown, isSnapshot: boolean): void {
    const before = this.#seen;
    this.#seen = { value };
    if (before === undefined || Object.is(before.value, value)) return;
    // Only what comes back after a while is compared: to write every value would cost more than to announce it.
    if (isSnapshot && this.write(before.value)?.text === this.write(value)?.text) return;
    this.#version += 1;
  }
}
