import type { Catalog } from "../catalog/catalog.ts";
import type { Caller } from "../catalog/caller.ts";
import type { ToolEntry } from "../catalog/entry.ts";

/** What the tools of a gateway are made over. */
export interface GatewayParts {
  /** What the view shows now, as `direct` would show it. Asked for each call; the same object until something changes. */
  readonly catalog: () => Catalog;
  /** Whether a caller was granted what an operation takes: what they lack is not there. */
  readonly isGranted: (entry: ToolEntry, caller: Caller) => boolean;
}

/**
 * Makes the four tools of a gateway over one view: `list`, `search`, `schema`, `call`. Owns its index, which needs no
 * disposal. `call` only reads where everything that the view shows now does.
 */
export type CreateGatewayTools = (parts: GatewayParts) => readonly ToolEntry[];
