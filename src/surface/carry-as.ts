import type { SurfaceChannel } from "./channel.ts";
import { toChannel, toPort, type Carry, type ChannelPort } from "./channel-port.ts";
import { mapDistinct } from "./map-distinct.ts";

function mapped(port: ChannelPort, to: Carry): ChannelPort {
  return {
    ask: async (use) => to(await port.ask(use)),
    follow: (use) => mapDistinct(port.follow(use), to),
  };
}

/**
 * The channel of the same members that hands out what `to` makes of what that one carries, without what repeats the item
 * before. Holds nothing of its own.
 */
export function carryAs(channel: SurfaceChannel, to: Carry): SurfaceChannel {
  const port = toPort(channel);
  return toChannel(port.as?.(to) ?? mapped(port, to));
}
