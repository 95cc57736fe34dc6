import type { CatalogScopes } from "../catalog/entry-scopes.ts";
import type { WatchListener } from "../catalog/resources/watched-resource.ts";
import type { Cluster } from "../cluster/cluster.ts";
import type { Caller } from "../surface/caller.ts";
import type { Observers } from "../observe/observers.ts";
import type { Budget } from "../spine/budget.ts";
import type { FaultReporter } from "../surface/fault.ts";
import type { Icon } from "../tags/display-metadata.ts";
import type { InspectedApp, kInspected } from "./inspected-app.ts";
import type { Extension } from "./extensions/extensions.ts";
import type { ListName } from "./lists.ts";
import type { Handlers } from "./handlers.ts";
import type { FrameLimits } from "./parse-frame.ts";
import type { RpcError } from "./protocol.ts";
import type { ResolvedView } from "./resolved-view.ts";

/** The name, version and description of a server. */
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
   * Watches a resource, also while there is no backend. Returns a function that ends the watch, after which nothing is called;
   * `undefined` if the resource is known not to exist. Neither throws.
   */
  watch(caller: Caller, uri: string, told: WatchListener): (() => void) | undefined;
  /** Returns whether a URI names a resource that may be watched now. */
  has(caller: Caller, uri: string): boolean;
  /** Returns whether there is room for watches of these URIs. Call it before {@link watch}. */
  hasRoom(caller: Caller, uris: Iterable<string>): boolean;
  /** Watches a list: `changed` is called only if the list of this caller differs. */
  watchList(caller: Caller, list: ListName, changed: () => void): () => void;
  /** Returns all scopes that reading a URI takes if the caller lacks one; else `undefined`. */
  lacking(caller: Caller, uri: string): readonly string[] | undefined;
}

/** An open app. Its opener closes it. */
export interface AppRuntime {
  readonly info: ServerInfo;
  readonly handlers: Handlers;
  /** The extensions of the protocol that the app serves. */
  readonly extensions: readonly Extension[];
  /**
   * Returns the view of a caller as it is shown now, or the error for every request of a caller whose view is denied. A transport
   * resolves it once a request, before anything else is done, and hands it to the handler.
   */
  viewFor(this: void, caller: Caller): ResolvedView | RpcError;
  readonly resources: AppResources;
  /** Refuses the name of an unknown view. @param doing - starts the message. @throws SurfaceError `INVALID_OPTION`. */
  assertView(name: string, doing: string): void;
  /** The lists that can change. */
  readonly changing: ReadonlySet<ListName>;
  readonly limits: FrameLimits;
  /** Counts the schemas of mounted operations. */
  readonly schemaBytes: Budget;
  /** Counts the parts of large values in this budget. Called at most once, before the first request. */
  countParts(this: void, budget: Budget): void;
  /**
   * Shares changes, questions and large values with the other replicas of a cluster, until the app is closed. Called at most once, before
   * the first request.
   */
  join(this: void, cluster: Cluster): void;
  /** Whether handlers of the author can write to the client's log. */
  readonly logs: boolean;
  readonly report: FaultReporter;
  /** The observers of the app. */
  readonly observers: Observers;
  /** The scopes that callers can be granted. Mounts may add some later. */
  readonly scopes: CatalogScopes;
  /** Tells whether the live surface can be reached, and connects if need be. Never rejects; `false` once the signal aborts. */
  isReady(signal: AbortSignal): Promise<boolean>;
  /** Closes the connection to the surface, and the surface if the app implements it. Callable twice. */
  close(): Promise<void>;
}

/** An app that can be served. */
export interface ServableApp {
  /** What an inspector reads of the app. Left out: it cannot be inspected. */
  readonly [kInspected]?: InspectedApp;
  /** Creates the catalog and everything that serves it. @throws SurfaceError with a boot code. */
  open(): AppRuntime;
}

/** A running server. */
export interface Serving {
  /** Resolves when the server has stopped; never rejects. */
  readonly closed: Promise<void>;
  /** Aborts running calls, at once or after a time that the target sets, and closes everything. Callable twice. */
  close(): Promise<void>;
}

/** Somewhere to serve an app: `stdio()`, `http()`. */
export interface ServeTarget<TServing extends Serving = Serving> {
  /** Starts serving; resolves once requests are answered. */
  serve(app: ServableApp): Promise<TServing>;
}
