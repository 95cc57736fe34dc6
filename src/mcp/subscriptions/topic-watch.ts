import type { WatchListener } from "../../catalog/resources/watched-resource.ts";
import type { JsonObject } from "../../schema/json.ts";
import type { Clock } from "../../spine/clock.ts";
import type { Caller } from "../../surface/caller.ts";
import { listNames, type ListName } from "../lists.ts";
import {
  rpcCodes,
  toRpcError,
  toRpcResult,
  toScopeError,
  writeJson,
  type Era,
  type RequestId,
  type RpcAnswer,
  type RpcError,
} from "../protocol.ts";
import type { AppRuntime } from "../servable-app.ts";

/** A list that can change. There is one object for each. */
export interface ListTopic {
  readonly list: ListName;
}

/** The topic of a notice: a resource, by its URI, or a list. */
export type Topic = string | ListTopic;

const listTopics: ReadonlyMap<ListName, ListTopic> = new Map(listNames.map((list) => [list, Object.freeze({ list })]));

/** Returns the topics of some lists, in the order of all lists. */
export function topicsOfLists(lists: ReadonlySet<ListName>): readonly ListTopic[] {
  return [...listTopics.values()].filter(({ list }) => lists.has(list));
}

/** Returns the topics that are resources. */
export function urisOf(topics: Iterable<Topic>): readonly string[] {
  return [...topics].filter((topic) => typeof topic === "string");
}

/** Writes the member of a `_meta` that names the subscription of a message. The id is echoed as it came. */
function stamp(id: RequestId): string {
  return `"io.modelcontextprotocol/subscriptionId":${JSON.stringify(id)}`;
}

/** Writes the notification of a change, from 2026-07-28 on with the subscription that it belongs to. */
function renderChange(topic: Topic, id: RequestId | undefined): string {
  if (typeof topic === "string") {
    const meta = id === undefined ? "" : `,"_meta":{${stamp(id)}}`;
    return `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":${writeJson(topic)}${meta}}}`;
  }
  const params = id === undefined ? "" : `,"params":{"_meta":{${stamp(id)}}}`;
  return `{"jsonrpc":"2.0","method":"notifications/${topic.list}/list_changed"${params}}`;
}

/** Writes the notification that opens a subscription, with the filter that is honoured. */
export function renderAcknowledgement(id: RequestId, honoured: JsonObject): string {
  const params = `"notifications":${writeJson(honoured)},"_meta":{${stamp(id)}}`;
  return `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{${params}}}`;
}

/** Returns the empty result by which the server ends a subscription. */
export function toListenEnd(id: RequestId): RpcAnswer {
  return toRpcResult("", { meta: stamp(id) });
}

/** Number of URIs that one connection may watch, over all its subscriptions. */
export const maxUris = 1024;

/** Milliseconds until a subscription is acknowledged while the backend is away. */
const openPatienceMs = 1000;

/** The error for a subscription beyond the bounds. */
export const tooManySubscriptions: RpcError = toRpcError(rpcCodes.busy, "Server busy: too many subscriptions are open");

/** Dependencies of the subscriptions over one output. */
export interface WatchDeps {
  readonly runtime: Pick<AppRuntime, "resources" | "changing">;
  readonly outbox: Outbox;
  readonly send: (json: string) => void;
  /** Answers a request that had to wait, or tells a client that its subscription was ended here. */
  readonly answer: (id: RequestId, answer: RpcAnswer, era: Era) => void;
  readonly clock: Clock;
  /** Called when a client up to 2025-11-25 has subscribed to a URI, or ended that, whether or not it was subscribed before. */
  readonly onSubscribed?: ((uri: string, isSubscribed: boolean) => void) | undefined;
  /** Called when a URI of a request is looked up. */
  readonly reached?: ((stage: "gate") => void) | undefined;
}

/** The output of one caller. */
export interface WatchTarget {
  readonly caller: Caller;
  readonly deps: WatchDeps;
}

/** Returns the error for URIs that a caller lacks scopes for. It names the scopes of all URIs, so that one consent is enough. */
export function refuseLacking(
  uris: readonly string[],
  caller: Caller,
  { resources }: WatchDeps["runtime"],
): RpcError | undefined {
  if (!uris.some((uri) => resources.lacking(caller, uri) !== undefined)) return undefined;
  const nothingGranted: Caller = { ...caller, scopes: [] };
  return toScopeError([...new Set(uris.flatMap((uri) => resources.lacking(nothingGranted, uri) ?? []))]);
}

/** Writes notices at once, or keeps which topics have changed while the output is full: one bit a topic, and no queue. */
export class Outbox {
  /** In the order in which they changed first, so that no topic waits for others that change all the time. */
  #kept: Set<TopicWatch> | undefined;
  #isHeld = false;

