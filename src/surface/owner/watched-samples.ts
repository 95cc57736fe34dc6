import type { OwnerSetting } from "./owner.ts";
import { SampledWatches, type SampledSource } from "./sampled-watches.ts";

/** The watches of the parts of a source. Each part is kept for as long as it is watched: a page may be large. */
export class WatchedSamples {
  readonly #setting: OwnerSetting;
  readonly #parts = new Map<string, { readonly watches: SampledWatches; users: number }>();

  constructor(setting: OwnerSetting) {
    this.#setting = setting;
  }

  /** The value of a part now, then each change. `source` is used if the part is not watched yet. */
  async *watch(id: string, source: SampledSource, signal: AbortSignal): AsyncGenerator {
    const part = this.#parts.get(id) ?? { watches: new SampledWatches(source, this.#setting), users: 0 };
    this.#parts.set(id, part);
    part.users += 1;
    try {
      yield* part.watches.watch({ signal });
    } finally {
      part.users -= 1;
      if (part.users === 0) this.#parts.delete(id);
    }
  }
}
