import type { Resolved } from "./resolve-uri.ts";
import type { ResourceWatches, Watching } from "./resource-watches.ts";

/** How long a watch is kept that nobody waits for, in milliseconds: longer than an agent takes between two waits. */
const lingerMs = 30_000;

/** How many are kept; of more, those go first that nobody has waited for the longest. */
const maxLingering = 256;

interface Lingering {
  readonly watching: Watching;
  readonly timer: NodeJS.Timeout;
}

/** Watches that are kept for a while, so that they do not lapse between one wait and the next. Its maker closes it. */
export class LingeringWatches {
  readonly #watches: ResourceWatches;
  readonly #lingering = new Map<string, Lingering>();

  constructor(watches: ResourceWatches) {
    this.#watches = watches;
  }

  /** Keeps a watch from now on for a while. */
  keep(uri: string, resolved: Resolved): void {
    // Joined before the former one ends, so that it is the same watch.
    const watching = this.#watches.join(uri, resolved, {});
    this.#drop(uri);
    const timer = setTimeout(() => this.#drop(uri), lingerMs).unref();
    this.#lingering.set(uri, { watching, timer });
    const [oldest] = this.#lingering.keys();
    if (this.#lingering.size > maxLingering && oldest !== undefined) this.#drop(oldest);
  }

  /** Ends them all. Callable twice. */
  close(): void {
    for (const uri of [...this.#lingering.keys()]) this.#drop(uri);
  }

  #drop(uri: string): void {
    const found = this.#lingering.get(uri);
    if (found === undefined) return;
    this.#lingering.delete(uri);
    clearTimeout(found.timer);
    found.watching.end();
  }
}
