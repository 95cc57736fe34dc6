import type { MountedOperation, MountedResource, MountSource } from "../../src/catalog/mounts/mount.ts";

/** Returns an operation that may change something, unless `more` says otherwise. */
export function operation(name: string, more: Partial<MountedOperation> = {}): MountedOperation {
  return { name, description: name, type: "mutation", ...more };
}

/** A source of mounts that lists what it was set to. */
export class ChangingSource implements MountSource {
  listed: MountedOperation[] = [];
  paths: MountedResource[] = [];
  #changed: () => void = () => {};
  list = (): MountedOperation[] => this.listed;
  resources = (): MountedResource[] => this.paths;
  read = (): number => 1;
  invoke = (): string => "done";
  subscribe = (changed: () => void): (() => void) => {
    this.#changed = changed;
    return () => {};
  };
  set(operations: readonly MountedOperation[], paths: readonly string[] = []): void {
    this.listed = [...operations];
    this.paths = paths.map((path) => ({ path }));
    this.#changed();
  }
}
