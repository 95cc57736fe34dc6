import { SurfaceError } from "../../errors.ts";
import type { Share } from "../../spine/budget.ts";
import { internalError, onRejection, runUnawaited } from "../../surface/fault.ts";
import type { ResourceEntry, ToolEntry } from "../entry.ts";
import { toMountedEntry, type MountDeps } from "./mounted-entry.ts";
import { leftOut, MountedList } from "./mounted-list.ts";
import { mountedId, mountOrigin } from "./mounted-names.ts";
import { toMountedResource } from "./mounted-resource.ts";
import { schemaLength } from "./mounted-schemas.ts";
import { readOperation, readResource } from "./read-mounted.ts";

/** The entries of what is mounted. */
export interface MountedEntries {
  readonly tools: readonly ToolEntry[];
  readonly resources: readonly ResourceEntry[];
}

/** The entries of one mount. Call `close()` when done. */
export class MountedSource {
  readonly #deps: MountDeps;
  readonly #where: string;
  readonly #tools: MountedList<unknown, ToolEntry>;
  readonly #resources: MountedList<unknown, ResourceEntry>;
  /** The share of each tool in the budget of schemas. */
  readonly #shares = new Map<ToolEntry, Share>();
  #isStale = true;
  #isTaking = false;
  #isAsked = false;
  /** Whether the source announced a change while it was asked. */
  #isTold = false;
  #stop: (() => unknown) | undefined;

  constructor(deps: MountDeps) {
    this.#deps = deps;
    this.#where = mountOrigin(deps.prefix);
    const tell = (cause: unknown): void => this.#tell(leftOut(cause, this.#where));
    this.#tools = new MountedList({
      make: (given) => this.#toTool(given),
      drop: (entry) => this.#drop(entry),
      nameOf: ({ name }) => name,
      called: "name on the wire",
      tell,
    });
    const find = (uri: string): ResourceEntry | undefined => this.#fresh(this.#resources).find(uri);
    this.#resources = new MountedList({
      make: (given) => toMountedResource(readResource(given, deps.prefix), deps, find),
      nameOf: ({ uri }) => uri,
      called: "URI",
      tell,
    });
  }

  /** Whether it can ever have resources. */
  get mayHaveResources(): boolean {
    return this.#deps.source.resources !== undefined;
  }

  /** Returns the current entries: the same lists until something changes. Never throws. */
  entries(): MountedEntries {
    if (this.#isStale && !this.#isTaking) this.#refresh();
    return { tools: this.#tools.entries, resources: this.#resources.entries };
  }

  /** Calls `changed` after each change of the source. Never throws. */
  listen(changed: () => void): void {
    const told = (): void => {
      if (this.#isAsked) {
        this.#isTold = true;
        return;
      }
      this.#isStale = true;
      changed();
    };
    try {
      const stop: unknown = this.#deps.source.subscribe(told);
      if (typeof stop !== "function") {
        onRejection(stop, (cause) => this.#tell(cause));
        throw new SurfaceError("INVALID_OPTION", `Mounting ${this.#where}: its subscribe() must return a function`);
      }
      this.#stop = () => Reflect.apply(stop, undefined, []);
    } catch (cause) {
      this.#tell(cause);
    }
  }

  /** Stops listening to the source. Callable twice; never throws. */
  close(): void {
    for (const entry of this.#shares.keys()) this.#drop(entry);
    const stop = this.#stop;
    this.#stop = undefined;
    if (stop !== undefined) runUnawaited(stop, (cause) => this.#tell(cause));
  }

  #refresh(): void {
    this.#isTaking = true;
    this.#isStale = false;
    try {
      const [operations, resources] = this.#ask();
      if (operations !== undefined) this.#tools.take(operations);
      if (resources !== undefined) this.#resources.take(resources);
    } finally {
      this.#isTaking = false;
    }
  }

  /** Returns the lists of the source; `undefined` for one that failed, whose last list stands. */
  #ask(): readonly (readonly unknown[] | undefined)[] {
    const { source } = this.#deps;
    const ask = (): readonly (readonly unknown[] | undefined)[] => [
      this.#list(() => source.list(), "list() must return an array of operations"),
      this.mayHaveResources
        ? this.#list(() => source.resources?.(), "resources() must return an array of resources")
        : undefined,
    ];
    this.#isAsked = true;
    this.#isTold = false;
    try {
      const listed = ask();
      // Once more if it has announced a change meanwhile, but only once: it may do so each time.
      return this.#isTold ? ask() : listed;
    } finally {
      this.#isAsked = false;
    }
  }

  #list(ask: () => unknown, must: string): readonly unknown[] | undefined {
    try {
      const listed = ask();
      if (Array.isArray(listed)) return Array.from<unknown>(listed);
      onRejection(listed, (cause) => this.#tell(cause));
      throw new SurfaceError("INVALID_OPTION", `Listing ${this.#where}: its ${must}`);
    } catch (cause) {
      this.#tell(cause);
      return undefined;
    }
  }

  #toTool(given: unknown): ToolEntry | undefined {
    const { prefix, schemas } = this.#deps;
    const operation = readOperation(given, { verb: "Mounting", prefix: mountedId(prefix, "") });
    if (operation.type === "subscription") return undefined;
    const entry = toMountedEntry(operation, this.#deps, this.#findTool);
    const share = schemas.open(prefix);
    const over = share.take(schemaLength(operation, entry));
    if (over !== undefined) {
      const whose = over.scope === "global" ? "all mounts" : this.#where;
      const message = `the schemas of ${whose} are more than ${over.limit} characters long together; describe less`;
      throw new SurfaceError("SCHEMA_UNSUPPORTED", `Mounting ${entry.origin}: ${message}`);
    }
    this.#shares.set(entry, share);
    return entry;
  }

  #drop(entry: ToolEntry): void {
    this.#shares.get(entry)?.release();
    this.#shares.delete(entry);
  }

  readonly #findTool = (name: string): ToolEntry | undefined => this.#fresh(this.#tools).find(name);

  #fresh<TList>(list: TList): TList {
    this.entries();
    return list;
  }

  #tell(cause: unknown): void {
    internalError(cause, this.#where, this.#deps.report);
  }
}
