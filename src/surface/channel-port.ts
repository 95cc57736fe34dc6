import type { DirectUses, SurfaceChannel } from "./channel.ts";
import type { CallOptions, PageOptions, WaitOptions } from "./client.ts";

/** Verbs that are answered once. */
export type AskVerb = "get" | "keys" | "item" | "list" | "latest" | "wait" | "recent" | "call";

/** Verbs that are answered again and again. */
export type FollowVerb = "watch" | "watchKeys" | "watchItem" | "watchList" | "open" | "watchLatest" | "watchRecent";

/** One use of a member, whatever its verb. */
export interface Use<TVerb extends AskVerb | FollowVerb> {
  readonly verb: TVerb;
  readonly member: string;
  /** The item's key, the page, or the input; `undefined` for verbs that take none. */
  readonly argument: unknown;
  /** What some verbs take besides is left out for those that do not. */
  readonly options: CallOptions & WaitOptions & SendNotice;
}

/** What a use of this package hears besides its answer. */
interface SendNotice {
  /** Called, before the use fails, when its caller has gone and nothing of it was sent. Must not throw. */
  unsent?(): void;
}

/** A {@link SurfaceChannel} with its verbs as data: what carries every use alike implements this. */
export interface ChannelPort {
  ask(use: Use<AskVerb>): Promise<unknown>;
  follow(use: Use<FollowVerb>): AsyncIterable<unknown>;
  /** As the channel's. */
  readonly direct?: DirectUses | undefined;
  /**
   * The same port, that hands out what `to` makes of what it carries, and what repeats the item before only once: for a
   * port that can do so where its answers arrive. Whoever did it behind them would learn of everything a turn later, the end
   * of the connection included. Left out by ports that would be no better at it.
   */
  as?(to: Carry): ChannelPort;
}

/** What is made of a value that a channel carries. */
export type Carry = (carried: unknown) => unknown;

type Options = Use<AskVerb>["options"];
type Target = Pick<Use<AskVerb>, "member" | "argument">;

/** The port that a channel was made of: a use need not be taken apart and put together again to pass through it. */
const portOf = new WeakMap<SurfaceChannel, ChannelPort>();

/** Makes the channel of a port. */
export function toChannel(port: ChannelPort): SurfaceChannel {
  const ask = <$Answer>(verb: AskVerb, target: Target, options: Options): Promise<$Answer> =>
    // A port answers each verb with what the channel promises for it: only its owner knows the values any closer.
    port.ask({ verb, ...target, options }) as Promise<$Answer>;
  const follow = <$Value>(verb: FollowVerb, target: Target, options: Options): AsyncIterable<$Value> =>
    // As above.
    port.follow({ verb, ...target, options }) as AsyncIterable<$Value>;
  const channel = Object.freeze({
    get: (member, use) => ask("get", { member, argument: undefined }, use),
    keys: (member, use) => ask("keys", { member, argument: undefined }, use),
    item: (member, argument, use) => ask("item", { member, argument }, use),
    list: (member, argument, use) => ask("list", { member, argument }, use),
    latest: (member, argument, use) => ask("latest", { member, argument }, use),
    wait: (member, argument, use) => ask("wait", { member, argument }, use),
    recent: (member, argument, use) => ask("recent", { member, argument }, use),
    call: (member, argument, use) => ask("call", { member, argument }, use),
    watch: (member, use) => follow("watch", { member, argument: undefined }, use),
    watchKeys: (member, use) => follow("watchKeys", { member, argument: undefined }, use),
    watchItem: (member, argument, use) => follow("watchItem", { member, argument }, use),
    watchList: (member, argument, use) => follow("watchList", { member, argument }, use),
    open: (member, argument, use) => follow("open", { member, argument }, use),
    watchLatest: (member, argument, use) => follow("watchLatest", { member, argument }, use),
    watchRecent: (member, argument, use) => follow("watchRecent", { member, argument }, use),
    direct: port.direct,
  } satisfies SurfaceChannel);
  portOf.set(channel, port);
  return channel;
}

type Askers = { readonly [Verb in AskVerb]: (channel: SurfaceChannel, use: Use<Verb>) => Promise<unknown> };
type Followers = { readonly [Verb in FollowVerb]: (channel: SurfaceChannel, use: Use<Verb>) => AsyncIterable<unknown> };

const askers: Askers = {
  get: (channel, { member, options }) => channel.get(member, options),
  keys: (channel, { member, options }) => channel.keys(member, options),
  item: (channel, { member, argument, options }) => channel.item(member, argument, options),
  // Whoever made the use put a page there; its owner checks it.
  list: (channel, { member, argument, options }) => channel.list(member, argument as PageOptions, options),
  latest: (channel, { member, argument, options }) => channel.latest(member, argument, options),
  wait: (channel, { member, argument, options }) => channel.wait(member, argument, options),
  recent: (channel, { member, argument, options }) => channel.recent(member, argument, options),
  call: (channel, { member, argument, options }) => channel.call(member, argument, options),
};

const followers: Followers = {
  watch: (channel, { member, options }) => channel.watch(member, options),
  watchKeys: (channel, { member, options }) => channel.watchKeys(member, options),
  watchItem: (channel, { member, argument, options }) => channel.watchItem(member, argument, options),
  // As above.
  watchList: (channel, { member, argument, options }) => channel.watchList(member, argument as PageOptions, options),
  open: (channel, { member, argument, options }) => channel.open(member, argument, options),
  watchLatest: (channel, { member, argument, options }) => channel.watchLatest(member, argument, options),
  watchRecent: (channel, { member, argument, options }) => channel.watchRecent(member, argument, options),
};

/** Makes the port of a channel: the other way round. */
export function toPort(channel: SurfaceChannel): ChannelPort {
  const known = portOf.get(channel);
  if (known !== undefined) return known;
  return {
    // The use's verb is the key under which its own function was found.
    ask: (use) => askers[use.verb](channel, use as never),
    // As above.
    follow: (use) => followers[use.verb](channel, use as never),
  };
}
