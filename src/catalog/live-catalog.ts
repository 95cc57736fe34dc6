import type { Budget } from "../spine/budget.ts";
import type { Catalog } from "./catalog.ts";

/** A catalog of which something may come and go while it is served. Whoever made it closes it. */
export interface LiveCatalog {
  /** What there is now; the same object until something changes. */
  readonly current: Catalog;
  /** Whether it can ever be another. */
  readonly canChange: boolean;
  /** Whether its resources can ever be others. While they are not, `current` has the same list of them. */
  readonly canReadOthers: boolean;
  /** Counts the schemas of mounted operations, in characters of JSON; the key is the prefix of the mount. */
  readonly schemas: Budget;
  /** Calls `changed` after each change, at once, however many there are. Returns what stops it. */
  subscribe(changed: () => void): () => void;
  /** Lets go of what it listens to. Callable twice. */
  close(): void;
}
