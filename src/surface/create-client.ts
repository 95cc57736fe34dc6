import { untilAborted } from "../spine/until-aborted.ts";
import type { SurfaceChannel } from "./channel.ts";
import type { CallOptions, SurfaceClient, UseOptions, WaitOptions } from "./client.ts";
import type { Surface } from "./define-surface.ts";
import { mapDistinct } from "./map-distinct.ts";
import type { Kind, Spec } from "./member.ts";
import { toPlainValue, toReading, type Reading } from "./reading.ts";

const noOptions: UseOptions = Object.freeze({});

type MakeClient = (channel: SurfaceChannel, key: string) => object;

/** A use ends for its caller when the caller's signal fires, whatever the far side is busy with. */
function within<TValue>(use: UseOptions, key: string, start: () => Promise<TValue>): Promise<TValue> {
  const { signal } = use;
  return signal === undefined ? start() : untilAborted({ start, signal, doing: `Using "${key}"` });
}

function readValue(key: string, use: UseOptions, ask: () => Promise<unknown>): Promise<unknown> {
  return within(use, key, async () => toPlainValue(await ask()));
}

function readReading(key: string, use: UseOptions, ask: () => Promise<unknown>): Promise<Reading> {
  return within(use, key, async () => toReading(await ask()));
}

/** One arm a kind: how a member looks to a client, in terms of the channel. */
const clientOf: Readonly<Record<Kind, MakeClient>> = {
  cell: (channel, key) => ({
    get: (use: UseOptions = noOptions) => readValue(key, use, () => channel.get(key, use)),
    watch: (use: UseOptions = noOptions) => mapDistinct(channel.watch(key, use), toPlainValue),
    reading: (use: UseOptions = noOptions) => readReading(key, use, () => channel.get(key, use)),
    readings: (use: UseOptions = noOptions) => mapDistinct(channel.watch(key, use), toReading),
  }),
  collection: (channel, key) => ({
    keys: (use: UseOptions = noOptions) => readValue(key, use, () => channel.keys(key, use)),
    get: (item: unknown, use: UseOptions = noOptions) => readValue(key, use, () => channel.item(key, item, use)),
    watchKeys: (use: UseOptions = noOptions) => mapDistinct(channel.watchKeys(key, use), toPlainValue),
    watch: (item: unknown, use: UseOptions = noOptions) => mapDistinct(channel.watchItem(key, item, use), toPlainValue),
    reading: (item: unknown, use: UseOptions = noOptions) => readReading(key, use, () => channel.item(key, item, use)),
    readings: (item: unknown, use: UseOptions = noOptions) => mapDistinct(channel.watchItem(key, item, use), toReading),
    keysReading: (use: UseOptions = noOptions) => readReading(key, use, () => channel.keys(key, use)),
    keysReadings: (use: UseOptions = noOptions) => mapDistinct(channel.watchKeys(key, use), toReading),
  }),
  stream: (channel, key) => ({
    open: (input: unknown, use: UseOptions = noOptions) => channel.open(key, input, use),
    latest: (input: unknown, use: UseOptions = noOptions) => within(use, key, () => channel.latest(key, input, use)),
  }),
  event: (channel, key) => ({
    wait: (input: unknown, use: WaitOptions = noOptions) => within(use, key, () => channel.wait(key, input, use)),
    recent: (input: unknown, use: UseOptions = noOptions) => within(use, key, () => channel.recent(key, input, use)),
  }),
  procedure: (channel, key) => ({
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
  // Without a prototype, so that no inherited name looks like a member; create() itself answers any.
  const client = Object.create(null) as Record<string, object>;
  for (const [key, member] of Object.entries(surface.members)) client[key] = clientOf[member.kind](channel, key);
  // Each key was given the client of its member's kind, which is what the mapped type says.
  return Object.freeze(client) as SurfaceClient<TSpec>;
}
