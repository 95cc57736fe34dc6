import type { Catalog } from "../catalog/catalog.ts";
import type { ViewFace } from "./view-rules.ts";

/** Something that is in a catalog and is not shown. */
export interface HiddenEntry {
  /** The entry's id. */
  readonly name: string;
  /** What hides it, as people read it: `rule "readonly": disallow "node_*"`, `scopes`, `deny`. */
  readonly by: string;
}

/** What a decision leaves of a catalog, whoever asks. */
export interface Shown {
  readonly face: ViewFace;
  /** Only what is visible; of tools that only tools may call, none. */
  readonly catalog: Catalog;
  readonly hidden: readonly HiddenEntry[];
}
