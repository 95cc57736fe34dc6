import { SurfaceError } from "../errors.ts";
import { internalError, onRejection, runUnawaited } from "../surface/fault.ts";
import { assertOperation } from "./assert-operation.ts";
import type { ToolEntry } from "./entry.ts";
import { keepOperation } from "./keep-operation.ts";
import { mountedId, mountOrigin } from "./mount-prefix.ts";
import { toMountedEntry, type MountSetting } from "./mounted-entry.ts";

const none: readonly ToolEntry[] = Object.freeze([]);

/**
 * The entries of one mount, as its source lists them: each made once, for as long as the source gives the same object. What
 * cannot be an entry is left out and reported once, and the others work.
 */
export class MountedSource {
  readonly #setting: MountSetting;
  readonly #where: string;
  /** What every operation came to that was listed last; `undefined` where nothing came of it. */
  #made: ReadonlyMap<unknown, ToolEntry | undefined> = new Map();
  /** Those that were left out because of another of the same name, and were told of. */
  #doubles: ReadonlySet<unknown> = new Set();
  /** By the name on the wire, without those. */
  #byName: ReadonlyMap<string, ToolEntry> = new Map();
  #entries = none;
  #isStale = true;
  #isTaking = false;
  #isAsked = false;
  /** Whether it said that something has changed while it was asked. */
  #isTold = false;
  #stop: (() => unknown) | undefined;

  constructor(setting: Omit<MountSetting, "find">) {
    this.#setting = { ...setting, find: (name) => this.#find(name) };
    this.#where = mountOrigin(setting.prefix);
  }

  /** What there is now; the same list until something changes. Never throws. */
  entries(): readonly ToolEntry[] {
    if (!this.#isStale || this.#isTaking) return this.#entries;
    this.#isTaking = true;
    this.#isStale = false;
    try {
      this.#take(this.#ask());
    } catch (cause) {
      // What was listed last stands.
      this.#tell(cause);
    } finally {
      this.#isTaking = false;
    }
    return this.#entries;
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

  /** Lets go of the source. Callable twice; never throws. */
  close(): void {
    const stop = this.#stop;
    this.#stop = undefined;
    if (stop !== undefined) runUnawaited(stop, (cause) => this.#tell(cause));
  }

  #find(name: string): ToolEntry | undefined {
    this.entries();
    return this.#byName.get(name);
  }

  /** Once more where it says that it has changed by then, and only once: it may say so each time. */
  #ask(): readonly unknown[] {
    this.#isAsked = true;
    this.#isTold = false;
    try {
      const operations = this.#list();
      return this.#isTold ? this.#list() : operations;
    } finally {
      this.#isAsked = false;
    }
  }

  #list(): readonly unknown[] {
    const listed: unknown = this.#setting.source.list();
    if (Array.isArray(listed)) return Array.from<unknown>(listed);
    onRejection(listed, (cause) => this.#tell(cause));
    throw new SurfaceError("INVALID_OPTION", `Listing ${this.#where}: its list() must return an array of operations`);
  }

  #take(operations: readonly unknown[]): void {
    const made = new Map<unknown, ToolEntry | undefined>();
    const doubles = new Set<unknown>();
    const byName = new Map<string, ToolEntry>();
    for (const operation of operations) {
      const entry = this.#made.has(operation) ? this.#made.get(operation) : this.#make(operation);
      made.set(operation, entry);
      if (entry === undefined) continue;
      const first = byName.get(entry.name);
      if (first === undefined) byName.set(entry.name, entry);
      else if (first !== entry) this.#leaveOut(operation, { first, entry, doubles });
    }
    this.#made = made;
    this.#doubles = doubles;
    this.#byName = byName;
    this.#entries = Object.freeze([...byName.values()]);
  }

  #make(given: unknown): ToolEntry | undefined {
    try {
      const operation = keepOperation(given);
      assertOperation(operation, { verb: "Mounting", prefix: mountedId(this.#setting.prefix, "") });
      return operation.type === "subscription" ? undefined : toMountedEntry(operation, this.#setting);
    } catch (cause) {
      this.#tell(cause);
      return undefined;
    }
  }

  #leaveOut(operation: unknown, at: { first: ToolEntry; entry: ToolEntry; doubles: Set<unknown> }): void {
    const { first, entry, doubles } = at;
    doubles.add(operation);
    if (this.#doubles.has(operation)) return;
    const message = `Naming ${entry.origin}: its name on the wire, "${entry.name}", is taken by ${first.origin}`;
    this.#tell(new SurfaceError("NAME_COLLISION", message));
  }

  #tell(cause: unknown): void {
    internalError(cause, this.#where, this.#setting.report);
  }
}
