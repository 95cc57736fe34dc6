import type { MountedResource } from "../../catalog/mounts/mount.ts";
import { SurfaceError } from "../../errors.ts";
import { clipText } from "../../schema/visible-text.ts";
import type { AgenticOptions, StateMetadata } from "./agentic-options.ts";
import type { WarningLog } from "./warning-log.ts";
import { entriesOf } from "./values.ts";
import { toDotted, toStatePath } from "../names.ts";
import { AuthorMetadata } from "./author-metadata.ts";
import type { ServicePlace } from "./service-tree.ts";
import { toDefined } from "../../observe/to-defined.ts";

/** A state that has a value. */
export interface Seen {
  /** Keys of the links that lead to it, then its own. */
  readonly keys: readonly string[];
  readonly value: unknown;
  readonly schema: unknown;
  readonly title: string | undefined;
  readonly description: string | undefined;
}

interface KnownResource {
  readonly resource: MountedResource;
  readonly seen: Seen;
}

/** Keys of a state, and the function that makes its name. */
interface Named {
  readonly keys: readonly string[];
  readonly toName: (keys: readonly string[]) => string;
}

const maxShownBytes = 128;

function textOf(schema: unknown, name: "title" | "description"): string | undefined {
  if (typeof schema !== "object" || schema === null) return undefined;
  const text: unknown = Reflect.get(schema, name);
  return typeof text === "string" ? text : undefined;
}

/** Reads a state once; `undefined` if it has no value. */
function toSeen(state: unknown, keys: readonly string[]): Seen | undefined {
  if (typeof state !== "object" || state === null)
    throw new SurfaceError("INVALID_OPTION", "a state must be an object");
  const value: unknown = Reflect.get(state, "value");
  if (value === undefined) return undefined;
  const schema: unknown = Reflect.get(state, "schema");
  return { keys, value, schema, title: textOf(schema, "title"), description: textOf(schema, "description") };
}

/** Turns the states of all services into values and resources. */
export class StateRegistry {
  readonly #said: AuthorMetadata<StateMetadata>;
  readonly #complaints: WarningLog;
  #known: ReadonlyMap<string, KnownResource> = new Map();

  constructor(describe: AgenticOptions["describeState"], complaints: WarningLog) {
    this.#said = new AuthorMetadata("describeState", describe);
    this.#complaints = complaints;
  }

  /** Returns the states by their names in tool results. */
  byName(places: readonly ServicePlace[]): ReadonlyMap<string, Seen> {
    return this.#read(places, toDotted);
  }

  /** Returns the states by the paths of their resources. */
  byPath(places: readonly ServicePlace[]): ReadonlyMap<string, Seen> {
    return this.#read(places, (keys) => toStatePath(keys.slice(0, -1), keys.at(-1) ?? ""));
  }

  /** Returns the resources of states. A resource stays the same object while its title and description stay the same. */
  resources(states: ReadonlyMap<string, Seen>): readonly MountedResource[] {
    const made = new Map<string, KnownResource>();
    for (const [path, seen] of states) {
      const known = this.#known.get(path);
      const resource =
        known !== undefined && hasSameMetadata(known.seen, seen) ? known.resource : this.#make(path, seen);
      if (resource !== undefined) made.set(path, { resource, seen });
    }
    this.#known = made;
    return Array.from(made.values(), ({ resource }) => resource);
  }

  /** Reports a `describeState` that returned nothing for every state. */
  end(): void {
    const cause = this.#said.end();
    if (cause !== undefined) this.#complaints.tell(cause);
  }

  #read(places: readonly ServicePlace[], toName: Named["toName"]): ReadonlyMap<string, Seen> {
    const read = new Map<string, Seen>();
    for (const { keys, parts } of places) {
      const fail = (cause: unknown): void => this.#complaints.add(`states of ${toDotted(keys)}`, cause);
      for (const [key, state] of entriesOf(parts.states.value, fail)) {
        const named = this.#look(state, { keys: [...keys, key], toName });
        if (named !== undefined) read.set(...named);
      }
    }
    return read;
  }

  #look(state: unknown, { keys, toName }: Named): readonly [name: string, seen: Seen] | undefined {
    try {
      const seen = toSeen(state, keys);
      return seen === undefined ? undefined : [toName(keys), seen];
    } catch (cause) {
      this.#leaveOut(toDotted(keys), cause);
      return undefined;
    }
  }

  #make(path: string, { keys, title, description }: Seen): MountedResource | undefined {
    try {
      return Object.freeze({ ...toDefined({ title, description }), ...this.#said.ask(keys), path });
    } catch (cause) {
      this.#leaveOut(path, cause);
      return undefined;
    }
  }

  #leaveOut(name: string, cause: unknown): void {
    this.#complaints.leaveOut(`Cannot show state "${clipText(name, maxShownBytes)}"`, cause);
  }
}

function hasSameMetadata(left: Seen, right: Seen): boolean {
  return left.title === right.title && left.description === right.description;
}