  /** Writes a notice, or keeps that it is to be written. */
  post(watch: TopicWatch): void {
    if (!this.#isHeld) return watch.write();
    this.#kept ??= new Set();
    this.#kept.add(watch);
  }

  drop(watch: TopicWatch): void {
    this.#kept?.delete(watch);
  }

  /** Keeps notices until {@link release}. Callable twice. */
  hold(): void {
    this.#isHeld = true;
  }

  /** Writes the notices that were kept, each once, until the output is full again. */
  release(): void {
    this.#isHeld = false;
    for (const watch of this.#kept ?? []) {
      // Each notice may fill the output.
      if (this.#isHeld) return;
      this.#kept?.delete(watch);
      watch.write();
    }
  }
}

/**
 * One topic that one subscriber watches. Changes before the subscriber knows that it is subscribed are announced behind that.
 * Call {@link close} when done.
 */
export class TopicWatch implements WatchListener {
  readonly topic: Topic;
  readonly #target: WatchTarget;
  readonly #subscriptionId: RequestId | undefined;
  #isOpen = false;
  #stop: (() => void) | undefined;
  #isThere: boolean | undefined;
  onOpened: (() => void) | undefined;
  #isTold = false;
  #isOwed = false;

  /** @param subscriptionId - names the subscription in every notice. Up to 2025-11-25: `undefined`. */
  constructor(target: WatchTarget, topic: Topic, subscriptionId?: RequestId) {
    this.#target = target;
    this.topic = topic;
    this.#subscriptionId = subscriptionId;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** True if the topic exists; `undefined` until that is known. From then on no change is missed. */
  get isThere(): boolean | undefined {
    return this.#isThere;
  }

  /** Starts to watch. Returns `false` if there is no such topic. Callable again after {@link close}. */
  open(): boolean {
    if (this.#isOpen) return true;
    this.#isOpen = true;
    const stop = this.#watch();
    // Closed already if the first call led to its end.
    if (stop === undefined || !this.#isOpen) this.close();
    if (this.#isOpen) this.#stop = stop;
    else stop?.();
    return this.#isOpen;
  }

  /** Notes that the subscriber knows of its subscription, and counts on every change from here on. */
  tell(): void {
    this.#isTold = true;
    this.#announce();
  }

  /** Stops watching, and forgets notices that were not written. Callable twice. */
  close(): void {
    this.#isOpen = false;
    this.#isOwed = false;
    this.#isThere = undefined;
    this.onOpened = undefined;
    this.#target.deps.outbox.drop(this);
    const stop = this.#stop;
    this.#stop = undefined;
    stop?.();
  }

  changed(): void {
    if (!this.#isOpen) return;
    this.#isOwed = true;
    this.#announce();
  }

  opened(isThere: boolean): void {
    if (!this.#isOpen || this.#isThere !== undefined) return;
    this.#isThere = isThere;
    const wasTold = this.#isTold;
    this.onOpened?.();
    if (!wasTold) return;
    // The subscriber was told too early, and missed the changes since. A notice that follows at once stands for them.
    this.#isOwed = true;
    queueMicrotask(() => this.#announce());
  }

  write(): void {
    this.#target.deps.send(renderChange(this.topic, this.#subscriptionId));
  }

  #watch(): (() => void) | undefined {
    const { topic } = this;
    const { caller, deps } = this.#target;
    const { resources } = deps.runtime;
    if (typeof topic === "string") return resources.watch(caller, topic, this);
    const stop = resources.watchList(caller, topic.list, () => this.changed());
    this.opened(true);
    return stop;
  }

  #announce(): void {
    if (!this.#isOwed || !this.#isTold) return;
    this.#isOwed = false;
    this.#target.deps.outbox.post(this);
  }
}

/**
 * Runs `done` when all watches know whether their topics exist, so that the client misses no change after the acknowledgement; or
 * after a second, since the backend may be away. If there is nothing to wait for, runs it at once and returns `undefined`; else
 * returns a function that cancels it.
 */
export function whenOpen(watches: readonly TopicWatch[], clock: Clock, done: () => void): (() => void) | undefined {
  const awaited = watches.filter(({ isThere }) => isThere === undefined);
  let left = awaited.length;
  if (left === 0) {
    done();
    return undefined;
  }
  const cancel = (): void => {
    stopTimer();
    for (const watch of awaited) watch.onOpened = undefined;
  };
  const finish = (): void => {
    cancel();
    done();
  };
  const stopTimer = clock.after(openPatienceMs, finish);
  const onOpened = (): void => {
    left -= 1;
    if (left === 0) finish();
  };
  for (const watch of awaited) watch.onOpened = onOpened;
  return cancel;
}
