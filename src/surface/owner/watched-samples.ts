import type { OwnerSetting } from "./owner.ts";
import { SampledWatches, type SampledSource } from "./sampled-watches.ts";
import { whenThere } from "./source-reader.ts";

/** The watches of the parts of a source. Each part is kept for as long as it is watched: a page may be large. */
export class WatchedSamples {
  readonly #setting: OwnerSetting;
  #ended = 0;
  readonly #parts = new Map<string, { readonly watches: SampledWatches; users: number }>();

  constructor(setting: OwnerSetting) {
    this.#setting = setting;
  }

  /** Number of samples that have ended. Get it before a read, and pass it to {@link noted}. */
  get ended(): number {
    return this.#ended;
  }

  /**
   * Records a value that a client has read, and returns it. The part may have changed and changed back between two samples:
   * the next sample is compared with this value too.
   */
  noted<TValue>(value: TValue, toId: () => string, ended: number): TValue | Promise<TValue> {
    if (this.#parts.size === 0) return value;
    return whenThere(value, (checked) => {
      this.#parts.get(toId())?.watches.note(checked, this.#ended > ended);
      // It is the value itself, or what its promise resolves to.
      return checked as TValue;
    });
  }

  /** The value of a part now, then each change. `source` is used if the part is not watched yet. */
  async *watch(id: string, source: SampledSource, signal: AbortSignal): AsyncGenerator {
    const part = this.#parts.get(id) ?? { watches: this.#create(source), users: 0 };
    this.#parts.set(id, part);
    part.users += 1;
    try {
      yield* part.watches.watch({ signal });
    } finally {
      part.users -= 1;
      if (part.users === 0) this.#parts.delete(id);
    }
  }

  #create(source: SampledSource): SampledWatches {
    return new SampledWatches(source, this.#setting, () => (this.#ended += 1));
  }
}
