import { isJsonObject, type JsonObject, type JsonValue } from "./json.ts";

/** What a shape that is compared may weigh: more than the largest schema that is served comes to. */
const maxWeight = 100_000;

/** So many characters weigh as much as a value. */
const charactersPerUnit = 16;

/** Tells whether a shape is small enough to be compared, or shown. Stops as soon as it is not. */
export function isWeighable(shape: JsonObject): boolean {
  return weigh(shape) <= maxWeight;
}

/** What it costs to look at all of a value: its parts, names and characters. Counts no further than what is too much. */
export function weigh(value: JsonValue | undefined): number {
  const queue: (JsonValue | undefined)[] = [value];
  let weight = 0;
  for (let next = queue.pop(); weight <= maxWeight; next = queue.pop()) {
    weight += 1;
    if (typeof next === "string") weight += next.length / charactersPerUnit;
    else if (Array.isArray(next)) weight += queueItems(queue, next);
    else if (next !== undefined && isJsonObject(next)) weight += queueFields(queue, next);
    if (queue.length === 0) break;
  }
  return weight;
}

// What is queued is too much as soon as there is too much of it.
function queueItems(queue: (JsonValue | undefined)[], items: readonly JsonValue[]): number {
  if (items.length > maxWeight) return items.length;
  for (const item of items) queue.push(item);
  return 0;
}

function queueFields(queue: (JsonValue | undefined)[], object: JsonObject): number {
  let weight = 0;
  // Not by a list of them, which would be as long as they are many.
  for (const key in object) {
    weight += key.length / charactersPerUnit;
    if (queue.push(object[key]) > maxWeight) return maxWeight + 1;
  }
  return weight;
}
