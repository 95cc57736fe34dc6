import { requestFrom, type SubscribeVerb, type SurfaceChannel } from "../../src/surface/channel.ts";
import type {
  CallOptions,
  EventPage,
  EventWait,
  PageOptions,
  UseOptions,
  WaitOptions,
} from "../../src/surface/client.ts";

/** The operations of a channel as methods, for short tests. Every answer is a promise. */
export interface Uses {
  get(member: string, use: UseOptions): Promise<unknown>;
  keys(member: string, use: UseOptions): Promise<readonly unknown[]>;
  item(member: string, key: unknown, use: UseOptions): Promise<unknown>;
  list(member: string, page: PageOptions, use: UseOptions): Promise<unknown>;
  latest(member: string, input: unknown, use: UseOptions): Promise<unknown>;
  wait(member: string, input: unknown, use: WaitOptions): Promise<EventWait>;
  recent(member: string, input: unknown, use: UseOptions): Promise<EventPage>;
  call(member: string, input: unknown, use: CallOptions): Promise<unknown>;
  watch(member: string, use: UseOptions): AsyncIterable<unknown>;
  watchKeys(member: string, use: UseOptions): AsyncIterable<readonly unknown[]>;
  watchItem(member: string, key: unknown, use: UseOptions): AsyncIterable<unknown>;
  open(member: string, input: unknown, use: UseOptions): AsyncIterable<unknown>;
  watchLatest(member: string, input: unknown, use: UseOptions): AsyncIterable<readonly unknown[]>;
  watchRecent(member: string, input: unknown, use: UseOptions): AsyncIterable<EventPage>;
}

/** Makes operations of a channel callable as methods. */
export function operationsOf(channel: SurfaceChannel): Uses {
  const subscribe = (verb: SubscribeVerb) => (member: string, argument: unknown, options: UseOptions) =>
    channel.subscribe({ verb, member, argument, options });
  return {
    get: async (member, options) => requestFrom(channel, { verb: "get", member, argument: undefined, options }),
    keys: async (member, options) => requestFrom(channel, { verb: "keys", member, argument: undefined, options }),
    item: async (member, argument, options) => requestFrom(channel, { verb: "item", member, argument, options }),
    list: async (member, argument, options) => requestFrom(channel, { verb: "list", member, argument, options }),
    latest: async (member, argument, options) => requestFrom(channel, { verb: "latest", member, argument, options }),
    wait: async (member, argument, options) => requestFrom(channel, { verb: "wait", member, argument, options }),
    recent: async (member, argument, options) => requestFrom(channel, { verb: "recent", member, argument, options }),
    call: async (member, argument, options) => requestFrom(channel, { verb: "call", member, argument, options }),
    watch: (member, options) => subscribe("watch")(member, undefined, options),
    // Owners answer these verbs with lists, and with pages.
    watchKeys: (member, options) =>
      subscribe("watchKeys")(member, undefined, options) as AsyncIterable<readonly unknown[]>,
    watchItem: subscribe("watchItem"),
    open: subscribe("open"),
    watchLatest: subscribe("watchLatest") as Uses["watchLatest"],
    watchRecent: subscribe("watchRecent") as Uses["watchRecent"],
  };
}
