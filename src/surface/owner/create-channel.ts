import { SurfaceError } from "../../errors.ts";
import type { Scope } from "../../spine/scope.ts";
import type { Operation, RequestVerb, SubscribeVerb, SurfaceChannel } from "../channel.ts";
import type { PageOptions } from "../client.ts";
import type { Kind } from "../member.ts";
import type { Owner } from "./create-owner.ts";

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
