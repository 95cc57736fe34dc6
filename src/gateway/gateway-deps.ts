import type { Catalog } from "../catalog/catalog.ts";
import type { Caller } from "../surface/caller.ts";
import type { EntryGuard } from "../catalog/entry.ts";
import type { OperationIndex } from "./operation-index.ts";
import type { SearchScope } from "./operation-slots.ts";

/** Dependencies of the tools of a gateway. */
export interface GatewayDeps {
  /** The operations of the gateway's view. The tools share it; it needs no disposal. */
  readonly index: OperationIndex;
  /**
   * Returns what a caller can call by the rules as they are now. Called for each operation of each call; the same object until
   * something changes.
   */
  readonly catalog: (caller: Caller) => Catalog;
  /** The scope that a known caller needs to call the gateway's own tools. */
  readonly readScope: string;
  /**
   * Whether a caller was granted what a guard asks for: an operation of another guard does not exist for them. Called once a
   * request for all operations with the same guard.
   */
  readonly isGranted: (guard: EntryGuard, caller: Caller) => boolean;
  /** Whether the view never shows anything that changes something: then `call` says that it only reads. @default false */
  readonly isReadOnly?: boolean;
}

/** Returns the operations that a caller may find, in a namespace and those below it. */
export function toScope({ isGranted }: GatewayDeps, caller: Caller, namespace = ""): SearchScope {
  return { isGranted: (guard) => isGranted(guard, caller), namespace };
}
