import type { CallOptions, EventPage, EventWait, PageOptions, UseOptions, WaitOptions } from "./client.ts";
import type { CollectionPage } from "./source.ts";

/** Uses of a live surface in this process: they return a promise only if something waits, and throw or reject as those of a channel do. */
export interface DirectUses {
  get(member: string, use: UseOptions): unknown;
  call(member: string, input: unknown, use: CallOptions): unknown;
}

/**
 * The untyped way to a live surface's members: what a link carries, and what every typed client is built on. Values
 * on it are already validated by their owner; inputs are validated by the owner when they arrive. A key that is not a
 * member, or is of another kind, is refused with `UNKNOWN_MEMBER` or `WRONG_KIND`.
 */
export interface SurfaceChannel {
  get(member: string, use: UseOptions): Promise<unknown>;
  watch(member: string, use: UseOptions): AsyncIterable<unknown>;
  keys(member: string, use: UseOptions): Promise<readonly unknown[]>;
  watchKeys(member: string, use: UseOptions): AsyncIterable<readonly unknown[]>;
  /** `undefined` where there is no such item. */
  item(member: string, key: unknown, use: UseOptions): Promise<unknown>;
  watchItem(member: string, key: unknown, use: UseOptions): AsyncIterable<unknown>;
  list(member: string, page: PageOptions, use: UseOptions): Promise<CollectionPage<unknown, unknown>>;
  watchList(member: string, page: PageOptions, use: UseOptions): AsyncIterable<CollectionPage<unknown, unknown>>;
  open(member: string, input: unknown, use: UseOptions): AsyncIterable<unknown>;
  /** The newest frame of a stream, as a list of none or one: at once, then after each newer one; may skip to the newest. */
  watchLatest(member: string, input: unknown, use: UseOptions): AsyncIterable<readonly unknown[]>;
  /** The occurrences of an event that are kept: at once, then after each further one; may skip to the newest. */
  watchRecent(member: string, input: unknown, use: UseOptions): AsyncIterable<EventPage>;
  latest(member: string, input: unknown, use: UseOptions): Promise<unknown>;
  wait(member: string, input: unknown, use: WaitOptions): Promise<EventWait>;
  recent(member: string, input: unknown, use: UseOptions): Promise<EventPage>;
  call(member: string, input: unknown, use: CallOptions): Promise<unknown>;
  /** Left out by channels that reach nothing in this process. */
  readonly direct?: DirectUses | undefined;
}
