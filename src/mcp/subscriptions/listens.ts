import type { RequestFrame } from "../parse-frame.ts";
import type { RpcAnswer, RpcError } from "../protocol.ts";
import type { RequestId } from "../request-id.ts";
import { readListenFilter, toHonoured } from "./listen-filter.ts";
import { renderAcknowledgement, toListenEnd } from "./notices.ts";
import { maxListens, maxUris, tooManySubscriptions } from "./subscription-limits.ts";
import { kResourceList, type Topic } from "./topic.ts";
import { TopicWatch, type WatchShared } from "./topic-watch.ts";

/** One subscription. `isOver`: it was ended here, and its client is yet to be told. */
interface Listen {
  readonly watches: TopicWatch[];
  isOver: boolean;
}

/** Lists are not counted: there is one a subscription. */
function countUris(topics: readonly Topic[]): number {
  return topics.includes(kResourceList) ? topics.length - 1 : topics.length;
}

function topicsOf({ watches }: Listen): readonly Topic[] {
  return watches.map(({ topic }) => topic);
}

function stop(listen: Listen): void {
  listen.isOver = true;
  for (const watch of listen.watches) watch.close();
}

/** The subscriptions of a client of the modern era, each under the id of the request that opened it. */
export class Listens {
  readonly #shared: WatchShared;
  readonly #answer: (id: RequestId, answer: RpcAnswer) => void;
  readonly #open = new Map<RequestId, Listen>();
  #isSuspended = false;

  /** @param answer - told of those that end here; their clients get that as the answer. */
  constructor(shared: WatchShared, answer: (id: RequestId, answer: RpcAnswer) => void) {
    this.#shared = shared;
    this.#answer = answer;
  }

  /** How many URIs are watched, over all of them. */
  get uriCount(): number {
    let count = 0;
    for (const listen of this.#open.values()) count += countUris(topicsOf(listen));
    return count;
  }

  /** Whether one of this id is open. */
  has(id: RequestId): boolean {
    return this.#open.has(id);
  }

  /** Opens one and acknowledges what of its filter is honoured, or says why not. */
  open({ id, params }: RequestFrame): RpcError | undefined {
    const filter = readListenFilter(params);
    if (filter.kind === "error") return filter;
    const isTooMuch = this.#open.size >= maxListens || this.uriCount + countUris(filter.topics) > maxUris;
    if (isTooMuch) return tooManySubscriptions;
    const listen: Listen = { watches: [], isOver: false };
    this.#open.set(id, listen);
    for (const topic of filter.topics) {
      const watch = new TopicWatch(this.#shared, topic, id);
      if (watch.open()) listen.watches.push(watch);
    }
    this.#shared.send(renderAcknowledgement(id, toHonoured(topicsOf(listen))));
    if (this.#isSuspended) stop(listen);
    return undefined;
  }

  /** Ends one without a word: its client cancelled it. */
  cancel(id: RequestId): void {
    const listen = this.#open.get(id);
    if (listen === undefined) return;
    this.#open.delete(id);
    stop(listen);
  }

  /** Ends all of them; their clients are told when there is room. */
  suspend(): void {
    this.#isSuspended = true;
    for (const listen of this.#open.values()) stop(listen);
  }

  /** Tells the clients of those that have ended. */
  resume(): void {
    this.#isSuspended = false;
    for (const [id, { isOver }] of this.#open) if (isOver) this.#end(id);
  }

  /** Ends all of them, and tells their clients. */
  close(): void {
    // All stop before the first is told of it.
    this.suspend();
    this.resume();
  }

  #end(id: RequestId): void {
    this.#open.delete(id);
    this.#answer(id, toListenEnd(id));
  }
}
