import type { Caller } from "../surface/caller.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { RpcError } from "./protocol.ts";

/** The lists that a client may be told of when they have changed. */
export const listNames = ["tools", "prompts", "resources"] as const;

/** One of them. */
export type ListName = (typeof listNames)[number];

/** Why something else may be shown: there are other rules, or other resources. */
export type ShownChange = "rules" | "resources";

/** What one view shows to everybody who comes by it, whatever they were granted. */
export interface Face {
  /** Identifies the view and its rules: another symbol once other rules decide what the view shows. */
  readonly rules: symbol;
  /** What there is in it: what is found by name and by URI. With the tools of the face, where that is a gateway. */
  readonly catalog: Catalog;
  /** What can be called by it: behind the tools of a gateway, or else those of the catalog itself. */
  readonly behind: Catalog;
  /** What of it is listed for a caller: what they were granted. The same object for all who see the same. */
  listedFor(caller: Caller): Catalog;
  /** The app's own instructions and the view's, as the model is told. */
  readonly instructions: string | undefined;
}

/** What everybody is shown now. Whoever made it closes it. */
export interface Faces {
  /** What a caller is shown by the view that they came by; or why nothing. */
  of(caller: Caller): Face | RpcError;
  /** The lists that can ever be others than they are now. */
  readonly changing: ReadonlySet<ListName>;
  /**
   * Tells a caller when a list is another for them than it was: at most once a window, and not where it is the same after all.
   * Returns what stops it.
   */
  watchList(list: ListName, caller: Caller, changed: () => void): () => void;
  /**
   * Calls `changed` whenever other prompts and resources may be shown to anybody: at once where other rules have come, and at most
   * once a window where other resources are mounted. Not when operations come and go: those are only tools, and may come by the
   * thousand. Returns what stops it.
   */
  subscribe(changed: (what: ShownChange) => void): () => void;
  /** Lets go of what it listens to. Callable twice. */
  close(): void;
}
