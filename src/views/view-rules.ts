import type { Source } from "../surface/source.ts";

/** What a rule is asked about: whoever connects. What is not known is left out, and matches no condition. */
export interface ViewEntity {
  /** The view that was asked for, `default` where none was. */
  readonly surface: string;
  readonly user_agent?: string;
  readonly project?: string;
  /** What their program says that it is: its own words. */
  readonly client?: { readonly name: string; readonly version: string };
  /** Who they are, where that was verified: the caller's `id`. */
  readonly principal?: string;
}

/** One value, or several of which one has to fit. */
export type OneOf = string | readonly string[];

/** Which entities a rule is for: all of its fields have to fit. Empty or left out: every entity. */
export interface ViewCondition {
  readonly surface?: OneOf;
  readonly user_agent?: OneOf;
  readonly project?: OneOf;
  readonly client?: { readonly name?: OneOf; readonly version?: OneOf };
  readonly principal?: OneOf;
}

/** How what is visible is shown: every tool by itself, or four tools that find and call the others. */
export type ViewFace = "direct" | "gateway";

/** A view: what of the catalog is left. */
export interface SurfaceVerdict {
  readonly kind: "tool_surface";
  /** Patterns of the entries that are left; empty or left out: all. */
  readonly allow?: readonly string[];
  /** Patterns of the entries that are not; goes before `allow`. */
  readonly disallow?: readonly string[];
  /** Leaves only what does not change anything, whatever is added later. Default `false`. */
  readonly readOnly?: boolean;
  /** What the model is told besides, behind the app's own instructions. */
  readonly instructions?: string;
  /** Default `"direct"`. */
  readonly face?: ViewFace;
}

/** Nobody gets in by this view. */
export interface DenyVerdict {
  readonly kind: "deny";
  /** Told to whoever asked. */
  readonly reason: string;
}

/** What a rule says. */
export type ViewVerdict = SurfaceVerdict | DenyVerdict;

/** One rule: the first whose condition fits decides. */
export interface ViewRule {
  /** Names it in replays and errors. Default: its number. */
  readonly id?: string;
  readonly when?: ViewCondition;
  readonly verdict: ViewVerdict;
}

/** The domain of packets whose rules decide about views. */
export const viewDomain = "mcp-surface/routing";

/** Rules that are installed together, as a file holds them. */
export interface ViewPacket {
  readonly id: string;
  readonly domain: typeof viewDomain;
  readonly description?: string;
  /**
   * Whose requests it is for: it stands in the place of the packet for everybody, with all that this one says of the default view.
   * Callers say themselves which project they come for. Left out: for everybody.
   */
  readonly project?: string;
  /** At least one. */
  readonly rules: readonly ViewRule[];
}

/** A view by name, as an author writes it. */
export type NamedView = Omit<SurfaceVerdict, "kind"> | { readonly deny: string };

/**
 * Views by name. Clients choose one by its exact name. `default` is the view of clients that choose none; if it is left out, it shows
 * everything.
 */
export type NamedViews = Readonly<Record<string, NamedView>>;

/** Rules in each of their forms. A list of rules is one packet for all projects; of the packets of one scope the last holds. */
export type ViewRules = readonly ViewRule[] | ViewPacket | readonly ViewPacket[];

/** The argument of `.views()`: views by name, rules, or a source of rules that may be replaced while the app is open. */
export type ViewsInput = NamedViews | ViewRules | Source<ViewRules>;
