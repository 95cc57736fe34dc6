import type { Caller } from "../../surface/caller.ts";
import type { RequestFrame } from "../parse-frame.ts";
import type { RequestId, RpcAnswer, RpcError } from "../protocol.ts";
import { readListenFilter, toHonoured } from "./listen-filter.ts";
import { renderAcknowledgement, toListenEnd } from "./notices.ts";
import { maxListens, maxUris, tooManySubscriptions } from "./subscription-limits.ts";
import { urisOf, type Topic } from "./topic.ts";
import { TopicWatch } from "./topic-watch.ts";
import { refuseLacking, toWatchShared, type WatchSetting } from "./watch-setting.ts";
import { whenOpen } from "./when-open.ts";

/** One subscription. `isOver`: it was ended here, and its client is yet to be told. */
interface Listen {
  watches: TopicWatch[];
  isAcknowledged: boolean;
  isOver: boolean;
  stopWaiting: () => void;
}

function topicsOf({ watches }: Listen): readonly Topic[] {
  return watches.map(({ topic }) => topic);
}

function stop(listen: Listen): void {
  listen.isOver = true;
  listen.stopWaiting();
  for (const watch of listen.watches) watch.close();
}

/** The subscriptions of a client of the modern era, each under the id of the request that opened it. */
export class Listens {
  readonly #setting: WatchSetting;
  readonly #answer: (id: RequestId, answer: RpcAnswer) => void;
  readonly #open = new Map<RequestId, Listen>();
  #isSuspended = false;

  /** @param answer - given what tells a client that its subscription was ended here. */
  constructor(setting: WatchSetting, answer: (id: RequestId, answer: RpcAnswer) => void) {
    this.#setting = setting;
    this.#answer = answer;
  }

  /** How many URIs are watched, over all of them. */
  get uriCount(): number {
    let count = 0;
    for (const listen of this.#open.values()) count += urisOf(topicsOf(listen)).length;
    return count;
  }

  /** Whether one of this id is open. */
  has(id: RequestId): boolean {
    return this.#open.has(id);
  }

  /** Opens one for a caller, which acknowledges what of its filter is honoured; or says why not. */
  open({ id, params }: RequestFrame, caller: Caller): RpcError | undefined {
    const { runtime, clock } = this.#setting;
    const shared = toWatchShared(this.#setting, caller);
    const filter = readListenFilter(params, runtime.changing);
    if (filter.kind === "error") return filter;
    this.#setting.reached?.("gate");
    const uris = urisOf(filter.topics);
    const lacking = refuseLacking(uris, caller, runtime);
    if (lacking !== undefined) return lacking;
    if (!this.#hasRoom(uris) || !shared.resources.hasRoom(uris)) return tooManySubscriptions;
    const listen: Listen = { watches: [], isAcknowledged: false, isOver: false, stopWaiting: () => {} };
    this.#open.set(id, listen);
    for (const topic of filter.topics) {
      const watch = new TopicWatch(shared, topic, id);
      if (watch.open()) listen.watches.push(watch);
    }
    listen.stopWaiting = whenOpen(listen.watches, clock, () => this.#acknowledge(id, listen));
    return undefined;
  }

  /** Ends one without an answer: its client cancelled it. */
  cancel(id: RequestId): void {
    const listen = this.#open.get(id);
    if (listen === undefined) return;
    this.#open.delete(id);
    stop(listen);
    // As if it had been cancelled a moment later: a client may count on one acknowledgement for each that it opened.
    if (!listen.isAcknowledged) this.#sendAcknowledgement(id, listen);
  }

  /** Ends all of them; their clients are told when there is room. */
  suspend(): void {
    this.#isSuspended = true;
    for (const listen of this.#open.values()) stop(listen);
  }

  /** Tells the clients of those that have ended. */
  resume(): void {
    this.#isSuspended = false;
    for (const [id, listen] of this.#open) if (listen.isOver) this.#end(id, listen);
  }

  /** Ends all of them, and tells their clients. */
  close(): void {
    // All stop before the first is told of it.
    this.suspend();
    this.resume();
  }

  #hasRoom(uris: readonly string[]): boolean {
    return this.#open.size < maxListens && this.uriCount + uris.length <= maxUris;
  }

  #acknowledge(id: RequestId, listen: Listen): void {
    for (const watch of listen.watches) if (watch.isThere === false) watch.close();
    listen.watches = listen.watches.filter((watch) => watch.isOpen);
    this.#sendAcknowledgement(id, listen);
    for (const watch of listen.watches) watch.tell();
    if (this.#isSuspended) stop(listen);
  }

  #sendAcknowledgement(id: RequestId, listen: Listen): void {
    listen.isAcknowledged = true;
    this.#setting.send(renderAcknowledgement(id, toHonoured(topicsOf(listen))));
  }

  #end(id: RequestId, listen: Listen): void {
    this.#open.delete(id);
    // Nothing comes before the acknowledgement, the end neither.
    if (!listen.isAcknowledged) this.#sendAcknowledgement(id, listen);
    this.#answer(id, toListenEnd(id));
  }
}
