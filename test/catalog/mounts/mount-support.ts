import { cannotAsk } from "../../../src/catalog/own-refusals.ts";
import { rejectNestedCall } from "../../../src/catalog/outcome.ts";
import { createAsks } from "../../../src/catalog/asking/create-asks.ts";
import { anonymous } from "../../../src/surface/caller.ts";
import type { Catalog } from "../../../src/catalog/catalog.ts";
import { createLiveCatalog, type LiveCatalog } from "../../../src/catalog/mounts/live-catalog.ts";
import type { MountContext, MountSource } from "../../../src/catalog/mounts/mount.ts";
import { operationRegistry, type OperationRegistry } from "../../../src/catalog/mounts/operation-registry.ts";
import type { Fault } from "../../../src/surface/fault.ts";
import { catalogOf } from "../support.ts";

/** A live catalog, and what was reported of it. */
export interface Mounted {
  readonly live: LiveCatalog;
  readonly faults: Fault[];
  readonly base: Catalog;
}

/** Mounts sources by their prefix beside one tool, `own`. */
export function mount(sources: Readonly<Record<string, MountSource>>): Mounted {
  const faults: Fault[] = [];
  const base = catalogOf({}, { tools: { own: { handler: () => 1 } } });
  const report = (fault: Fault): void => void faults.push(fault);
  return { live: createLiveCatalog({ base, mounts: new Map(Object.entries(sources)), report }), faults, base };
}

/** The messages of what was reported. */
export function messagesOf({ faults }: Mounted): readonly string[] {
  return faults.map(({ cause }) => (cause instanceof Error ? cause.message : String(cause)));
}

/** A registry of operations that answer their own name. */
export function registryOf(...names: readonly string[]): OperationRegistry {
  return operationRegistry(names.map((name) => [{ name }, () => name] as const));
}

const quietCall = {
  signal: new AbortController().signal,
  caller: anonymous,
  progress() {},
  nest: rejectNestedCall,
};

/** What an operation is run with where nothing of it is used. */
export const context: MountContext = {
  signal: new AbortController().signal,
  caller: anonymous,
  progress() {},
  log() {},
  trace: undefined,
  addMeta() {},
  ask: createAsks({ ...cannotAsk, ...quietCall }),
  call: () => Promise.reject(new TypeError("nothing can be called from here")),
  context: undefined,
};
