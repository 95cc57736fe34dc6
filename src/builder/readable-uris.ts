import type { Caller } from "../catalog/caller.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { Touched } from "../catalog/entry.ts";
import { createUriResolver, type Resolved, type UriResolver } from "../catalog/resolve-uri.ts";
import type { ResourceWatches } from "../catalog/resource-watches.ts";
import type { Faces } from "../mcp/faces.ts";
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
    const shown = this.#shownTo(caller);
    return shown && this.#sources.watches.resolve(uri, this.#resolverOf(shown));
  }

  /** The same, and parts of what was too large for one answer: while their caller may still have all that it is made of. */
  findReadable(uri: string, caller: Caller): Readable | undefined {
    const part = this.#sources.large.resolve(uri, caller);
    if (part === undefined) return this.find(uri, caller);
    return part.of.every((touched) => this.#isOpen(touched, caller)) ? part : undefined;
  }

  /** As {@link find}: what a caller was not granted is not there either. */
  findOpen(uri: string, caller: Caller): Resolved | undefined {
    return ifGranted(this.find(uri, caller), caller);
  }

  /** As {@link findReadable}: what a caller was not granted is not there either. */
  findReadableOpen(uri: string, caller: Caller): Readable | undefined {
    return ifGranted(this.findReadable(uri, caller), caller);
  }

  #shownTo(caller: Caller): Catalog | undefined {
    const face = this.#sources.faces.of(caller);
    return "kind" in face ? undefined : face.catalog;
  }

  /** A part may itself have been read in parts. */
  #isOpen(touched: Touched, caller: Caller): boolean {
    if ("uri" in touched) return this.findReadableOpen(touched.uri, caller) !== undefined;
    const face = this.#sources.faces.of(caller);
    if ("kind" in face) return false;
    const tool = face.catalog.toolOf(touched.tool) ?? face.behind.toolOf(touched.tool);
    return ifGranted(tool, caller) !== undefined;
  }

  #resolverOf(shown: Catalog): UriResolver {
    const resolver = this.#resolvers.get(shown) ?? createUriResolver(shown);
    this.#resolvers.set(shown, resolver);
    return resolver;
  }
}
