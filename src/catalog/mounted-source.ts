import { SurfaceError } from "../errors.ts";
import type { Share } from "../spine/budget.ts";
import { internalError, onRejection, runUnawaited } from "../surface/fault.ts";
import { assertMountedResource } from "./assert-mounted-resource.ts";
import { assertOperation } from "./assert-operation.ts";
import type { ResourceEntry, ToolEntry } from "./entry.ts";
import { keepOperation, keepResource } from "./keep-operation.ts";
import { leftOut } from "./left-out.ts";
import { mountedId, mountOrigin } from "./mount-prefix.ts";
import { toMountedEntry, type MountParts, type MountSetting } from "./mounted-entry.ts";
import { MountedList } from "./mounted-list.ts";
import { schemaLength } from "./mounted-schemas.ts";
import { toMountedResource, type MountedReading } from "./mounted-resource.ts";

/** What a mount has for agents. */
export interface MountedEntries {
  readonly tools: readonly ToolEntry[];
  readonly resources: readonly ResourceEntry[];
}

/** What a source lists; `undefined` where it cannot say, and what it listed last stands. */
interface Listed {
  readonly operations: readonly unknown[] | undefined;
  readonly resources: readonly unknown[] | undefined;
}

/** The entries of one mount, as its source lists them. */
export class MountedSource {
  readonly #setting: MountParts;
  readonly #where: string;
  readonly #toolSetting: MountSetting;
  readonly #resourceSetting: MountedReading;
  readonly #tools: MountedList<ToolEntry>;
  readonly #resources: MountedList<ResourceEntry>;
  /** The schemas of each tool. */
  readonly #shares = new Map<ToolEntry, Share>();
  #isStale = true;
  #isTaking = false;
  #isAsked = false;
  /** Whether it said that something has changed while it was asked. */
  #isTold = false;
  #stop: (() => unknown) | undefined;

  constructor(setting: MountParts) {
    this.#setting = setting;
    this.#where = mountOrigin(setting.prefix);
    this.#toolSetting = { ...setting, find: (name) => this.#fresh(this.#tools).find(name) };
    this.#resourceSetting = { ...setting, find: (uri) => this.#fresh(this.#resources).find(uri) };
    const tell = (cause: unknown): void => this.#tell(leftOut(cause, this.#where));
    const [toTool, toResource] = [this.#toTool.bind(this), this.#toResource.bind(this)];
    const drop = (entry: ToolEntry): void => this.#drop(entry);
    this.#tools = new MountedList({ make: toTool, drop, nameOf: ({ name }) => name, called: "name on the wire", tell });
    this.#resources = new MountedList({ make: toResource, nameOf: ({ uri }) => uri, called: "URI", tell });
  }

  /** Whether it may ever have anything to read. */
  get mayHaveResources(): boolean {
    return this.#setting.source.resources !== undefined;
  }

  /** What there is now; the same lists until something changes. Never throws. */
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
      const stop: unknown = this.#setting.source.subscribe(told);
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
      const { operations, resources } = this.#ask();
      if (operations !== undefined) this.#tools.take(operations);
      if (resources !== undefined) this.#resources.take(resources);
    } finally {
      this.#isTaking = false;
    }
  }

  /** Once more where it says that it has changed by then, and only once: it may say so each time. */
  #ask(): Listed {
    this.#isAsked = true;
    this.#isTold = false;
    try {
      const listed = this.#listAll();
      return this.#isTold ? this.#listAll() : listed;
    } finally {
      this.#isAsked = false;
    }
  }

  #listAll(): Listed {
    const { source } = this.#setting;
    return {
      operations: this.#list(() => source.list(), "list() must return an array of operations"),
      resources: this.mayHaveResources
        ? this.#list(() => source.resources?.(), "resources() must return an array of resources")
        : undefined,
    };
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
    const operation = keepOperation(given);
    assertOperation(operation, { verb: "Mounting", prefix: mountedId(this.#setting.prefix, "") });
    if (operation.type === "subscription") return undefined;
    const entry = toMountedEntry(operation, this.#toolSetting);
    this.#hold(entry, schemaLength(operation, entry));
    return entry;
  }

  #hold(entry: ToolEntry, length: number): void {
    const share = this.#setting.schemas.open(this.#setting.prefix);
    const over = share.take(length);
    if (over !== undefined) {
      const whose = over.scope === "global" ? "all mounts" : this.#where;
      const message = `the schemas of ${whose} are more than ${over.limit} characters long together; describe less`;
      throw new SurfaceError("SCHEMA_UNSUPPORTED", `Mounting ${entry.origin}: ${message}`);
    }
    this.#shares.set(entry, share);
  }

  #drop(entry: ToolEntry): void {
    this.#shares.get(entry)?.release();
    this.#shares.delete(entry);
  }

  #toResource(given: unknown): ResourceEntry {
    const resource = keepResource(given);
    assertMountedResource(resource, this.#setting.prefix);
    return toMountedResource(resource, this.#resourceSetting);
  }

  /** One of its lists, as of now. */
  #fresh<TList>(list: TList): TList {
    this.entries();
    return list;
  }

  #tell(cause: unknown): void {
    internalError(cause, this.#where, this.#setting.report);
  }
}
