import type { Catalog } from "../catalog/catalog.ts";
import type { Caller } from "../surface/caller.ts";
import type { ToolEntry } from "../catalog/entry.ts";
import type { OperationIndex } from "./operation-index.ts";

/** What the tools of one gateway share. */
export interface IndexedParts extends GatewayParts {
  readonly index: OperationIndex;
}

/** What the tools of a gateway are made over. */
export interface GatewayParts {
  /**
   * What the view shows now, as `direct` would show it; for a caller, what they are shown by the rules as they are now, which may
   * be nothing of it any more. Asked for each operation of each call; the same object until something changes.
   */
  readonly catalog: (caller?: Caller) => Catalog;
  /** Whether a caller was granted what an operation takes: what they lack is not there. */
  readonly isGranted: (entry: ToolEntry, caller: Caller) => boolean;
  /**
   * Whether the view never shows anything that changes something: then `call` says that it only reads. Where that holds only of
   * what a caller finds now, it is said in what is listed to them. Default `false`.
   */
  readonly isReadOnly?: boolean;
}
