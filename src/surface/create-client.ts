import { untilAborted } from "../spine/signals.ts";
import type { Operation, RequestVerb, SubscribeVerb, SurfaceChannel, Carry } from "./channel.ts";
import type { ListOptions, SurfaceClient, UseOptions } from "./client.ts";
import type { Surface } from "./define-surface.ts";
import type { Kind, Spec } from "./member.ts";
import { toPlainValue, toReading } from "./reading.ts";
import { andThen } from "./is-thenable.ts";

type Options = Operation<RequestVerb>["options"];

const noOptions: Options = Object.freeze({});

/** The methods of a channel for one member, with a promise of every answer. */
class MemberUses {
  readonly #channel: SurfaceChannel;
  readonly #member: string;

  constructor(channel: SurfaceChannel, member: string) {
    this.#channel = channel;
    this.#member = member;
  }

  /** The promise also rejects when the caller's signal fires, whatever the far side is busy with. */
  request(verb: RequestVerb, argument: unknown, options: Options): Promise<unknown> {
    const { signal } = options;
    const start = (): Promise<unknown> => this.#start({ verb, member: this.#member, argument, options });
    return signal === undefined ? start() : untilAborted({ start, signal, doing: `Using "${this.#member}"` });
  }

  subscribe(verb: SubscribeVerb, argument: unknown, options: UseOptions): AsyncIterable<unknown> {
    return this.#channel.subscribe({ verb, member: this.#member, argument, options });
  }

  #start(operation: Operation<RequestVerb>): Promise<unknown> {
    try {
      const answer = this.#channel.request(operation);
      return answer instanceof Promise ? answer : Promise.resolve(answer);
    } catch (cause) {
      // Not by an async function, which would add promises to each call.
      return Promise.reject(cause);
    }
  }
}

/** One member over one channel, as clients hand it out. */
interface Uses {
  /** Frames, occurrences and results. */
  readonly carried: MemberUses;
  /** Values of cells and collections. */
  readonly values: MemberUses;
  /** Values, and whether they are stale. */
  readonly readings: MemberUses;
}

function toPage({ signal, ...page }: ListOptions): { readonly page: object; readonly use: UseOptions } {
  return { page, use: signal === undefined ? noOptions : { signal } };
}

function requestPage(uses: MemberUses, options: ListOptions = noOptions): Promise<unknown> {
  const { page, use } = toPage(options);
  return uses.request("list", page, use);
}

function subscribeToPage(uses: MemberUses, options: ListOptions = noOptions): AsyncIterable<unknown> {
  const { page, use } = toPage(options);
  return uses.subscribe("watchList", page, use);
}

/** The client of a member, by its kind: the only place that has a method a verb. */
const clientOf: Readonly<Record<Kind, (uses: Uses) => object>> = {
  cell: ({ values, readings }) => ({
    get: (use = noOptions) => values.request("get", undefined, use),
    watch: (use = noOptions) => values.subscribe("watch", undefined, use),
    reading: (use = noOptions) => readings.request("get", undefined, use),
    readings: (use = noOptions) => readings.subscribe("watch", undefined, use),
  }),
  collection: ({ values, readings }) => ({
    keys: (use = noOptions) => values.request("keys", undefined, use),
    get: (item: unknown, use = noOptions) => values.request("item", item, use),
    list: (options?: ListOptions) => requestPage(values, options),
    watchList: (options?: ListOptions) => subscribeToPage(values, options),
    watchKeys: (use = noOptions) => values.subscribe("watchKeys", undefined, use),
    watch: (item: unknown, use = noOptions) => values.subscribe("watchItem", item, use),
    reading: (item: unknown, use = noOptions) => readings.request("item", item, use),
    readings: (item: unknown, use = noOptions) => readings.subscribe("watchItem", item, use),
    keysReading: (use = noOptions) => readings.request("keys", undefined, use),
    keysReadings: (use = noOptions) => readings.subscribe("watchKeys", undefined, use),
    listReading: (options?: ListOptions) => requestPage(readings, options),
    listReadings: (options?: ListOptions) => subscribeToPage(readings, options),
  }),
  stream: ({ carried }) => ({
    open: (input: unknown, use = noOptions) => carried.subscribe("open", input, use),
    latest: (input: unknown, use = noOptions) => carried.request("latest", input, use),
  }),
  event: ({ carried }) => ({
    wait: (input: unknown, use = noOptions) => carried.request("wait", input, use),
    recent: (input: unknown, use = noOptions) => carried.request("recent", input, use),
  }),
  procedure: ({ carried }) => ({
    call: (input: unknown, use = noOptions) => carried.request("call", input, use),
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
  const readings = carryAs(channel, toReading);
  // Without a prototype, so that no inherited name looks like a member; create() itself answers any.
  const client = Object.create(null) as Record<string, object>;
  for (const [key, member] of Object.entries(surface.members)) {
    client[key] = clientOf[member.kind]({
      carried: new MemberUses(channel, key),
      values: new MemberUses(values, key),
      readings: new MemberUses(readings, key),
    });
  }
  // Each key was given the client of its member's kind, which is what the mapped type says.
  return Object.freeze(client) as SurfaceClient<TSpec>;
}

const ended: IteratorReturnResult<undefined> = Object.freeze({ done: true, value: undefined });

/**
 * The values of an iteration as `to` makes them, without those that repeat the one before. Opened and ended with the
 * iteration that it is made of; a `next()` that waits ends when that one's does.
 */
function mapDistinct<TFrom, TTo>(values: AsyncIterable<TFrom>, to: (value: TFrom) => TTo): AsyncIterable<TTo> {
  return {
    [Symbol.asyncIterator]() {
      const inner = values[Symbol.asyncIterator]();
      let last: { readonly value: TTo } | undefined;
      return {
        async next() {
          for (;;) {
            const result = await inner.next();
            if (result.done === true) return ended;
            const value = to(result.value);
            if (last !== undefined && Object.is(last.value, value)) continue;
            last = { value };
            return { done: false, value };
          }
        },
        async return() {
          await inner.return?.();
          return ended;
        },
      };
    },
  };
}

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
