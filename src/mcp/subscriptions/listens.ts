import { isJsonObject, type JsonObject } from "../../schema/json.ts";
import type { Caller } from "../../surface/caller.ts";
import { listNames, type ListName } from "../lists.ts";
import type { RequestFrame } from "../parse-frame.ts";
import { ownParam, rpcCodes, toRpcError, type RequestId, type RpcError } from "../protocol.ts";
import {
  maxUris,
  refuseLacking,
  renderAcknowledgement,
  toListenEnd,
  tooManySubscriptions,
  topicsOfLists,
  TopicWatch,
  urisOf,
  whenOpen,
  type Topic,
  type WatchDeps,
} from "./topic-watch.ts";

const maxListens = 64;

const noFilter = toRpcError(rpcCodes.invalidParams, 'Invalid params: "notifications" must be an object');
const badFlag = toRpcError(rpcCodes.invalidParams, "Invalid params: whether to hear of a list must be a boolean");
const badUris = toRpcError(rpcCodes.invalidParams, 'Invalid params: "resourceSubscriptions" must be an array of URIs');

/** One subscription. `isOver`: it was ended here, and its client is yet to be told. */
interface Listen {
  watches: TopicWatch[];
  isAcknowledged: boolean;
  isOver: boolean;
  stopWaiting: (() => void) | undefined;
}

function topicsOf({ watches }: Listen): readonly Topic[] {
  return watches.map(({ topic }) => topic);
}

function flagOf(list: ListName): string {
  return `${list}ListChanged`;
}

function isStrings(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}

/** Reads the topics of a `subscriptions/listen`, each once. Ignores unknown members, and lists that cannot change. */
function readTopics(params: JsonObject | undefined, changing: ReadonlySet<ListName>): readonly Topic[] | RpcError {
  const filter = ownParam(params, "notifications");
  if (!isJsonObject(filter)) return noFilter;
  const isFlag = (value: unknown): boolean => value === undefined || typeof value === "boolean";
  if (!listNames.every((list) => isFlag(ownParam(filter, flagOf(list))))) return badFlag;
  // A null is no array, and no absence either.
  const { resourceSubscriptions: uris = [] } = filter;
  if (!isStrings(uris)) return badUris;
  const lists = listNames.filter((list) => changing.has(list) && ownParam(filter, flagOf(list)) === true);
  return [...topicsOfLists(new Set(lists)), ...new Set(uris)];
}

function toHonoured(topics: readonly Topic[]): JsonObject {
  const uris = urisOf(topics);
  const lists = topics.filter((topic) => typeof topic !== "string");
  return {
    ...Object.fromEntries(lists.map(({ list }) => [flagOf(list), true])),
    ...(uris.length === 0 ? {} : { resourceSubscriptions: uris }),
  };
}

function stop(listen: Listen): void {
  listen.isOver = true;
  listen.stopWaiting?.();
  for (const watch of listen.watches) watch.close();
}

/** The subscriptions of a client of the modern era, each under the id of the request that opened it. */
export class Listens {
  readonly #deps: WatchDeps;
  readonly #open = new Map<RequestId, Listen>();
  #isSuspended: boolean;

  constructor(deps: WatchDeps, isSuspended = false) {
    this.#deps = deps;
    this.#isSuspended = isSuspended;
  }

  get uriCount(): number {
    let count = 0;
    for (const listen of this.#open.values()) count += urisOf(topicsOf(listen)).length;
    return count;
  }

  /** Opens one for a caller, which acknowledges what of its filter is honoured; or says why not. */
  open({ id, params }: RequestFrame, caller: Caller): RpcError | undefined {
    const deps = this.#deps;
    const { runtime, clock } = deps;
    const topics = readTopics(params, runtime.changing);
    if ("kind" in topics) return topics;
    deps.reached?.("gate");
    const uris = urisOf(topics);
    // Comes before the lookups: a frame has room for 10,000 URIs.
    if (this.#open.size >= maxListens || this.uriCount + uris.length > maxUris) return tooManySubscriptions;
    const lacking = refuseLacking(uris, caller, runtime);
    if (lacking !== undefined) return lacking;
    const target = { caller, deps };
    if (!runtime.resources.hasRoom(caller, uris)) return tooManySubscriptions;
    const listen: Listen = { watches: [], isAcknowledged: false, isOver: false, stopWaiting: undefined };
    this.#open.set(id, listen);
    for (const topic of topics) {
      const watch = new TopicWatch(target, topic, id);
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

  resume(): void {
    this.#isSuspended = false;
    for (const [id, listen] of this.#open) if (listen.isOver) this.#end(id, listen);
  }

  /** Ends all of them, and tells their clients. */
  close(): void {
    // All stop before the first client hears of it.
    this.suspend();
    this.resume();
  }

  #acknowledge(id: RequestId, listen: Listen): void {
    listen.stopWaiting = undefined;
    for (const watch of listen.watches) if (watch.isThere === false) watch.close();
    listen.watches = listen.watches.filter((watch) => watch.isOpen);
    this.#sendAcknowledgement(id, listen);
    for (const watch of listen.watches) watch.tell();
    if (this.#isSuspended) stop(listen);
  }

  #sendAcknowledgement(id: RequestId, listen: Listen): void {
    listen.isAcknowledged = true;
    this.#deps.send(renderAcknowledgement(id, toHonoured(topicsOf(listen))));
  }

  #end(id: RequestId, listen: Listen): void {
    this.#open.delete(id);
    // Nothing comes before the acknowledgement, the end neither.
    if (!listen.isAcknowledged) this.#sendAcknowledgement(id, listen);
    this.#deps.answer(id, toListenEnd(id), "modern");
  }
}
