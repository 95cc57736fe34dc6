import { untilAborted } from "../spine/until-aborted.ts";
import { carryAs } from "./carry-as.ts";
import type { SurfaceChannel } from "./channel.ts";
import type { CallOptions, ListOptions, SurfaceClient, UseOptions, WaitOptions } from "./client.ts";
import type { Surface } from "./define-surface.ts";
import type { Kind, Spec } from "./member.ts";
import { toPlainValue, toReading } from "./reading.ts";

const noOptions: UseOptions = Object.freeze({});

/** One channel, and what it carries as clients hand it out. */
interface Channels {
  readonly channel: SurfaceChannel;
  /** The values themselves. */
  readonly values: SurfaceChannel;
  /** Values, and whether they are stale. */
  readonly readings: SurfaceChannel;
}

type MakeClient = (channels: Channels, key: string) => object;

/** A use ends for its caller when the caller's signal fires, whatever the far side is busy with. */
function within<TValue>(use: UseOptions, key: string, start: () => Promise<TValue>): Promise<TValue> {
  const { signal } = use;
  return signal === undefined ? start() : untilAborted({ start, signal, doing: `Using "${key}"` });
}

/** One arm a kind: how a member looks to a client, in terms of the channel. */
const clientOf: Readonly<Record<Kind, MakeClient>> = {
  cell: ({ values, readings }, key) => ({
    get: (use: UseOptions = noOptions) => within(use, key, () => values.get(key, use)),
    watch: (use: UseOptions = noOptions) => values.watch(key, use),
    reading: (use: UseOptions = noOptions) => within(use, key, () => readings.get(key, use)),
    readings: (use: UseOptions = noOptions) => readings.watch(key, use),
  }),
  collection: ({ values, readings }, key) => ({
    keys: (use: UseOptions = noOptions) => within(use, key, () => values.keys(key, use)),
    get: (item: unknown, use: UseOptions = noOptions) => within(use, key, () => values.item(key, item, use)),
    list: ({ signal, ...page }: ListOptions = noOptions) => {
      const use = signal === undefined ? noOptions : { signal };
      return within(use, key, () => values.list(key, page, use));
    },
    watchList: ({ signal, ...page }: ListOptions = noOptions) =>
      values.watchList(key, page, signal === undefined ? noOptions : { signal }),
    watchKeys: (use: UseOptions = noOptions) => values.watchKeys(key, use),
    watch: (item: unknown, use: UseOptions = noOptions) => values.watchItem(key, item, use),
    reading: (item: unknown, use: UseOptions = noOptions) => within(use, key, () => readings.item(key, item, use)),
    readings: (item: unknown, use: UseOptions = noOptions) => readings.watchItem(key, item, use),
    keysReading: (use: UseOptions = noOptions) => within(use, key, () => readings.keys(key, use)),
    keysReadings: (use: UseOptions = noOptions) => readings.watchKeys(key, use),
  }),
  stream: ({ channel }, key) => ({
    open: (input: unknown, use: UseOptions = noOptions) => channel.open(key, input, use),
    latest: (input: unknown, use: UseOptions = noOptions) => within(use, key, () => channel.latest(key, input, use)),
  }),
  event: ({ channel }, key) => ({
    wait: (input: unknown, use: WaitOptions = noOptions) => within(use, key, () => channel.wait(key, input, use)),
    recent: (input: unknown, use: UseOptions = noOptions) => within(use, key, () => channel.recent(key, input, use)),
  }),
  procedure: ({ channel }, key) => ({
    call: (input: unknown, use: CallOptions = noOptions) => within(use, key, () => channel.call(key, input, use)),
  }),
};

/**
 * Builds the typed client of a surface over a channel. It holds nothing of its own: closing the channel's connection
 * ends it.
 */
export function createClient<TSpec extends Spec>(
  surface: Surface<TSpec>,
  channel: SurfaceChannel,
): SurfaceClient<TSpec> {
  const values = carryAs(channel, toPlainValue);
  const channels: Channels = { channel, values, readings: carryAs(channel, toReading) };
  // Without a prototype, so that no inherited name looks like a member; create() itself answers any.
  const client = Object.create(null) as Record<string, object>;
  for (const [key, member] of Object.entries(surface.members)) client[key] = clientOf[member.kind](channels, key);
  // Each key was given the client of its member's kind, which is what the mapped type says.
  return Object.freeze(client) as SurfaceClient<TSpec>;
}
