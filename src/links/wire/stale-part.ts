import { isJsonObject } from "../../schema/json.ts";
import { Stale, type Staleness } from "../../surface/reading.ts";
import type { PartCodec } from "./part-codec.ts";

const reasonPattern = /^[a-z]{1,32}$/;

/** Of a time nothing but its form is looked at: it is shown, and never reckoned with. */
const timePattern = /^\d[\dTZ:.+-]{0,39}$/;

function readStaleness(given: unknown): Staleness | undefined {
  if (!isJsonObject(given)) return undefined;
  const { reason, since } = given;
  if (typeof reason !== "string" || !reasonPattern.test(reason)) return undefined;
  if (typeof since !== "string" || !timePattern.test(since)) return undefined;
  // A peer of a later version may know further reasons, and those are passed on.
  return { reason: reason as Staleness["reason"], since };
}

/** An answer that may be stale: what is said of that stands beside the value. What cannot be read of it is left out. */
export function orStale(part: PartCodec): PartCodec {
  return {
    encode(carried) {
      if (!(carried instanceof Stale)) return part.encode(carried);
      const { reason, since } = carried.staleness;
      return { ...part.encode(carried.value), stale: { reason, since } };
    },
    receive(answer) {
      const value = part.receive(answer);
      const stale = isJsonObject(answer) ? readStaleness(answer["stale"]) : undefined;
      return stale === undefined ? value : new Stale(value, stale);
    },
  };
}
