import type { MountedOperation, MountedResource, MountSource } from "../../../src/catalog/mounts/mount.ts";
import { Listeners } from "../../../src/surface/listeners.ts";

/** A source of things to read that come, change and go when a test says so. */
export class Shelf implements MountSource {
  readonly #listeners = new Listeners();
  readonly #watchers = new Map<string, Set<() => void>>();
  readonly #values = new Map<string, unknown>();
  #listed: readonly MountedResource[] = [];
  operations: readonly MountedOperation[] = [];
  /** How often it was asked for what is under a path. */
  reads = 0;

  list(): readonly MountedOperation[] {
    return this.operations;
  }

  subscribe(changed: () => void): () => void {
    return this.#listeners.add(changed);
  }

  invoke(name: string): unknown {
    return name;
  }

  resources(): readonly MountedResource[] {
    return this.#listed;
  }

  read(path: string): unknown {
    this.reads += 1;
    const value = this.#values.get(path);
    if (value instanceof Error) throw value;
    return value;
  }

  watch(path: string, changed: () => void): () => void {
    const all = this.#watchers.get(path) ?? new Set();
    this.#watchers.set(path, all.add(changed));
    return () => void all.delete(changed);
  }

  /** How many watch a path. */
  watchersOf(path: string): number {
    return this.#watchers.get(path)?.size ?? 0;
  }

  /** Lists these from now on. */
  show(...resources: readonly MountedResource[]): void {
    this.#listed = resources;
    this.tell();
  }

  /** Says that something else is listed. */
  tell(): void {
    this.#listeners.tell(undefined, () => {});
  }

  /** Puts something under a path. */
  put(path: string, value: unknown): void {
    this.#values.set(path, value);
    for (const changed of this.#watchers.get(path) ?? []) changed();
  }
}
