import { LinkedAbort } from "../spine/linked-abort.ts";
import { OwnedIterator } from "../spine/owned-iterator.ts";
import { Scope } from "../spine/scope.ts";
import { untilAborted } from "../spine/until-aborted.ts";
import type { SurfaceChannel } from "../surface/channel.ts";
import type { UseOptions } from "../surface/client.ts";
import type { Surface } from "../surface/define-surface.ts";
import type { Spec } from "../surface/member.ts";
import type { Connection, Link } from "./link.ts";

type Opened = Connection<Spec>;

/**
 * One connection, opened on first use and shared by everybody. What needs no live surface works without one; a dial
 * that failed is tried again by the next use, and so is a connection that has ended.
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

  /**
   * Closes the connection where there is one; no use opens one after that. A dial under way is told by its signal, is
   * waited for by nobody, and what it still opens is closed. Callable twice.
   */
  close(): Promise<void> {
    return this.#scope.close();
  }

  async #start(): Promise<Opened> {
    const connection = await this.#link.connect(this.#surface, { signal: this.#scope.signal });
    // A dial that completes after close() is disposed here, by the closed scope.
    const forget = this.#scope.add(() => connection.close());
    this.#scope.assertOpen();
    this.#open = connection;
    const drop = (): void => {
      forget();
      if (this.#open === connection) this.#open = undefined;
    };
    connection.closed.then(drop, drop);
    return connection;
  }

  /** The shared dial, for as long as its caller cares: one who leaves does not take it from the others. */
  async #connect(use: UseOptions): Promise<SurfaceChannel> {
    const start = (): Promise<Opened> => (this.#dial ??= this.#start().finally(() => (this.#dial = undefined)));
    const leave = new LinkedAbort(use.signal, this.#scope.signal);
    const doing = `Connecting to surface "${this.#surface.name}"`;
    try {
      return (await untilAborted({ start, signal: leave.signal, doing })).channel;
    } finally {
      leave.dispose();
    }
  }

  async #askLate<TValue>(use: UseOptions, run: (channel: SurfaceChannel) => Promise<TValue>): Promise<TValue> {
    this.#scope.assertOpen();
    return run(await this.#connect(use));
  }

  // Not asynchronous itself: while there is a connection, a use costs nothing more than its own promise.
  #ask<TValue>(use: UseOptions, run: (channel: SurfaceChannel) => Promise<TValue>): Promise<TValue> {
    const channel = this.#scope.closed ? undefined : this.#open?.channel;
    return channel === undefined ? this.#askLate(use, run) : run(channel);
  }

  #iterate<TValue>(use: UseOptions, run: (channel: SurfaceChannel) => AsyncIterable<TValue>): AsyncIterable<TValue> {
    this.#scope.assertOpen();
    const open = (): Promise<AsyncIterable<TValue>> => this.#ask(use, async (channel) => run(channel));
    return new OwnedIterator({ open, scope: this.#scope, signal: use.signal });
  }

  #createChannel(): SurfaceChannel {
    return Object.freeze({
      get: (key, use) => this.#ask(use, (channel) => channel.get(key, use)),
      watch: (key, use) => this.#iterate(use, (channel) => channel.watch(key, use)),
      keys: (key, use) => this.#ask(use, (channel) => channel.keys(key, use)),
      watchKeys: (key, use) => this.#iterate(use, (channel) => channel.watchKeys(key, use)),
      item: (key, item, use) => this.#ask(use, (channel) => channel.item(key, item, use)),
      watchItem: (key, item, use) => this.#iterate(use, (channel) => channel.watchItem(key, item, use)),
      open: (key, input, use) => this.#iterate(use, (channel) => channel.open(key, input, use)),
      latest: (key, input, use) => this.#ask(use, (channel) => channel.latest(key, input, use)),
      wait: (key, input, use) => this.#ask(use, (channel) => channel.wait(key, input, use)),
      recent: (key, input, use) => this.#ask(use, (channel) => channel.recent(key, input, use)),
      call: (key, input, use) => this.#ask(use, (channel) => channel.call(key, input, use)),
    } satisfies SurfaceChannel);
  }
}
