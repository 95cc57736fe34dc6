import type { Caller } from "../../surface/caller.ts";
import type { JsonObject } from "../../schema/json.ts";
import { rpcCodes, toNotFound, toRpcError, toRpcResult, type RequestId, type RpcAnswer } from "../protocol.ts";
import type { RequestFrame } from "../parse-frame.ts";
import { maxUris, tooManySubscriptions } from "./subscription-limits.ts";
import { topicsOfLists, urisOf, type Topic } from "./topic.ts";
import { TopicWatch, type WatchShared } from "./topic-watch.ts";
import { refuseLacking, toWatchShared, type WatchSetting } from "./watch-setting.ts";
import { whenOpen } from "./when-open.ts";

/** One topic that is subscribed to, and the requests that wait to hear so. */
interface Subscribed {
  readonly watch: TopicWatch;
  readonly waiting: Set<RequestId>;
  stopWaiting: () => void;
}

const badUri = toRpcError(rpcCodes.invalidParams, 'Invalid params: "uri" must be a string');
const empty = toRpcResult("");

function uriOf(params: JsonObject | undefined): string | undefined {
  const uri = params !== undefined && Object.hasOwn(params, "uri") ? params["uri"] : undefined;
  return typeof uri === "string" ? uri : undefined;
}

/** What a client of the legacy era watches: the URIs that it subscribed to, and lists once it is initialised. */
export class SubscribedUris {
  readonly #setting: WatchSetting;
  readonly #answer: (id: RequestId, answer: RpcAnswer) => void;
  readonly #subscribed = new Map<Topic, Subscribed>();
  readonly #waiting = new Map<RequestId, string>();
  #isSuspended = false;

  /** @param answer - given the answers that had to be waited for. */
  constructor(setting: WatchSetting, answer: (id: RequestId, answer: RpcAnswer) => void) {
    this.#setting = setting;
    this.#answer = answer;
  }

  /** How many URIs are subscribed to. */
  get uriCount(): number {
    return urisOf(this.#subscribed.keys()).length;
  }

  /** Whether a request of this id waits for its answer. */
  has(id: RequestId): boolean {
    return this.#waiting.has(id);
  }

  /** Serves a caller's `resources/subscribe`. A URI that is subscribed to already stays so. No answer: it follows. */
  subscribe({ id, params }: RequestFrame, caller: Caller): RpcAnswer | undefined {
    const { clock } = this.#setting;
    const uri = uriOf(params);
    if (uri === undefined) return badUri;
    const shared = toWatchShared(this.#setting, caller);
    const refused = this.#refuse(uri, caller, shared);
    if (refused !== undefined) return refused;
    const known = this.#subscribed.get(uri);
    if (known !== undefined && known.waiting.size === 0) return empty;
    if (known === undefined && !this.#hasRoom(uri, shared)) return tooManySubscriptions;
    const subscribed = known ?? this.#add(uri, shared);
    if (subscribed === undefined) return toNotFound(uri, "legacy");
    subscribed.waiting.add(id);
    this.#waiting.set(id, uri);
    if (known === undefined) {
      subscribed.stopWaiting = whenOpen([subscribed.watch], clock, () => this.#settle(uri, subscribed));
    }
    return undefined;
  }

  /** Answers `resources/unsubscribe`. What was not subscribed to is not told apart from what does not exist. */
  unsubscribe({ params }: RequestFrame): RpcAnswer {
    const uri = uriOf(params);
    if (uri === undefined) return badUri;
    this.#setting.reached?.("gate");
    const subscribed = this.#subscribed.get(uri);
    if (subscribed === undefined) return empty;
    this.#remove(uri, subscribed);
    this.#answerWaiting(subscribed, empty);
    return empty;
  }

  /** Takes back a request that waits, and what it would have subscribed to where no other one waits for that. */
  cancel(id: RequestId): void {
    const uri = this.#waiting.get(id);
    const subscribed = uri === undefined ? undefined : this.#subscribed.get(uri);
    this.#waiting.delete(id);
    if (uri === undefined || subscribed === undefined) return;
    subscribed.waiting.delete(id);
    if (subscribed.waiting.size === 0) this.#remove(uri, subscribed);
  }

  /** Watches the lists that can change too, as their caller may see them. Callable twice. */
  watchLists(caller: Caller): void {
    for (const topic of topicsOfLists(this.#setting.runtime.changing)) {
      if (!this.#subscribed.has(topic)) this.#add(topic, toWatchShared(this.#setting, caller))?.watch.tell();
      if (this.#isSuspended) this.#subscribed.get(topic)?.watch.close();
    }
  }

  /** Watches no list any more, until {@link watchLists}. */
  unwatchLists(): void {
    for (const topic of topicsOfLists(this.#setting.runtime.changing)) {
      const subscribed = this.#subscribed.get(topic);
      if (subscribed !== undefined) this.#remove(topic, subscribed);
    }
  }

  /** Announces one change of each, to a client that may have missed some. */
  announce(): void {
    for (const { watch } of this.#subscribed.values()) watch.changed();
  }

  /** Stops watching, but keeps what was subscribed to. */
  suspend(): void {
    this.#isSuspended = true;
    for (const { watch } of this.#subscribed.values()) watch.close();
  }

  /** Watches again; whatever has happened meanwhile is announced as one change of each. */
  resume(): void {
    this.#isSuspended = false;
    for (const [topic, subscribed] of this.#subscribed) {
      if (!subscribed.watch.open()) this.#remove(topic, subscribed);
    }
  }

  /** Ends every subscription. Whoever waits is not answered any more. */
  close(): void {
    for (const [topic, subscribed] of this.#subscribed) this.#remove(topic, subscribed);
    this.#waiting.clear();
  }

  /** Asked first of all: what is hidden by now, or from this caller, may be subscribed to all the same. */
  #refuse(uri: string, caller: Caller, { resources }: WatchShared): RpcAnswer | undefined {
    const { runtime, reached } = this.#setting;
    reached?.("gate");
    return refuseLacking([uri], caller, runtime) ?? (resources.has(uri) ? undefined : toNotFound(uri, "legacy"));
  }

  #hasRoom(uri: string, { resources }: WatchShared): boolean {
    return this.uriCount < maxUris && resources.hasRoom([uri]);
  }

  #add(topic: Topic, shared: WatchShared): Subscribed | undefined {
    const watch = new TopicWatch(shared, topic);
    if (!watch.open()) return undefined;
    const subscribed: Subscribed = { watch, waiting: new Set(), stopWaiting: () => {} };
    this.#subscribed.set(topic, subscribed);
    return subscribed;
  }

  #remove(topic: Topic, { watch, stopWaiting }: Subscribed): void {
    this.#subscribed.delete(topic);
    stopWaiting();
    watch.close();
  }

  #settle(uri: string, subscribed: Subscribed): void {
    const { watch } = subscribed;
    if (watch.isThere === false) {
      this.#remove(uri, subscribed);
      return this.#answerWaiting(subscribed, toNotFound(uri, "legacy"));
    }
    this.#answerWaiting(subscribed, empty);
    watch.tell();
    if (this.#isSuspended) watch.close();
  }

  #answerWaiting({ waiting }: Subscribed, answer: RpcAnswer): void {
    for (const id of waiting) {
      waiting.delete(id);
      this.#waiting.delete(id);
      this.#answer(id, answer);
    }
  }
}
