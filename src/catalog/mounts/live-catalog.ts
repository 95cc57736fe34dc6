import { Budget, type BudgetLimits } from "../../spine/budget.ts";
import type { SurfaceClient } from "../../surface/client.ts";
import { internalError, type FaultReporter } from "../../surface/fault.ts";
import { Listeners } from "../../surface/listeners.ts";
import type { Catalog } from "../catalog.ts";
import type { ContextSource } from "../context/own-context.ts";
import { withEntries } from "../create-catalog.ts";
import type { ResourceEntry, ToolEntry } from "../entry.ts";
import { patchSorted } from "../list-changes.ts";
import { createUriResolver } from "../resolve-uri.ts";
import type { MountSource } from "./mount.ts";
import type { MountedGate } from "./mounted-entry.ts";
import { skippedEntryError, MountedList } from "./mounted-list.ts";
import { MountedSource, type MountedLists } from "./mounted-source.ts";

const mebibyte = 1024 * 1024;

/**
 * Bounds of the schemas of mounted operations, in characters of JSON: of one source, and of all. Schemas of many small fields
 * take about 15 bytes of heap for each character.
 */
export const schemaLimits: BudgetLimits = Object.freeze({ total: 16 * mebibyte, perKey: 12 * mebibyte });

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
  /** Each may refuse a mounted entry. @default none */
  readonly gates?: readonly (MountedGate | undefined)[];
  /** The client of the app's surface. @default one without members */
  readonly client?: SurfaceClient<unknown>;
}

const noClient: SurfaceClient<unknown> = Object.freeze({});

/** Creates the lists of mounted entries, whose names differ from those of the app. */
function createLists(base: Catalog, report: FaultReporter): MountedLists {
  const tell = (cause: unknown, { origin }: { readonly origin: string }): void =>
    void internalError(skippedEntryError(cause, origin), origin, report);
  const resolve = createUriResolver(base);
  return {
    tools: new MountedList<ToolEntry>({
      nameOf: ({ name }) => name,
      ownerOf: (name) => base.tool(name),
      called: "wire name",
      tell,
    }),
    resources: new MountedList<ResourceEntry>({
      nameOf: ({ uri }) => uri,
      ownerOf(uri) {
        const owner = resolve(uri);
        return owner && [...base.resources, ...base.templates].find(({ id }) => id === owner.id);
      },
      called: "URI",
      tell,
    }),
  };
}

class MountedCatalog {
  /** Whether it can ever be another. */
  readonly canChange: boolean = true;
  /** Whether its resources can ever be others. If not, `current` always has the same list of them. */
  readonly canReadOthers: boolean;
  /** Counts the schemas of mounted operations, in characters of JSON; the key is the prefix of the mount. */
  readonly schemas: Budget = new Budget(schemaLimits);
  readonly #base: Catalog;
  readonly #report: FaultReporter;
  readonly #lists: MountedLists;
  readonly #sources: readonly MountedSource[];
  readonly #listeners = new Listeners();
  #catalog: Catalog;
  #isStale = true;
  #isUpdating = false;
  #isClosed = false;

  constructor({ base, mounts, report, contexts, gates, client = noClient }: LiveCatalogDeps) {
    this.#base = base;
    this.#catalog = base;
    this.#report = report;
    this.#lists = createLists(base, report);
    const { scopes, uriPrefix } = base;
    const shared = { scopes, report, contexts, gates, client, uriPrefix, schemas: this.schemas };
    this.#sources = Array.from(
      mounts,
      ([prefix, source]) => new MountedSource({ prefix, source, ...shared }, this.#lists),
    );
    this.canReadOthers = this.#sources.some(({ mayHaveResources }) => mayHaveResources);
    for (const source of this.#sources) source.listen(() => this.#change());
  }

  /** The catalog at present: the same object until something changes. */
  get current(): Catalog {
    // Updated on demand: ten thousand operations that are registered one by one cost one catalog. A reporter of a fault may read this
    // during an update; the next read finds a change that it makes.
    if (!this.#isStale || this.#isUpdating) return this.#catalog;
    this.#isStale = false;
    this.#isUpdating = true;
    try {
      this.#update();
    } finally {
      this.#isUpdating = false;
    }
    return this.#catalog;
  }

  /** Calls `changed` synchronously after each change. Returns a function that stops it. */
  subscribe(changed: () => void): () => void {
    return this.#listeners.add(changed);
  }

  /** Stops listening to the sources. Callable twice. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#listeners.clear();
    for (const source of this.#sources) source.close();
  }

  #update(): void {
    for (const source of this.#sources) source.refresh();
    const { tools, resources, templates, prompts } = this.#catalog;
    const [toolDiff, resourceDiff] = [this.#lists.tools.takeChange(), this.#lists.resources.takeChange()];
    if (toolDiff === undefined && resourceDiff === undefined) return;
    const entries = {
      tools: toolDiff ? patchSorted(tools, toolDiff, ({ name }) => name) : tools,
      resources: resourceDiff ? patchSorted(resources, resourceDiff, ({ uri }) => uri) : resources,
      templates,
      prompts,
    };
    this.#catalog = withEntries(entries, this.#base);
  }

  #change(): void {
    if (this.#isClosed) return;
    this.#isStale = true;
    // The code that registers an operation is not to blame for a listener that throws.
    this.#listeners.tell(undefined, (cause) => void internalError(cause, "catalog", this.#report));
  }
}

/** A catalog whose entries may come and go while it is served. Call `close()` when done. */
export type LiveCatalog = Pick<MountedCatalog, keyof MountedCatalog>;

/**
 * Creates the catalog of an app with its mounts, brought up to date on each look. An operation or a resource that is not valid is left
 * out and reported once; a source that cannot be listed keeps its last list. Call `close()` when done.
 */
export function createLiveCatalog(deps: LiveCatalogDeps): LiveCatalog {
  if (deps.mounts.size > 0) return new MountedCatalog(deps);
  // Requests read `current`: without mounts it is a plain field.
  return Object.freeze({
    ...{ current: deps.base, canChange: false, canReadOthers: false, schemas: new Budget(schemaLimits) },
    subscribe: () => () => {},
    close() {},
  });
}
