import type { NodePair } from "./compare-parts.ts";
import type { JsonObject } from "./json.ts";

/**
 * Remembers which pairs of nodes fit, so that recursive shapes are compared to an end. A pair that is met again while
 * it is being compared is taken to fit; what was found fitting since then is forgotten when it turns out not to.
 */
export class PairMemory {
  readonly #fitting = new Map<JsonObject, Set<JsonObject>>();
  readonly #differing = new Map<JsonObject, Set<JsonObject>>();
  readonly #trail: NodePair[] = [];
  readonly #owns = new Map<JsonObject, JsonObject>();

  /** Answers from memory, or else by `compare`: where the pair differs, or undefined. */
  recall(pair: NodePair, compare: () => string | undefined): string | undefined {
    const { producer, consumer, path } = pair;
    if (this.#fitting.get(producer)?.has(consumer) === true) return undefined;
    if (this.#differing.get(producer)?.has(consumer) === true) return path;
    const start = this.#trail.length;
    this.#trail.push(pair);
    keep(this.#fitting, pair);
    const found = compare();
    if (found === undefined) return undefined;
    for (const doubtful of this.#trail.splice(start)) this.#fitting.get(doubtful.producer)?.delete(doubtful.consumer);
    // Certain, whatever was assumed: an assumption can only have helped.
    keep(this.#differing, pair);
    return found;
  }

  /** Makes a part of a node once, so that it is known when it is met again. */
  ownOf(node: JsonObject, make: (node: JsonObject) => JsonObject): JsonObject {
    const own = this.#owns.get(node) ?? make(node);
    this.#owns.set(node, own);
    return own;
  }
}

function keep(pairs: Map<JsonObject, Set<JsonObject>>, { producer, consumer }: NodePair): void {
  const consumers = pairs.get(producer) ?? new Set<JsonObject>();
  pairs.set(producer, consumers.add(consumer));
}
