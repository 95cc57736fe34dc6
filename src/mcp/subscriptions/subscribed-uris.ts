import type { JsonObject } from "../../schema/json.ts";
import { toNotFound } from "../not-found.ts";
import { rpcCodes, toRpcError, toRpcResult, type RpcAnswer } from "../protocol.ts";
import { maxUris, tooManySubscriptions } from "./subscription-limits.ts";
import { kResourceList, type Topic } from "./topic.ts";
import { TopicWatch, type WatchShared } from "./topic-watch.ts";

const badUri = toRpcError(rpcCodes.invalidParams, 'Invalid params: "uri" must be a string');
const empty = toRpcResult("");

function uriOf(params: JsonObject | undefined): string | undefined {
  const uri = params !== undefined && Object.hasOwn(params, "uri") ? params["uri"] : undefined;
  return typeof uri === "string" ? uri : undefined;
}

/** What a client of the legacy era watches: the URIs that it subscribed to, and the list once it is initialised. */
export class SubscribedUris {
  readonly #shared: WatchShared;
  readonly #watches = new Map<Topic, TopicWatch>();
  #isSuspended = false;

  constructor(shared: WatchShared) {
    this.#shared = shared;
  }

  /** How many URIs are subscribed to. */
  get uriCount(): number {
    return this.#watches.has(kResourceList) ? this.#watches.size - 1 : this.#watches.size;
  }

  /** Answers `resources/subscribe`. A URI that is subscribed to already stays so. */
  subscribe(params: JsonObject | undefined): RpcAnswer {
    const uri = uriOf(params);
    if (uri === undefined) return badUri;
    if (this.#watches.has(uri)) return empty;
    if (this.uriCount >= maxUris) return tooManySubscriptions;
    return this.#add(uri) ? empty : toNotFound(uri, "legacy");
  }

  /** Answers `resources/unsubscribe`. What was not subscribed to is not told apart from what does not exist. */
  unsubscribe(params: JsonObject | undefined): RpcAnswer {
    const uri = uriOf(params);
    if (uri === undefined) return badUri;
    this.#watches.get(uri)?.close();
    this.#watches.delete(uri);
    return empty;
  }

  /** Watches the list of resources too. Callable twice. */
  watchList(): void {
    if (!this.#watches.has(kResourceList)) this.#add(kResourceList);
  }

  /** Stops watching, but keeps what was subscribed to. */
  suspend(): void {
    this.#isSuspended = true;
    for (const watch of this.#watches.values()) watch.close();
  }

  /** Watches again; whatever has happened meanwhile is announced as one change of each. */
  resume(): void {
    this.#isSuspended = false;
    for (const [topic, watch] of this.#watches) {
      if (watch.open()) this.#shared.outbox.post(watch);
      else this.#watches.delete(topic);
    }
  }

  /** Ends every subscription. */
  close(): void {
    for (const watch of this.#watches.values()) watch.close();
    this.#watches.clear();
  }

  #add(topic: Topic): boolean {
    const watch = new TopicWatch(this.#shared, topic);
    if (!watch.open()) return false;
    this.#watches.set(topic, watch);
    if (this.#isSuspended) watch.close();
    return true;
  }
}
