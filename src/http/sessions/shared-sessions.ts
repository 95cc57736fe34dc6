import type { Cluster, SharedPlace } from "../../cluster/cluster.ts";
import { ObservedChannel } from "../../observe/observed-channel.ts";
import type { OverBudget } from "../../spine/budget.ts";
import { rpcCodes, sessionNotFound, toRpcError, type RpcError } from "../../mcp/protocol.ts";
import type { Caller } from "../../surface/caller.ts";
import { internalError } from "../../surface/fault.ts";
import type { Permit } from "../admission.ts";
import type { HttpDeps } from "../http-deps.ts";
import { withView } from "../read-view.ts";
import type { Session, SessionDeps } from "./session.ts";
import { SessionPeers, storeAway } from "./session-peers.ts";
import { newRecord, sessionGroupOf, sessionKeyOf, type SessionRecord } from "./session-record.ts";

/** A session that begins here. */
export type NewSession = Omit<SessionDeps, "http" | "onEnded">;

/** The sessions that this replica serves. */
export interface ServedSessions {
  readonly all: ReadonlyMap<string, Session>;
  /** Permits one more, or returns the reason why not. */
  permit(caller: Caller): Permit | RpcError;
  open(session: NewSession): Session;
  /** Returns the session that may give way to another one: of a caller, and that no other replica has served. */
  givesWay(of: Caller | undefined): Session | undefined;
  /** Ends a session on this replica. */
  end(session: Session, reason: "idle" | "client"): void;
}

/** The group of all sessions. */
const allSessions = "sessions";

/** Milliseconds that a session without a limit is kept after the last replica has left it. */
const longestMs = 24 * 60 * 60 * 1000;

/** Sessions for which this replica sends commands at the same time, on its own account. */
const maxAtOnce = 16;

/** Only such ids are looked up. */
const sessionId = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Returns the error for a session beyond a limit. */
export function toFullError(limit: OverBudget): RpcError {
  return toRpcError(rpcCodes.busy, "Server busy: too many sessions are open", limit);
}

/** Works on many items, a few of them at the same time: so that a burst of commands does not delay those of requests. */
class FewAtOnce<TItem> {
  readonly #most: number;
  readonly #work: (item: TItem) => Promise<void>;
  readonly #waiting = new Set<TItem>();
  #working = 0;

  /** @param work - must not reject. */
  constructor(most: number, work: (item: TItem) => Promise<void>) {
    this.#most = most;
    this.#work = work;
  }

  /** Works on an item, perhaps later. One that waits already does so once. */
  add(item: TItem): void {
    this.#waiting.add(item);
    if (this.#working < this.#most) void this.#run();
  }

  async #run(): Promise<void> {
    this.#working += 1;
    for (const item of this.#waiting) {
      this.#waiting.delete(item);
      await this.#work(item);
    }
    this.#working -= 1;
  }
}

/**
 * The sessions that this replica shares with the others. Every quarter of the time after which an idle session ends, it renews those that
 * are active here. Call {@link close} when done.
 */
export class SharedSessions {
  readonly #http: HttpDeps;
  readonly #cluster: Cluster;
  readonly #served: ServedSessions;
  readonly #ttlMs: number;
  /** Sessions that are being adopted, by key, for all requests that wait for one. */
  readonly #adopting = new Map<string, Promise<Session | RpcError>>();
  /** Sessions to renew, and those of which messages may have been lost. */
  readonly #due = new FewAtOnce<Session>(maxAtOnce, (session) => this.#renew(session));
  readonly #behind = new FewAtOnce<SessionPeers>(maxAtOnce, (peers) => peers.catchUp());
  #stopTimer: (() => void) | undefined;
  #hasFailed = false;

  constructor(http: HttpDeps, cluster: Cluster, served: ServedSessions) {
    this.#http = http;
    this.#cluster = cluster;
    this.#served = served;
    this.#ttlMs = http.bounds.sessionIdleMs || longestMs;
  }

  /** Resolves with a session that another replica has opened, or the reason why not. */
  adopt(id: string, caller: Caller): Promise<Session | RpcError> {
    const key = sessionKeyOf(caller, id);
    const adopting = this.#adopting.get(key) ?? this.#adopt(id, caller).finally(() => this.#adopting.delete(key));
    this.#adopting.set(key, adopting);
    return adopting;
  }

  /** Opens a session for all replicas. Resolves with it, or the reason why not. */
  async create(session: NewSession): Promise<Session | RpcError> {
    const { id, caller, kinds, extensions, version } = session;
    const peers = this.#createPeers(id, caller);
    try {
      const full = await this.#makePlace(id, caller);
      if (full !== undefined) return this.#leave(peers, toFullError(full));
      const state = newRecord({ kinds, extensions, version, view: caller.view });
      await peers.create(state);
      return this.#open(session, peers, state);
    } catch (cause) {
      return this.#leave(peers, this.#away(cause));
    }
  }

