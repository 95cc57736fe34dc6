import { Scope } from "../spine/scope.ts";
import type { SurfaceChannel } from "../surface/channel.ts";
import type { Surface } from "../surface/define-surface.ts";
import type { Spec } from "../surface/member.ts";
import type { Connection, Link } from "./link.ts";

type Opened = Connection<Spec>;

/**
 * One connection, opened on first use and shared by everybody. What needs no live surface works without one; a dial
 * that failed is tried again by the next use.
 */
export class LazyConnection {
  readonly #link: Link;
  readonly #surface: Surface<Spec>;
  readonly #scope: Scope;
  #open: Opened | undefined;
  #dial: Promise<Opened> | undefined;
  /** The members, each use of which connects first where that has not happened yet. */
  readonly channel: SurfaceChannel;

  constructor(link: Link, surface: Surface<Spec>) {
    this.#link = link;
    this.#surface = surface;
    this.#scope = new Scope(`the connection to surface "${surface.name}"`);
    this.channel = this.#createChannel();
  }

  /** Closes the connection where there is one; no use opens one after that. Callable twice. */
  close(): Promise<void> {
    return this.#scope.close();
  }

  async #connect(): Promise<Opened> {
    this.#scope.assertOpen();
    this.#dial ??= this.#start().finally(() => (this.#dial = undefined));
    return this.#dial;
  }

  async #start(): Promise<Opened> {
    const connection = await this.#link.connect(this.#surface, { signal: this.#scope.signal });
    // A dial that completes after close() is disposed here, by the closed scope.
    const forget = this.#scope.add(() => connection.close());
    this.#scope.assertOpen();
    this.#open = connection;
    void connection.closed.then(() => {
      forget();
      if (this.#open === connection) this.#open = undefined;
    });
    return connection;
  }

  async #channel(): Promise<SurfaceChannel> {
    return (this.#open ?? (await this.#connect())).channel;
  }

  async *#iterate<TValue>(
    open: (channel: SurfaceChannel) => AsyncIterable<TValue>,
  ): AsyncGenerator<TValue, void, undefined> {
    yield* open(await this.#channel());
  }

  #createChannel(): SurfaceChannel {
    return Object.freeze({
      get: async (key, use) => (await this.#channel()).get(key, use),
      watch: (key, use) => this.#iterate((channel) => channel.watch(key, use)),
      keys: async (key, use) => (await this.#channel()).keys(key, use),
      watchKeys: (key, use) => this.#iterate((channel) => channel.watchKeys(key, use)),
      item: async (key, item, use) => (await this.#channel()).item(key, item, use),
      watchItem: (key, item, use) => this.#iterate((channel) => channel.watchItem(key, item, use)),
      open: (key, input, use) => this.#iterate((channel) => channel.open(key, input, use)),
      latest: async (key, input, use) => (await this.#channel()).latest(key, input, use),
      wait: async (key, input, use) => (await this.#channel()).wait(key, input, use),
      recent: async (key, input, use) => (await this.#channel()).recent(key, input, use),
      call: async (key, input, use) => (await this.#channel()).call(key, input, use),
    } satisfies SurfaceChannel);
  }
}
