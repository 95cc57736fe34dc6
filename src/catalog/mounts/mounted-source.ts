import { SurfaceError } from "../../errors.ts";
import type { Share } from "../../spine/budget.ts";
import { internalError, handleRejection, runUnawaited } from "../../surface/fault.ts";
import type { ResourceEntry, ToolEntry } from "../entry.ts";
import { PendingDiff, type ListDiff } from "../list-changes.ts";
import { isDiffing, kSubscribeDiffs, mountedId, mountOrigin } from "./mount.ts";
import { type MountDeps, toMountedEntry, toMountedResource } from "./mounted-entry.ts";
import { skippedEntryError, type MountedList, type SourceUpdates } from "./mounted-list.ts";
import { readOperation, readResource, schemaLength } from "./read-mounted.ts";

/** The entries of all mounts. */
export interface MountedLists {
  readonly tools: MountedList<ToolEntry>;
  readonly resources: MountedList<ResourceEntry>;
}

type Lists = readonly [operations: readonly unknown[] | undefined, resources: readonly unknown[] | undefined];

/** One mount: reads its source into the lists of entries. Call `close()` when done. */
export class MountedSource {
  readonly #deps: MountDeps;
  readonly #where: string;
  readonly #operations: SourceUpdates;
  readonly #resources: SourceUpdates;
  /** Changes that the source has announced one by one. */
  readonly #pending = new PendingDiff<unknown>();
  /** The share of each tool in the budget of schemas. */
  readonly #shares = new Map<ToolEntry, Share>();
  #isStale = true;
  #isRefreshing = false;
  #isListing = false;
  /** Whether the source announced a change while it was listed. */
  #hasChanged = false;
  #stop: (() => unknown) | undefined;

  constructor(deps: MountDeps, { tools, resources }: MountedLists) {
    this.#deps = deps;
    this.#where = mountOrigin(deps.prefix);
    const find = <TEntry extends ToolEntry | ResourceEntry>(
      list: MountedList<TEntry>,
      name: string,
    ): TEntry | undefined => {
      this.refresh();
      return list.find(name);
    };
    this.#operations = tools.addSource({
      make: (given) => this.#orLeftOut(() => this.#toTool(given, (name) => find(tools, name))),
      drop: (entry) => this.#release(entry),
    });
    this.#resources = resources.addSource({
      make: (given) => this.#orLeftOut(() => this.#toResource(given, (uri) => find(resources, uri))),
    });
  }

  /** Returns whether the source can ever have resources. */
  get mayHaveResources(): boolean {
    return this.#deps.source.resources !== undefined;
  }

  /** Reads the source if it has changed. A list that cannot be read stays as it is. Never throws. */
  refresh(): void {
    if (this.#isRefreshing) return;
    this.#isRefreshing = true;
    try {
      const diff = this.#pending.take();
      if (this.#isStale) this.#refreshAll();
      else if (diff !== undefined) this.#operations.change(diff);
    } finally {
      this.#isRefreshing = false;
    }
  }

  #refreshAll(): void {
    this.#isStale = false;
    const [operations, resources] = this.#list();
    if (operations !== undefined) this.#operations.set(operations);
    if (resources !== undefined) this.#resources.set(resources);
  }

  /** Calls `changed` after each change of the source. Never throws. */
  listen(changed: () => void): void {
    const { source } = this.#deps;
    const onDiff = ({ gone, come }: ListDiff<unknown>): void => {
      for (const item of gone) this.#pending.remove(item);
      for (const item of come) this.#pending.add(item);
      changed();
    };
    const onChange = (): void => {
      if (this.#isListing) {
        this.#hasChanged = true;
        return;
      }
      this.#isStale = true;
      changed();
    };
    try {
      const stop: unknown = isDiffing(source) ? source[kSubscribeDiffs](onDiff) : source.subscribe(onChange);
      if (typeof stop !== "function") {
        handleRejection(stop, (cause) => this.#report(cause));
        throw new SurfaceError(
          "INVALID_OPTION",
          `Cannot observe ${this.#where}: its subscribe() must return a function`,
        );
      }
      this.#stop = () => Reflect.apply(stop, undefined, []);
    } catch (cause) {
      this.#report(cause);
    }
  }

  /** Stops listening to the source. Callable twice; never throws. */
  close(): void {
    for (const entry of this.#shares.keys()) this.#release(entry);
    const stop = this.#stop;
    this.#stop = undefined;
    if (stop !== undefined) runUnawaited(stop, (cause) => this.#report(cause));
  }

  /** Returns the lists of the source; `undefined` for one that failed. */
  #list(): Lists {
    const { source } = this.#deps;
    const list = (): Lists => [
      this.#read(() => source.list(), "list() must return an array of operations"),
      this.mayHaveResources
        ? this.#read(() => source.resources?.(), "resources() must return an array of resources")
        : undefined,
    ];
    this.#isListing = true;
    this.#hasChanged = false;
    try {
      const lists = list();
      // Once more if it has announced a change meanwhile, but only once: it may do so each time.
      return this.#hasChanged ? list() : lists;
    } finally {
      this.#isListing = false;
    }
  }

  #read(list: () => unknown, must: string): readonly unknown[] | undefined {
    try {
      const listed = list();
      if (Array.isArray(listed)) return Array.from<unknown>(listed);
      handleRejection(listed, (cause) => this.#report(cause));
      throw new SurfaceError("INVALID_OPTION", `Cannot list ${this.#where}: its ${must}`);
    } catch (cause) {
      this.#report(cause);
      return undefined;
    }
  }

  #orLeftOut<TEntry>(make: () => TEntry): TEntry | undefined {
    try {
      return make();
    } catch (cause) {
      this.#report(skippedEntryError(cause, this.#where));
      return undefined;
    }
  }

  #toResource(given: unknown, find: (uri: string) => ResourceEntry | undefined): ResourceEntry {
    const { prefix, gates = [] } = this.#deps;
    const entry = toMountedResource(readResource(given, prefix), this.#deps, find);
    for (const gate of gates) gate?.assertResource(entry);
    return entry;
  }

  #toTool(given: unknown, find: (name: string) => ToolEntry | undefined): ToolEntry | undefined {
    const { prefix, schemas, gates = [] } = this.#deps;
    const operation = readOperation(given, "Cannot mount", mountedId(prefix, ""));
    if (operation.type === "subscription") return undefined;
    const entry = toMountedEntry(operation, this.#deps, find);
    for (const gate of gates) gate?.assertTool(entry);
    const share = schemas.open(prefix);
    const over = share.take(schemaLength(operation, entry));
    if (over !== undefined) {
      const whose = over.scope === "global" ? "all mounts" : this.#where;
      const message = `the schemas of ${whose} are more than ${over.limit} characters long together; describe less`;
      throw new SurfaceError("SCHEMA_UNSUPPORTED", `Cannot mount ${entry.origin}: ${message}`);
    }
    this.#shares.set(entry, share);
    return entry;
  }

  #release(entry: ToolEntry): void {
    this.#shares.get(entry)?.release();
    this.#shares.delete(entry);
  }

  #report(cause: unknown): void {
    internalError(cause, this.#where, this.#deps.report);
  }
}
