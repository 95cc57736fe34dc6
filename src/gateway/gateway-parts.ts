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
   * Returns what a caller can call by the rules as they are now. Called for each operation of each call; the same object until
   * something changes.
   */
  readonly catalog: (caller: Caller) => Catalog;
  /** The scope that a known caller needs to call the gateway's own tools. */
  readonly readScope: string;
  /** Whether a caller was granted what an operation takes: what they lack is not there. */
  readonly isGranted: (entry: ToolEntry, caller: Caller) => boolean;
  /**
   * Whether the view never shows anything that changes something: then `call` says that it only reads. Where that holds only of
   * what a caller finds now, it is said in what is listed to them. Default `false`.
   */
  readonly isReadOnly?: boolean;
}
