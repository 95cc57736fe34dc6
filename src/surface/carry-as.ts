import type { Carry, SurfaceChannel } from "./channel.ts";
import { andThen } from "./is-thenable.ts";
import { mapDistinct } from "./map-distinct.ts";

/**
 * Returns a channel to the same members that maps every answer and item by `to`, and leaves out repeated items. Holds nothing
 * of its own.
 */
export function carryAs(channel: SurfaceChannel, to: Carry): SurfaceChannel {
  const mapped: SurfaceChannel = {
    request: (operation) => andThen(channel.request(operation), to),
    subscribe: (operation) => mapDistinct(channel.subscribe(operation), to),
  };
  return channel.as?.(to) ?? mapped;
}
