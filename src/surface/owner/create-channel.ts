import { SurfaceError } from "../../errors.ts";
import type { Scope } from "../../spine/scope.ts";
import type { SurfaceChannel } from "../channel.ts";
import type { Kind } from "../member.ts";
import type { Owner } from "./create-owner.ts";

type OwnerOf<TKind extends Kind> = Extract<Owner, { readonly kind: TKind }>;

/** Finds the owner of a member and checks that it is of the kind that was asked for. */
class Owners {
  readonly #surface: string;
  readonly #owners: ReadonlyMap<string, Owner>;
  readonly #scope: Scope;

  constructor(surface: string, owners: ReadonlyMap<string, Owner>, scope: Scope) {
    this.#surface = surface;
    this.#owners = owners;
    this.#scope = scope;
  }

  find<TKind extends Kind>(key: string, ...kinds: readonly TKind[]): OwnerOf<TKind> {
    this.#scope.assertOpen();
    const owner = this.#owners.get(key);
    if (owner === undefined) {
      throw new SurfaceError("UNKNOWN_MEMBER", `Using surface "${this.#surface}": it has no member "${key}"`);
    }
    if (isKind(owner, kinds)) return owner;
    throw new SurfaceError("WRONG_KIND", `Using "${key}" as a ${kinds.join(" or ")}: it is a ${owner.kind}`);
  }
}

function isKind<TKind extends Kind>(owner: Owner, kinds: readonly TKind[]): owner is OwnerOf<TKind> {
  return kinds.some((kind) => kind === owner.kind);
}

/** The channel to a live surface in this process: each use goes straight to the member's owner. */
export function createChannel(surface: string, byKey: ReadonlyMap<string, Owner>, scope: Scope): SurfaceChannel {
  const owners = new Owners(surface, byKey, scope);
  return Object.freeze({
    get: async (key, use) => owners.find(key, "cell").get(use),
    watch: (key, use) => owners.find(key, "cell").watch(use),
    keys: async (key, use) => owners.find(key, "collection").keys(use),
    watchKeys: (key, use) => owners.find(key, "collection").watchKeys(use),
    item: async (key, item, use) => owners.find(key, "collection").item(item, use),
    watchItem: (key, item, use) => owners.find(key, "collection").watchItem(item, use),
    list: async (key, page, use) => owners.find(key, "collection").list(page, use),
    watchList: (key, page, use) => owners.find(key, "collection").watchList(page, use),
    open: (key, input, use) => owners.find(key, "stream", "event").open(input, use),
    watchLatest: (key, input, use) => owners.find(key, "stream").watchLatest(input, use),
    watchRecent: (key, input, use) => owners.find(key, "event").watchRecent(input, use),
    latest: async (key, input, use) => owners.find(key, "stream").latest(input, use),
    wait: async (key, input, use) => owners.find(key, "event").wait(input, use),
    recent: async (key, input, use) => owners.find(key, "event").recent(input, use),
    call: async (key, input, use) => owners.find(key, "procedure").call(input, use),
    direct: {
      get: (key, use) => owners.find(key, "cell").get(use),
      call: (key, input, use) => owners.find(key, "procedure").call(input, use),
    },
  } satisfies SurfaceChannel);
}
