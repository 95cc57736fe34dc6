import { Budget, type BudgetLimits } from "../../spine/budget.ts";
import type { SurfaceClient } from "../../surface/client.ts";
import { internalError, type FaultReporter } from "../../surface/fault.ts";
import { Listeners } from "../../surface/listeners.ts";
import type { Catalog } from "../catalog.ts";
import { sortResources, withMounted } from "../create-catalog.ts";
import type { ResourceEntry, ToolEntry } from "../entry.ts";
import { indexTools, type IndexedTools } from "../indexed-tools.ts";
import { diffLists } from "../list-changes.ts";
import type { MountSource } from "./mount.ts";
import { leftOut, MountedList } from "./mounted-list.ts";
import { MountedSource, type MountedEntries } from "./mounted-source.ts";
import type { ContextSource } from "../context/own-context.ts";
import { createUriResolver } from "../resolve-uri.ts";

const mebibyte = 1024 * 1024;

/**
 * Bounds of the schemas of mounted operations, in characters of JSON: of one source, and of all. Schemas of many small fields
 * take about 15 bytes of heap for each character.
 */
export const schemaLimits: BudgetLimits = Object.freeze({ total: 16 * mebibyte, perKey: 12 * mebibyte });

/** A catalog whose entries may come and go while it is served. Call {@link close} when done. */
export interface LiveCatalog {
  /** The catalog at present: the same object until something changes. */
  readonly current: Catalog;
  /** Whether it can ever be another. */
  readonly canChange: boolean;
  /** Whether its resources can ever be others. If not, `current` always has the same list of them. */
  readonly canReadOthers: boolean;
  /** Counts the schemas of mounted operations, in characters of JSON; the key is the prefix of the mount. */
  readonly schemas: Budget;
  /** Calls `changed` synchronously after each change. Returns a function that stops it. */
  subscribe(changed: () => void): () => void;
  /** Stops listening to the sources. Callable twice. */
  close(): void;
}

/** Dependencies of {@link createLiveCatalog}. */
export interface LiveCatalogDeps {
  /** The catalog without mounts. */
  readonly base: Catalog;
  /** The sources by prefix. */
  readonly mounts: ReadonlyMap<string, MountSource>;
  /** Receives the faults of sources, and the entries that are left out. */
  readonly report: FaultReporter;
  /** @default in memory */
  readonly contexts?: ContextSource | undefined;
  /** The client of the app's surface. @default one without members */
  readonly client?: SurfaceClient<unknown>;
}

const noClient: SurfaceClient<unknown> = Object.freeze({});

/** Creates the function that finds the app's own entry of a URI. */
function createOwnerOf(base: Catalog): (uri: string) => { readonly origin: string } | undefined {
  const resolve = createUriResolver(base);
  return (uri) => {
    const owner = resolve(uri);
    return owner && [...base.resources, ...base.templates].find(({ id }) => id === owner.id);
  };
}

/** Joins lists, without a copy if there is only one. */
function join<TEntry>(lists: readonly (readonly TEntry[])[]): readonly TEntry[] {
  const [only] = lists;
  return only !== undefined && lists.length === 1 ? only : lists.flat();
}

class MountedCatalog implements LiveCatalog {
  readonly canChange = true;
  readonly canReadOthers: boolean;
  readonly schemas = new Budget(schemaLimits);
  readonly #base: Catalog;
  readonly #report: FaultReporter;
  readonly #sources: readonly MountedSource[];
  readonly #listeners = new Listeners();
  readonly #tools: MountedList<ToolEntry, ToolEntry>;
  readonly #resources: MountedList<ResourceEntry, ResourceEntry>;
  #mounted: MountedEntries;
  #indexed: IndexedTools;
  #catalog: Catalog;
  #isStale = true;
  #isMaking = false;
  #isClosed = false;

  constructor({ base, mounts, report, contexts, client = noClient }: LiveCatalogDeps) {
    this.#base = base;
    this.#catalog = base;
    this.#report = report;
    const { scopes, uriPrefix } = base;
    const shared = { scopes, report, contexts, client, uriPrefix, schemas: this.schemas };
    this.#sources = Array.from(mounts, ([prefix, source]) => new MountedSource({ prefix, source, ...shared }));
    this.canReadOthers = this.#sources.some(({ mayHaveResources }) => mayHaveResources);
    const tell = (cause: unknown, entry?: { readonly origin: string }): void => {
      const where = entry?.origin ?? "catalog";
      internalError(leftOut(cause, where), where, report);
    };
    this.#tools = new MountedList({
      make: (tool) => tool,
      nameOf: ({ name }) => name,
      ownerOf: (name) => base.tool(name),
      called: "name on the wire",
      tell,
    });
    this.#resources = new MountedList({
      make: (resource) => resource,
      nameOf: ({ uri }) => uri,
      ownerOf: createOwnerOf(base),
      called: "URI",
      tell,
    });
    this.#mounted = { tools: this.#tools.entries, resources: this.#resources.entries };
    this.#indexed = indexTools(base.tools);
    for (const source of this.#sources) source.listen(() => this.#change());
  }

  // Made on demand: ten thousand operations that are registered one by one cost one catalog.
  get current(): Catalog {
    // A reporter of a fault may look while the catalog is made; a change that it makes is found by the next look.
    if (!this.#isStale || this.#isMaking) return this.#catalog;
    this.#isStale = false;
    this.#isMaking = true;
    try {
      this.#make();
    } finally {
      this.#isMaking = false;
    }
    return this.#catalog;
  }

  subscribe(changed: () => void): () => void {
    return this.#listeners.add(changed);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#listeners.clear();
    for (const source of this.#sources) source.close();
  }

  #make(): void {
    const before = this.#mounted;
    const all = this.#sources.map((source) => source.entries());
    const tools = this.#tools.take(join(all.map((each) => each.tools)));
    const resources = this.#resources.take(join(all.map((each) => each.resources)));
    if (tools === before.tools && resources === before.resources) return;
    this.#mounted = { tools, resources };
    this.#indexed = this.#indexed.patch(diffLists(before.tools, tools));
    const isRead = resources === before.resources;
    const read = isRead ? this.#catalog.resources : sortResources(this.#base, resources);
    this.#catalog = withMounted(this.#base, { resources: read, indexed: this.#indexed });
  }

  #change(): void {
    if (this.#isClosed) return;
    this.#isStale = true;
    // The code that registers an operation is not to blame for a listener that throws.
    this.#listeners.tell(undefined, (cause) => void internalError(cause, "catalog", this.#report));
  }
}

/**
 * Creates the catalog of an app with its mounts, brought up to date on each look. An operation or a resource that is not valid is left
 * out and reported once; a source that cannot be listed keeps its last list. Call `close()` when done.
 */
export function createLiveCatalog(deps: LiveCatalogDeps): LiveCatalog {
  if (deps.mounts.size > 0) return new MountedCatalog(deps);
  return Object.freeze({
    current: deps.base,
    canChange: false,
    canReadOthers: false,
    schemas: new Budget(schemaLimits),
    subscribe: () => () => {},
    close() {},
  });
}
