import { ended } from "../spine/pushing.ts";
import { untilAborted } from "../spine/signals.ts";
import type { ValueMapper, Operation, RequestVerb, SubscribeVerb, SurfaceChannel } from "./channel.ts";
import type { ListOptions, SurfaceClient, UseOptions } from "./client.ts";
import type { Surface } from "./define-surface.ts";
import { andThen } from "./is-thenable.ts";
import type { Kind, Spec } from "./member.ts";
import { plainValueOf, toReading } from "./reading.ts";

type Options = Operation<RequestVerb>["options"];

const noOptions: Options = Object.freeze({});

/** Maps the values of an iteration, and leaves out a value that is the same as the one before. Ends with the iteration. */
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

function mapChannel(channel: SurfaceChannel, to: ValueMapper): SurfaceChannel {
  const mapped: SurfaceChannel = {
    request: (operation) => andThen(channel.request(operation), to),
    subscribe: (operation) => mapDistinct(channel.subscribe(operation), to),
  };
  return channel.as?.(to) ?? mapped;
}

class MemberOperations {
  readonly #channel: SurfaceChannel;
  readonly #member: string;

  constructor(channel: SurfaceChannel, member: string) {
    this.#channel = channel;
    this.#member = member;
  }

  /** Returns a promise that also rejects when the caller's signal fires, even if the other side does not react. */
  request(verb: RequestVerb, argument: unknown, options: Options): Promise<unknown> {
    const { signal } = options;
    const start = (): Promise<unknown> => this.#start({ verb, member: this.#member, argument, options });
    return signal === undefined ? start() : untilAborted({ start, signal, doing: `Cannot use "${this.#member}"` });
  }

  subscribe(verb: SubscribeVerb, argument: unknown, options: UseOptions): AsyncIterable<unknown> {
    return this.#channel.subscribe({ verb, member: this.#member, argument, options });
  }

  requestPage({ signal, ...page }: ListOptions = noOptions): Promise<unknown> {
    return this.request("list", page, signal === undefined ? noOptions : { signal });
  }

  subscribeToPage({ signal, ...page }: ListOptions = noOptions): AsyncIterable<unknown> {
    return this.subscribe("watchList", page, signal === undefined ? noOptions : { signal });
  }

  #start(operation: Operation<RequestVerb>): Promise<unknown> {
    try {
      const answer = this.#channel.request(operation);
      return answer instanceof Promise ? answer : Promise.resolve(answer);
    } catch (cause) {
      // Not an async function, which would add promises to each call.
      return Promise.reject(cause);
    }
  }
}

/** One member over three forms of a channel. */
interface Operations {
  readonly plain: MemberOperations;
  readonly values: MemberOperations;
  /** The same values, and whether they are stale. */
  readonly readings: MemberOperations;
}

const clientOf: Readonly<Record<Kind, (operations: Operations) => object>> = {
  cell: ({ values, readings }) => ({
    get: (use = noOptions) => values.request("get", undefined, use),
    watch: (use = noOptions) => values.subscribe("watch", undefined, use),
    reading: (use = noOptions) => readings.request("get", undefined, use),
    readings: (use = noOptions) => readings.subscribe("watch", undefined, use),
  }),
  collection: ({ values, readings }) => ({
    keys: (use = noOptions) => values.request("keys", undefined, use),
    get: (item: unknown, use = noOptions) => values.request("item", item, use),
    list: (options?: ListOptions) => values.requestPage(options),
    watchList: (options?: ListOptions) => values.subscribeToPage(options),
    watchKeys: (use = noOptions) => values.subscribe("watchKeys", undefined, use),
    watch: (item: unknown, use = noOptions) => values.subscribe("watchItem", item, use),
    reading: (item: unknown, use = noOptions) => readings.request("item", item, use),
    readings: (item: unknown, use = noOptions) => readings.subscribe("watchItem", item, use),
    keysReading: (use = noOptions) => readings.request("keys", undefined, use),
    keysReadings: (use = noOptions) => readings.subscribe("watchKeys", undefined, use),
    listReading: (options?: ListOptions) => readings.requestPage(options),
    listReadings: (options?: ListOptions) => readings.subscribeToPage(options),
  }),
  stream: ({ plain }) => ({
    open: (input: unknown, use = noOptions) => plain.subscribe("open", input, use),
    latest: (input: unknown, use = noOptions) => plain.request("latest", input, use),
  }),
  event: ({ plain }) => ({
    wait: (input: unknown, use = noOptions) => plain.request("wait", input, use),
    recent: (input: unknown, use = noOptions) => plain.request("recent", input, use),
  }),
  procedure: ({ plain }) => ({
    call: (input: unknown, use = noOptions) => plain.request("call", input, use),
  }),
};

/** Creates the typed client of a surface over a channel. It owns nothing and ends with the connection of the channel. */
export function createClient<TSpec extends Spec>(
  surface: Surface<TSpec>,
  channel: SurfaceChannel,
): SurfaceClient<TSpec> {
  const values = mapChannel(channel, plainValueOf);
  const readings = mapChannel(channel, toReading);
  // Without a prototype, so that no inherited name looks like a member.
  const client = Object.create(null) as Record<string, object>;
  for (const [key, member] of Object.entries(surface.members)) {
    client[key] = clientOf[member.kind]({
      plain: new MemberOperations(channel, key),
      values: new MemberOperations(values, key),
      readings: new MemberOperations(readings, key),
    });
  }
  // Each key has the client of its member's kind, as the mapped type says.
  return Object.freeze(client) as SurfaceClient<TSpec>;
}
