import type { PushedAsks } from "../../mcp/asking/pushed-asks.ts";
import type { ResponseFrame } from "../../mcp/parse-frame.ts";
import { isRequestId } from "../../mcp/protocol.ts";
import type { SubscriptionSession } from "../../mcp/subscriptions/subscription-session.ts";
import type { Caller } from "../../surface/caller.ts";
import type { HttpExchange } from "../message.ts";
import type { Session, SessionDeps, SessionScopes } from "./session.ts";
import { answerFault, storeAway, type SessionCopy, type SessionPeers, type StateChange } from "./session-peers.ts";
import type { SharedState } from "./session-record.ts";

/** Dependencies of a {@link SharedCopy}. */
export interface SharedCopyDeps extends Pick<SessionDeps, "http" | "onEnded"> {
  readonly shared: NonNullable<SessionDeps["shared"]>;
  readonly session: Session;
  readonly scopes: SessionScopes;
  readonly subscriptions: SubscriptionSession;
  /** Returns the questions to the client; `undefined` before the first. */
  readonly asks: () => PushedAsks | undefined;
}

const nothing: readonly string[] = Object.freeze([]);

const union = (some: readonly string[], more: Iterable<string>): readonly string[] => [...new Set([...some, ...more])];

/** A session on this replica, as one of its copies: shares what the client changes here, and takes over what it changes elsewhere. */
export class SharedCopy implements SessionCopy {
  readonly peers: SessionPeers;
  readonly #deps: SharedCopyDeps;
  #state: SharedState;
  /** The last caller who began to read notices here. */
  #listener: Caller | undefined;
  /** Number of rights that were shared. */
  #rights = 0;

  constructor(deps: SharedCopyDeps) {
    this.#deps = deps;
    this.peers = deps.shared.peers;
    this.#state = deps.shared.state;
    this.refreshed(this.#state);
    this.peers.join(this);
  }

  get asked(): Iterable<string> {
    return this.#deps.asks()?.ids ?? nothing;
  }

  /** Changes the state on every replica. */
  change(name: string, change: StateChange): void {
    this.#state = change(this.#state);
    this.peers.change(name, change);
  }

  /** Shares that the client has subscribed to a URI, or ended that. */
  subscribed(uri: string, isSubscribed: boolean): void {
    this.change(`uri ${uri}`, (state) => {
      if (state.uris.includes(uri) === isSubscribed) return state;
      return { ...state, uris: isSubscribed ? [...state.uris, uri] : state.uris.filter((other) => other !== uri) };
    });
  }

  /** Shares the rights that a reader needs, if there are more of them. */
  shareRights(): void {
    const { scopes } = this.#deps;
    if (scopes.size === this.#rights) return;
    this.#rights = scopes.size;
    const { needed } = scopes;
    this.change("rights", (state) => {
      return { ...state, scopes: union(state.scopes, needed.scopes), grants: union(state.grants, needed.grants) };
    });
  }

  /** Runs when this replica knows of the rights that other replicas have added, or the store is away. */
  async listen({ request, ...exchange }: HttpExchange, run: () => void): Promise<void> {
    const { http, session, shared } = this.#deps;
    try {
      await this.peers.sync();
    } catch (cause) {
      shared.failed(cause);
      const lastId = request.header("last-event-id");
      if (lastId !== undefined && session.streams.remoteOf(lastId) !== undefined) {
        const refusal = { status: 503, headers: session.headers, stage: "session" } as const;
        return http.responder.refuse({ request, ...exchange }, storeAway, refusal);
      }
    }
    try {
      run();
    } catch (cause) {
      answerFault(http, exchange.reply, cause);
    }
  }

  /** Called before a client gets notices here: announces once what it may have missed while it read them on another replica. */
  listened(caller: Caller): void {
    const { subscriptions, session } = this.#deps;
    const reader = session.streams.tag;
    const before = this.#state.reader;
    this.#listener = caller;
    this.#watch(caller);
    if (before === reader) return;
    if (before !== undefined) subscriptions.announce();
    this.change("reader", (state) => ({ ...state, reader }));
  }

  refreshed(state: SharedState): void {
    const { scopes, session, subscriptions } = this.#deps;
    const { log, streams } = session;
    for (const uri of this.#state.uris) if (!state.uris.includes(uri)) subscriptions.forget(uri);
    this.#state = state;
    const { level = log.level, reader = streams.tag } = state;
    log.level = level;
    const isLess = scopes.merge(state);
    this.#rights = scopes.size;
    if (isLess || reader !== streams.tag) streams.dismiss();
    if (this.#listener !== undefined && streams.hasListener) this.#watch(this.#listener);
  }

  ended(): void {
    const { onEnded, session } = this.#deps;
    onEnded?.(session);
  }

  answered(frame: ResponseFrame, rights: Pick<Caller, "scopes" | "resources">): void {
    this.#deps.asks()?.answer(frame, { ...this.#deps.session.caller, ...rights });
  }

  told(kind: unknown, what: unknown): void {
    const { asks, session } = this.#deps;
    if (kind === "cancel" && isRequestId(what)) session.dispatcher.cancel(what);
    else if (kind === "roots") asks()?.notified("notifications/roots/list_changed");
    else if (kind === "follow") session.streams.followed(what);
    else if (kind === "grew") session.streams.grew(what);
  }

  /** Watches for a reader of notices what the client has subscribed to on any replica. */
  #watch(caller: Caller): void {
    const { isInitialized, uris } = this.#state;
    const { subscriptions } = this.#deps;
    if (isInitialized) subscriptions.initialised(caller);
    for (const uri of uris) subscriptions.restore(uri, caller);
  }
}