  /** Ends a session on every replica. Resolves with `false` while the store is away. */
  async end(session: Session, reason: "idle" | "client"): Promise<boolean> {
    const { id, caller } = session;
    const { bus, store } = this.#cluster;
    const key = sessionKeyOf(caller, id);
    const own = sessionGroupOf(caller);
    try {
      // Outlives each copy that misses the message: none stores the record again.
      await store.set(key, "ended", 2 * this.#ttlMs);
      bus.publish(key, JSON.stringify(["ended"]));
      this.#served.end(session, reason);
      await store.leave(id, own === undefined ? [allSessions] : [allSessions, own]);
    } catch (cause) {
      this.failed(cause);
    }
    // Its places expire if they could not be given back.
    return this.#served.all.get(id) !== session;
  }

  /** Stops. The sessions go on, on other replicas. Callable twice. */
  close(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
  }

  /** Reports an error of the store, and no further one until it works. */
  readonly failed = (cause: unknown): void => {
    if (!this.#hasFailed) internalError(cause, "the sessions of the cluster", this.#http.runtime.report);
    this.#hasFailed = true;
  };

  #away(cause: unknown): RpcError {
    this.failed(cause);
    return storeAway;
  }

  #leave(peers: SessionPeers, error: RpcError): RpcError {
    peers.leave();
    return error;
  }

  async #adopt(id: string, sender: Caller): Promise<Session | RpcError> {
    if (!sessionId.test(id)) return sessionNotFound;
    // Listens before it looks: a later end of the session is announced.
    const peers = this.#createPeers(id, sender);
    try {
      const state = await peers.load();
      if (state === undefined) return this.#leave(peers, sessionNotFound);
      const permit = this.#served.permit(sender);
      if ("kind" in permit) return this.#leave(peers, permit);
      const { version, view } = state;
      const client = { kinds: new Set(state.kinds), extensions: new Set(state.extensions) };
      const channel = new ObservedChannel(this.#http.runtime.observers, "http");
      const caller = withView(sender, view);
      return this.#open({ id, permit, caller, ...client, version, channel }, peers, state);
    } catch (cause) {
      return this.#leave(peers, this.#away(cause));
    }
  }

  #open(session: NewSession, peers: SessionPeers, state: SessionRecord): Session {
    this.#arm();
    return this.#served.open({ ...session, shared: { peers, state, tag: state.tag, failed: this.failed } });
  }

  /** Takes places for a session, or renews them. Resolves with the limit if there are none. */
  async #take(id: string, caller: Caller): Promise<OverBudget | undefined> {
    const { maxSessions, maxSessionsPerPrincipal } = this.#http.bounds;
    const own = sessionGroupOf(caller);
    const places: SharedPlace[] = [{ group: allSessions, most: maxSessions }];
    if (own !== undefined) places.push({ group: own, most: maxSessionsPerPrincipal });
    const full = await this.#cluster.store.take(id, places, this.#ttlMs);
    if (full === undefined) return undefined;
    const isOwn = full === own;
    return { scope: isOwn ? "principal" : "global", limit: isOwn ? maxSessionsPerPrincipal : maxSessions };
  }

  /** Takes places, if need be those of a session whose client has probably left. */
  async #makePlace(id: string, caller: Caller): Promise<OverBudget | undefined> {
    const full = await this.#take(id, caller);
    const idlest = full && this.#served.givesWay(full.scope === "principal" ? caller : undefined);
    if (idlest === undefined || !(await this.end(idlest, "idle"))) return full;
    return this.#take(id, caller);
  }

  #createPeers(id: string, caller: Caller): SessionPeers {
    const lost = (peers: SessionPeers): void => this.#behind.add(peers);
    const known = { cluster: this.#cluster, key: sessionKeyOf(caller, id), ttlMs: this.#ttlMs };
    return new SessionPeers({ ...known, failed: this.failed, lost });
  }

  #arm(): void {
    const since = this.#http.clock.now();
    this.#stopTimer ??= this.#http.clock.after(this.#ttlMs / 4, () => {
      this.#stopTimer = undefined;
      const { sessionIdleMs } = this.#http.bounds;
      for (const session of this.#served.all.values()) {
        if (sessionIdleMs === 0 || (session.idleSince ?? since) >= since) this.#due.add(session);
      }
      if (this.#served.all.size > 0) this.#arm();
    });
  }

  async #renew({ id, caller, copy }: Session): Promise<void> {
    try {
      await copy?.peers.renew();
      if (copy?.peers.isOver === false) await this.#take(id, caller);
      this.#hasFailed = false;
    } catch (cause) {
      this.failed(cause);
    }
  }
}
