import type { WatchTold } from "../catalog/resource-watches.ts";
import type { Caller } from "../surface/caller.ts";
import type { Budget } from "../spine/budget.ts";
import type { FaultReporter } from "../surface/fault.ts";
import type { Icon } from "../tags/looks.ts";
import type { ListName } from "./lists.ts";
import type { Handlers } from "./handlers.ts";
import type { FrameLimits } from "./parse-frame.ts";
import type { RpcError } from "./protocol.ts";
import type { ResolvedView } from "./resolved-view.ts";

/** How the server names itself. */
export interface ServerInfo {
  readonly name: string;
  readonly version: string;
  readonly title?: string;
  readonly description?: string;
  readonly websiteUrl?: string;
  readonly icons?: readonly Icon[];
}

/** The resources that callers may watch: those that their views show, and that they were granted. */
export interface AppResources {
  /**
   * Watches a resource; works, and waits, while there is no backend. Returns a function that ends it, after which nothing is called;
   * `undefined` if there is known to be no such resource. Neither throws. A caller that watches nothing costs nothing.
   */
  watch(caller: Caller, uri: string, told: WatchTold): (() => void) | undefined;
  /** Whether a URI names a resource that may be watched now. */
  has(caller: Caller, uri: string): boolean;
  /** Whether these may be watched too. Ask before watching for a client. */
  hasRoom(caller: Caller, uris: Iterable<string>): boolean;
  /** Watches a list: `changed` is called only if the list of this caller is another. */
  watchList(caller: Caller, list: ListName, changed: () => void): () => void;
  /** Returns all scopes that reading a URI takes if the caller lacks one; else `undefined`. */
  lacking(caller: Caller, uri: string): readonly string[] | undefined;
}

/** What the callers of an app can be granted. */
export interface AppScopes {
  /** What whatever does not change anything takes: `<surface>:read`. */
  readonly read: string;
  /** What whatever may change something takes: `<surface>:write`. */
  readonly write: string;
  /** Those two, and what authors ask for besides; sorted. */
  readonly all: readonly string[];
}

/** What an open app offers to whatever serves it. Whoever opened it closes it. */
export interface AppRuntime {
  readonly info: ServerInfo;
  readonly handlers: Handlers;
  /**
   * Returns the view of a caller as it is shown now, or the error for every request of a caller whose view is denied. A transport
   * resolves it once a request, before anything else is done, and hands it to the handler.
   */
  viewFor(this: void, caller: Caller): ResolvedView | RpcError;
  readonly resources: AppResources;
  /**
   * Refuses the name of a view that does not exist, at boot. @param doing - the start of the message.
   *
   * @throws SurfaceError `INVALID_OPTION`.
   */
  assertView(name: string, doing: string): void;
  /** The lists that can ever be others than they are now, for anybody. */
  readonly changing: ReadonlySet<ListName>;
  readonly limits: FrameLimits;
  /** Counts the schemas of mounted operations. */
  readonly schemaBytes: Budget;
  /** Counts the parts of large values in this budget. Called at most once, before the first request. */
  countParts(this: void, budget: Budget): void;
  /** Whether there is code of the author's that can tell the client's log. */
  readonly logs: boolean;
  readonly report: FaultReporter;
  /** What callers can be granted, for those who serve to callers that they know. */
  readonly scopes: AppScopes;
  /**
   * Says whether the live surface can be reached now, connecting where that has not happened yet. Never rejects.
   *
   * @param signal - ends the wait; the answer is `false` then.
   */
  isReady(signal: AbortSignal): Promise<boolean>;
  /** Closes the connection to the surface and, where the app implements it, the surface. Callable twice. */
  close(): Promise<void>;
}

/** An app that can be served. */
export interface ServableApp {
  /**
   * Makes its catalog and everything that serves it.
   *
   * @throws SurfaceError with a boot code, before anything is served.
   */
  open(): AppRuntime;
}

/** A running server. */
export interface Serving {
  /** Resolves when it has stopped, for whatever reason; never rejects. */
  readonly closed: Promise<void>;
  /**
   * Aborts running calls, at once or after a while that is the target's to say, and closes everything that serving opened.
   * Callable twice.
   */
  close(): Promise<void>;
}

/** Somewhere to serve an app: `stdio()`, `http()`. */
export interface ServeTarget<TServing extends Serving = Serving> {
  /** Starts serving; resolves once requests are answered. */
  serve(app: ServableApp): Promise<TServing>;
}
