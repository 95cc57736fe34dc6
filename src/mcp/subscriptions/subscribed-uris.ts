import type { Caller } from "../../surface/caller.ts";
import type { JsonObject } from "../../schema/json.ts";
import type { RequestFrame } from "../parse-frame.ts";
import { badUri, closing, ownParam, toNotFound, toRpcResult, type RequestId, type RpcAnswer } from "../protocol.ts";
import {
  maxUris,
  refuseLacking,
  tooManySubscriptions,
  topicsOfLists,
  TopicWatch,
  urisOf,
  whenOpen,
  type Topic,
  type WatchDeps,
} from "./topic-watch.ts";

/** One topic that is subscribed to, and the requests that wait for the answer. */
interface Subscribed {
  readonly watch: TopicWatch;
  readonly waiting: RequestId[];
  stopWaiting: (() => void) | undefined;
}

const empty = toRpcResult("");

function uriOf(params: JsonObject | undefined): string | undefined {
  const uri = ownParam(params, "uri");
  return typeof uri === "string" ? uri : undefined;
}

/** The watches of a client up to 2025-11-25: the URIs that it subscribed to, and the lists once it is initialised. */
export class SubscribedUris {
  readonly #deps: WatchDeps;
  readonly #subscribed = new Map<Topic, Subscribed>();
  #isSuspended: boolean;

  constructor(deps: WatchDeps, isSuspended: boolean) {
    this.#deps = deps;
    this.#isSuspended = isSuspended;
  }

  get uriCount(): number {
    return urisOf(this.#subscribed.keys()).length;
  }

  /** Serves a caller's `resources/subscribe`. A URI that is subscribed to already stays so. No answer: it follows. */
  subscribe({ id, params }: RequestFrame, caller: Caller): RpcAnswer | undefined {
    const { clock } = this.#deps;
    const uri = uriOf(params);
    if (uri === undefined) return badUri;
    const refused = this.#refuse(uri, caller);
    if (refused !== undefined) return refused;
    const known = this.#subscribed.get(uri);
    if (known?.waiting.length === 0) return this.#confirm(uri);
    if (known === undefined && !this.#hasRoom(uri, caller)) return tooManySubscriptions;
    const subscribed = known ?? this.#add(uri, caller);
    if (subscribed === undefined) return toNotFound(uri, "legacy");
    subscribed.waiting.push(id);
    if (known === undefined) {
      subscribed.stopWaiting = whenOpen([subscribed.watch], clock, () => this.#settle(uri, subscribed));
    }
    return undefined;
  }

  /** Answers `resources/unsubscribe`. What was not subscribed to is not told apart from what does not exist. */
  unsubscribe({ params }: RequestFrame): RpcAnswer {
    const uri = uriOf(params);
    if (uri === undefined) return badUri;
    this.#deps.reached?.("gate");
    this.#deps.onSubscribed?.(uri, false);
    this.forget(uri);
    return empty;
  }

  /** Watches a URI that the client subscribed to on another replica, and announces it once. Ignores a URI that the caller may not watch. */
  restore(uri: string, caller: Caller): void {
    if (this.#subscribed.has(uri) || this.#refuse(uri, caller) !== undefined || !this.#hasRoom(uri, caller)) return;
    const subscribed = this.#add(uri, caller);
    if (subscribed === undefined) return;
    subscribed.watch.changed();
    subscribed.stopWaiting = whenOpen([subscribed.watch], this.#deps.clock, () => this.#settle(uri, subscribed));
  }

  /** Ends the subscription to a URI, if there is one. */
  forget(uri: string): void {
    const subscribed = this.#subscribed.get(uri);
    if (subscribed !== undefined) this.#remove(uri, subscribed, empty);
  }

  /** Takes back a request that waits, and what it would have subscribed to where no other one waits for that. */
  cancel(id: RequestId): void {
    for (const [topic, subscribed] of this.#subscribed) {
      const { waiting } = subscribed;
      const at = waiting.indexOf(id);
      if (at < 0) continue;
      waiting.splice(at, 1);
      if (waiting.length === 0) this.#remove(topic, subscribed, closing);
    }
  }

  /** Watches the lists that can change too, as their caller may see them. Callable twice. */
  watchLists(caller: Caller): void {
    for (const topic of topicsOfLists(this.#deps.runtime.changing)) {
      if (!this.#subscribed.has(topic)) this.#add(topic, caller)?.watch.tell();
      if (this.#isSuspended) this.#subscribed.get(topic)?.watch.close();
    }
  }

  /** Watches no list any more, until {@link watchLists}. */
  unwatchLists(): void {
    for (const topic of topicsOfLists(this.#deps.runtime.changing)) {
      const subscribed = this.#subscribed.get(topic);
      if (subscribed !== undefined) this.#remove(topic, subscribed, closing);
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

  /** Watches again. What happened meanwhile is announced as one change of each topic, and a topic that is gone is removed. */
  resume(): void {
    this.#isSuspended = false;
    for (const [topic, subscribed] of this.#subscribed) {
      if (subscribed.watch.open()) continue;
      // No request waits for a list.
      this.#remove(topic, subscribed, typeof topic === "string" ? toNotFound(topic, "legacy") : closing);
    }
  }

  /** Ends every subscription, and answers the requests that wait. */
  close(): void {
    for (const [topic, subscribed] of this.#subscribed) this.#remove(topic, subscribed, closing);
  }

  /** Comes first: a URI that is hidden by now, or from this caller, may be subscribed to all the same. */
  #refuse(uri: string, caller: Caller): RpcAnswer | undefined {
    const { runtime, reached } = this.#deps;
    reached?.("gate");
    const isThere = runtime.resources.has(caller, uri);
    return refuseLacking([uri], caller, runtime) ?? (isThere ? undefined : toNotFound(uri, "legacy"));
  }

  #hasRoom(uri: string, caller: Caller): boolean {
    return this.uriCount < maxUris && this.#deps.runtime.resources.hasRoom(caller, [uri]);
  }

  #add(topic: Topic, caller: Caller): Subscribed | undefined {
    const watch = new TopicWatch({ caller, deps: this.#deps }, topic);
    if (!watch.open()) return undefined;
    const subscribed: Subscribed = { watch, waiting: [], stopWaiting: undefined };
    this.#subscribed.set(topic, subscribed);
    return subscribed;
  }

  /** Ends the subscription to a topic. The answer goes to every request that waits for it. */
  #remove(topic: Topic, subscribed: Subscribed, answer: RpcAnswer): void {
    this.#subscribed.delete(topic);
    subscribed.stopWaiting?.();
    subscribed.watch.close();
    this.#answerWaiting(subscribed, answer);
  }

  #confirm(uri: string): RpcAnswer {
    this.#deps.onSubscribed?.(uri, true);
    return empty;
  }

  #settle(uri: string, subscribed: Subscribed): void {
    const { watch } = subscribed;
    subscribed.stopWaiting = undefined;
    if (watch.isThere === false) return this.#remove(uri, subscribed, toNotFound(uri, "legacy"));
    if (subscribed.waiting.length > 0) this.#answerWaiting(subscribed, this.#confirm(uri));
    watch.tell();
    if (this.#isSuspended) watch.close();
  }

  #answerWaiting({ waiting }: Subscribed, answer: RpcAnswer): void {
    for (const id of waiting.splice(0)) this.#deps.answer(id, answer, "legacy");
  }
}
