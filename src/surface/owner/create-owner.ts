import { SurfaceError } from "../../errors.ts";
import { isFunction, isObjectOrFunction } from "../../options/is-object.ts";
import { pickOptions } from "../../options/read-options.ts";
import { isDerived } from "../implementation.ts";
import type { Member, MemberOfKind, Kind } from "../member.ts";
import { pollTime, type AsyncSource, type MapSource } from "../source.ts";
import { CellOwner } from "./source-reader.ts";
import { CollectionOwner } from "./collection-owner.ts";
import { EventOwner } from "./event-owner.ts";
import type { StreamHandler } from "./listening.ts";
import type { OwnerDeps } from "./handler-context.ts";
import { ProcedureOwner, type ProcedureHandler } from "./procedure-owner.ts";
import { PushedCellOwner } from "./pushed-cell-owner.ts";
import { isPushedCollection, PushedCollectionOwner } from "./pushed-collection-owner.ts";
import { StreamOwner } from "./stream-owner.ts";
import { toUpstream } from "./upstream.ts";
import type { PageOptions } from "../client.ts";
import type { Operation, RequestVerb, SubscribeVerb, SurfaceChannel } from "../channel.ts";
import type { Scope } from "../../spine/scope.ts";

/** Owner of the implementation of a member. */
export type Owner =
  | CellOwner
  | PushedCellOwner
  | CollectionOwner
  | PushedCollectionOwner
  | StreamOwner
  | EventOwner
  | ProcedureOwner;

type Handler = StreamHandler & ProcedureHandler;

function missing(where: string, problem: string): SurfaceError {
  return new SurfaceError("MISSING_HANDLER", `Cannot implement ${where}: ${problem}`);
}

function assertHandler(value: unknown, where: string): asserts value is Handler {
  if (typeof value !== "function") throw missing(where, "its handler must be a function");
}

/** Binds `this` of a handler to the object of all handlers, so that a method may use its siblings. */
function bindHandler(value: unknown, where: string, handlers: object): Handler {
  assertHandler(value, where);
  return isDerived(value) ? value : value.bind(handlers);
}

function hasMethods(value: unknown, names: readonly string[]): boolean {
  // Atoms of some libraries are functions with properties.
  return isObjectOrFunction(value) && names.every((name) => isFunction(Reflect.get(value, name)));
}

function assertSource(
  value: unknown,
  where: string,
): asserts value is AsyncSource<unknown> & MapSource<unknown, unknown> {
  if (!hasMethods(value, ["get"])) {
    const keyed = where.startsWith("collection") ? ", or with keys() or list(page) beside get(key)" : "";
    throw missing(where, `it needs a source with get(), such as cellSource(…) or polled(…)${keyed}`);
  }
  // It is an object or a function, whose properties may have any value.
  const { subscribe, pollMs } = value as { readonly subscribe?: unknown; readonly pollMs?: unknown };
  if (subscribe !== undefined && typeof subscribe !== "function") {
    throw missing(where, '"subscribe" of its source must be a function');
  }
  pickOptions({ pollMs }, { pollMs: pollTime }, `Implementing ${where}`);
}

function createCellOwner(member: MemberOfKind<"cell">, handler: unknown, deps: OwnerDeps): Owner {
  const where = `cell "${deps.key}"`;
  if (hasMethods(handler, ["peek", "subscribe"]) && !hasMethods(handler, ["get"])) {
    throw missing(where, "its handler is a signal; wrap it in fromSignal(…)");
  }
  // A source that can be read at any time has an owner that never waits for a first value.
  const upstream = hasMethods(handler, ["get", "subscribe"]) ? undefined : toUpstream(handler);
  if (upstream !== undefined) return new PushedCellOwner(member, upstream, deps);
  assertSource(handler, where);
  return new CellOwner(member, handler, deps);
}

