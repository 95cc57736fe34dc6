import { SurfaceError } from "../errors.ts";
import { internalError, type FaultReporter } from "../surface/fault.ts";
import { Listeners } from "../surface/listeners.ts";
import type { Catalog } from "./catalog.ts";
import { withTools } from "./create-catalog.ts";
import type { ToolEntry } from "./entry.ts";
import type { LiveCatalog } from "./live-catalog.ts";
import type { MountSource } from "./mount.ts";
import { MountedSource } from "./mounted-source.ts";
import type { ContextSource } from "./own-context.ts";

/** What a live catalog is made from. */
export interface LiveCatalogSource {
  /** What is there whatever is mounted. */
  readonly base: Catalog;
  /** Where the rest comes from, by prefix. */
  readonly mounts: ReadonlyMap<string, MountSource>;
  /** Told of operations that are left out, and of sources that fail. */
  readonly report: FaultReporter;
  /** Where handlers have from what is their own. Default: in memory. */
  readonly contexts?: ContextSource | undefined;
}

function isSame(left: readonly ToolEntry[], right: readonly ToolEntry[]): boolean {
  return left.length === right.length && left.every((entry, index) => entry === right[index]);
}

class MountedCatalog implements LiveCatalog {
  readonly canChange = true;
  readonly #base: Catalog;
  readonly #report: FaultReporter;
  readonly #sources: readonly MountedSource[];
  readonly #listeners = new Listeners();
  /** Those that were left out because of something of another origin, and were told of. */
  #taken: ReadonlySet<ToolEntry> = new Set();
  #mounted: readonly ToolEntry[] = [];
  #catalog: Catalog;
  #isStale = true;
  #isMaking = false;
  #isClosed = false;

  constructor({ base, mounts, report, contexts }: LiveCatalogSource) {
    this.#base = base;
    this.#catalog = base;
    this.#report = report;
    const { scopes } = base;
    const shared = { scopes, report, contexts };
    this.#sources = Array.from(mounts, ([prefix, source]) => new MountedSource({ prefix, source, ...shared }));
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
    const mounted = this.#admit(this.#sources.flatMap((source) => source.entries()));
    if (isSame(mounted, this.#mounted)) return;
    this.#mounted = mounted;
    this.#catalog = withTools(this.#base, mounted);
  }

  #change(): void {
    if (this.#isClosed) return;
    this.#isStale = true;
    // Whoever registers an operation has no part in what becomes of it.
    this.#listeners.tell(undefined, (cause) => void internalError(cause, "catalog", this.#report));
  }

  /** Those whose name nothing else has. An app's own names are kept from its mounts when it is put together. */
  #admit(entries: readonly ToolEntry[]): readonly ToolEntry[] {
    const byName = new Map<string, ToolEntry>();
    const taken = new Set<ToolEntry>();
    for (const entry of entries) {
      const first = this.#base.tool(entry.name) ?? byName.get(entry.name);
      if (first === undefined) byName.set(entry.name, entry);
      else taken.add(this.#leaveOut(entry, first));
    }
    this.#taken = taken;
    return [...byName.values()];
  }

  #leaveOut(entry: ToolEntry, first: ToolEntry): ToolEntry {
    if (this.#taken.has(entry)) return entry;
    const message = `Naming ${entry.origin}: its name on the wire, "${entry.name}", is taken by ${first.origin}`;
    internalError(new SurfaceError("NAME_COLLISION", message), entry.origin, this.#report);
    return entry;
  }
}

function toConstant(current: Catalog): LiveCatalog {
  return Object.freeze({ current, canChange: false, subscribe: () => () => {}, close() {} });
}

/**
 * Makes a catalog of what is always there and of what is mounted, as it is when somebody looks. What a source lists that cannot
 * be a tool is left out and reported once; a source that cannot be listed keeps what it listed last. Its maker closes it.
 */
export function createLiveCatalog(source: LiveCatalogSource): LiveCatalog {
  return source.mounts.size === 0 ? toConstant(source.base) : new MountedCatalog(source);
}
