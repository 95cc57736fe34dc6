import { Budget, type BudgetLimits } from "../spine/budget.ts";
import type { SurfaceClient } from "../surface/client.ts";
import { internalError, type FaultReporter } from "../surface/fault.ts";
import { Listeners } from "../surface/listeners.ts";
import type { Catalog } from "./catalog.ts";
import { sortResources, withMounted } from "./create-catalog.ts";
import { diffLists } from "./diff-lists.ts";
import type { ResourceEntry, ToolEntry } from "./entry.ts";
import { indexTools, type IndexedTools } from "./indexed-tools.ts";
import type { LiveCatalog } from "./live-catalog.ts";
import { Admission } from "./mount-admission.ts";
import type { MountSource } from "./mount.ts";
import { MountedSource, type MountedEntries } from "./mounted-source.ts";
import type { ContextSource } from "./own-context.ts";
import { createUriResolver } from "./resolve-uri.ts";

const mebibyte = 1024 * 1024;

/**
 * Bounds of the schemas of mounted operations, in characters of JSON: of one source, and of all. Schemas of many small fields
 * take about 15 bytes of heap for each character.
 */
export const schemaLimits: BudgetLimits = Object.freeze({ total: 16 * mebibyte, perKey: 12 * mebibyte });

/** What a live catalog is made from. */
export interface LiveCatalogSource {
  /** What is there whatever is mounted. */
  readonly base: Catalog;
  /** Where the rest comes from, by prefix. */
  readonly mounts: ReadonlyMap<string, MountSource>;
  /** Told of what is left out, and of sources that fail. */
  readonly report: FaultReporter;
  /** Where handlers have from what is their own. Default: in memory. */
  readonly contexts?: ContextSource | undefined;
  /** The client of the app's surface. @default one without members */
  readonly client?: SurfaceClient<unknown>;
}

const noClient: SurfaceClient<unknown> = Object.freeze({});

/** Finds what of an app itself a URI names, be it by a template. */
function createOwnerOf(base: Catalog): (uri: string) => { readonly origin: string } | undefined {
  const resolve = createUriResolver(base);
  return (uri) => {
    const owner = resolve(uri);
    return owner && [...base.resources, ...base.templates].find(({ id }) => id === owner.id);
  };
}

/** Joins lists; copies nothing where there is one. */
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
  readonly #tools: Admission<ToolEntry>;
  readonly #resources: Admission<ResourceEntry>;
  #mounted: MountedEntries;
  #indexed: IndexedTools;
  #catalog: Catalog;
  #isStale = true;
  #isMaking = false;
  #isClosed = false;

  constructor({ base, mounts, report, contexts, client = noClient }: LiveCatalogSource) {
    this.#base = base;
    this.#catalog = base;
    this.#report = report;
    const { scopes, uriPrefix } = base;
    const shared = { scopes, report, contexts, client, uriPrefix, schemas: this.schemas };
    this.#sources = Array.from(mounts, ([prefix, source]) => new MountedSource({ prefix, source, ...shared }));
    this.canReadOthers = this.#sources.some(({ mayHaveResources }) => mayHaveResources);
    const nameOf = ({ name }: ToolEntry): string => name;
    const ownerOf = (name: string): ToolEntry | undefined => base.tool(name);
    this.#tools = new Admission({ nameOf, ownerOf, called: "name on the wire", report });
    this.#resources = new Admission({ nameOf: ({ uri }) => uri, ownerOf: createOwnerOf(base), called: "URI", report });
    this.#mounted = { tools: this.#tools.admit([]), resources: this.#resources.admit([]) };
    this.#indexed = indexTools(base.tools);
    for (const source of this.#sources) source.listen(() => this.#change());
  }

  // Made when somebody looks: ten thousand operations that are registered one by one come to one catalog.
  get current(): Catalog {
    // Whoever hears of what is left out may look, or change something: the next look finds that.
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
    // An app's own names are kept from its mounts when it is put together, but for one without a prefix.
    const all = this.#sources.map((source) => source.entries());
    const tools = this.#tools.admit(join(all.map((each) => each.tools)));
    const resources = this.#resources.admit(join(all.map((each) => each.resources)));
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
    // Whoever registers an operation has no part in what becomes of it.
    this.#listeners.tell(undefined, (cause) => void internalError(cause, "catalog", this.#report));
  }
}

function toConstant(current: Catalog): LiveCatalog {
  const schemas = new Budget(schemaLimits);
  const never = { canChange: false, canReadOthers: false };
  return Object.freeze({ current, ...never, schemas, subscribe: () => () => {}, close() {} });
}

/**
 * Makes a catalog of what is always there and of what is mounted, as it is when somebody looks. What a source lists that cannot
 * be a tool or a resource is left out and reported once; a source that cannot be listed keeps what it listed last. Its maker closes it.
 */
export function createLiveCatalog(source: LiveCatalogSource): LiveCatalog {
  return source.mounts.size === 0 ? toConstant(source.base) : new MountedCatalog(source);
}