/** Creates the owner of a member. @throws SurfaceError `MISSING_HANDLER` when the handler does not fit the kind of the member. */
export function createOwner(member: Member, handler: unknown, deps: OwnerDeps): Owner {
  const { handlers } = deps;
  const where = `${member.kind} "${deps.key}"`;
  switch (member.kind) {
    case "cell":
      return createCellOwner(member, handler, deps);
    case "collection":
      if (member.filter !== undefined && !hasMethods(handler, ["list", "get"])) {
        throw missing(where, "it declares a filter: it needs a source with list(page) and get(key)");
      }
      if (isPushedCollection(handler)) return new PushedCollectionOwner(member, handler, deps);
      assertSource(handler, where);
      return new CollectionOwner(member, handler, deps);
    case "stream":
      return new StreamOwner(member, bindHandler(handler, where, handlers), deps);
    case "event":
      return new EventOwner(member, bindHandler(handler, where, handlers), deps);
    case "procedure":
      return new ProcedureOwner(member, bindHandler(handler, where, handlers), deps);
  }
}

type OwnerOf<TKind extends Kind> = Extract<Owner, { readonly kind: TKind }>;

/** The channel to a live surface in this process: passes each operation to the owner of the member. */
class OwnerChannel implements SurfaceChannel {
  readonly #surface: string;
  readonly #owners: ReadonlyMap<string, Owner>;
  readonly #scope: Scope;

  constructor(surface: string, owners: ReadonlyMap<string, Owner>, scope: Scope) {
    this.#surface = surface;
    this.#owners = owners;
    this.#scope = scope;
  }

  request({ verb, member, argument, options }: Operation<RequestVerb>): unknown {
    switch (verb) {
      case "get":
        return this.#find(member, "cell").get(options);
      case "keys":
        return this.#find(member, "collection").keys(options);
      case "item":
        return this.#find(member, "collection").item(argument, options);
      case "list":
        // The owner checks the page.
        return this.#find(member, "collection").list(argument as PageOptions, options);
      case "latest":
        return this.#find(member, "stream").latest(argument, options);
      case "wait":
        return this.#find(member, "event").wait(argument, options);
      case "recent":
        return this.#find(member, "event").recent(argument, options);
      case "call":
        return this.#find(member, "procedure").call(argument, options);
    }
  }

  subscribe({ verb, member, argument, options }: Operation<SubscribeVerb>): AsyncIterable<unknown> {
    switch (verb) {
      case "watch":
        return this.#find(member, "cell").watch(options);
      case "watchKeys":
        return this.#find(member, "collection").watchKeys(options);
      case "watchItem":
        return this.#find(member, "collection").watchItem(argument, options);
      case "watchList":
        // As above.
        return this.#find(member, "collection").watchList(argument as PageOptions, options);
      case "open":
        return this.#find(member, "stream", "event").open(argument, options);
      case "watchLatest":
        return this.#find(member, "stream").watchLatest(argument, options);
      case "watchRecent":
        return this.#find(member, "event").watchRecent(argument, options);
    }
  }

  /** Returns the owner of a member of one of these kinds. */
  #find<TKind extends Kind>(key: string, ...kinds: readonly TKind[]): OwnerOf<TKind> {
    if (this.#scope.closed) throw this.#scope.createClosed();
    const owner = this.#owners.get(key);
    if (owner === undefined) {
      throw new SurfaceError("UNKNOWN_MEMBER", `Cannot use surface "${this.#surface}": it has no member "${key}"`);
    }
    if (isKind(owner, kinds)) return owner;
    throw new SurfaceError("WRONG_KIND", `Cannot use "${key}" as a ${kinds.join(" or ")}: it is a ${owner.kind}`);
  }
}

function isKind<TKind extends Kind>(owner: Owner, kinds: readonly TKind[]): owner is OwnerOf<TKind> {
  return kinds.some((kind) => kind === owner.kind);
}

/** Creates the channel to a live surface in this process. */
export function createChannel(surface: string, owners: ReadonlyMap<string, Owner>, scope: Scope): SurfaceChannel {
  return new OwnerChannel(surface, owners, scope);
}
