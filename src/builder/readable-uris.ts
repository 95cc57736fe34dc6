import type { Caller } from "../surface/caller.ts";
import type { Catalog } from "../catalog/catalog.ts";
import { createUriResolver, type Resolved, type UriResolver } from "../catalog/resolve-uri.ts";
import type { ResourceWatches } from "../catalog/resource-watches.ts";
import type { Face, Faces } from "../mcp/faces.ts";
import type { LargeValues, Readable } from "../mcp/large-values.ts";
import { ifGranted } from "./if-granted.ts";

/** What is looked at to find what a URI names. */
export interface ReadableSources {
  readonly faces: Pick<Faces, "of">;
  readonly watches: ResourceWatches;
  readonly large: LargeValues;
}

/** Finds what URIs name for callers, of what their views show. Whoever uses it asks what of that they were granted. */
export class ReadableUris {
  readonly #sources: ReadableSources;
  readonly #resolvers = new WeakMap<Catalog, UriResolver>();

  constructor(sources: ReadableSources) {
    this.#sources = sources;
  }

  /** The resource that a URI names; what is not shown to a caller is not there. */
  find(uri: string, caller: Caller): Resolved | undefined {
    const face = this.#sources.faces.of(caller);
    return "kind" in face ? undefined : this.#findIn(face, uri);
  }

  /** As {@link find}, and the parts of a large value, for the caller and by the view and rules that it was made for. */
  findReadable(uri: string, caller: Caller): Readable | undefined {
    const face = this.#sources.faces.of(caller);
    if ("kind" in face) return undefined;
    return this.#sources.large.resolve(uri, { caller, rules: face.rules }) ?? this.#findIn(face, uri);
  }

  /** As {@link find}: what a caller was not granted is not there either. */
  findOpen(uri: string, caller: Caller): Resolved | undefined {
    return ifGranted(this.find(uri, caller), caller);
  }

  /** As {@link findReadable}: what a caller was not granted is not there either. */
  findReadableOpen(uri: string, caller: Caller): Readable | undefined {
    return ifGranted(this.findReadable(uri, caller), caller);
  }

  #findIn({ catalog }: Face, uri: string): Resolved | undefined {
    return this.#sources.watches.resolve(uri, this.#resolverOf(catalog));
  }

  #resolverOf(shown: Catalog): UriResolver {
    const resolver = this.#resolvers.get(shown) ?? createUriResolver(shown);
    this.#resolvers.set(shown, resolver);
    return resolver;
  }
}
