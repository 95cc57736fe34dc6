import type { Source } from "../surface/source.ts";

/** The facts about a caller that rules test. Unknown facts are left out, and match no condition. */
export interface ViewEntity {
  /** The requested view, else `default`. */
  readonly surface: string;
  readonly user_agent?: string;
  readonly project?: string;
  /** The client program, as it describes itself. */
  readonly client?: { readonly name: string; readonly version: string };
  /** The caller's verified `id`. */
  readonly principal?: string;
}

/** One value, or several of which one must match. */
export type OneOf = string | readonly string[];

/** The condition of a rule: all of its fields must match. Without fields it matches every entity. */
export interface ViewCondition {
  readonly surface?: OneOf;
  readonly user_agent?: OneOf;
  readonly project?: OneOf;
  readonly client?: { readonly name?: OneOf; readonly version?: OneOf };
  readonly principal?: OneOf;
}

/** The form of a view: its tools, or a gateway of four tools that find and call them. */
export type ViewFace = "direct" | "gateway";

/** A view of the catalog. */
export interface SurfaceVerdict {
  readonly kind: "tool_surface";
  /** Patterns of visible entries. @default all */
  readonly allow?: readonly string[];
  /** Patterns of hidden entries. Takes precedence over `allow`. @default none */
  readonly disallow?: readonly string[];
  /** Hides all tools that may change something, also those added later. @default false */
  readonly readOnly?: boolean;
  /** Further instructions for the model, appended to those of the app. */
  readonly instructions?: string;
  /** @default "direct" */
  readonly face?: ViewFace;
}

/** A denied view. */
export interface DenyVerdict {
  readonly kind: "deny";
  /** The reason in the error that the client gets. */
  readonly reason: string;
}

/** The decision of a rule. */
export type ViewVerdict = SurfaceVerdict | DenyVerdict;

/** One rule. The first rule whose condition matches decides. */
export interface ViewRule {
  /** Names the rule in replays and errors. @default its number */
  readonly id?: string;
  readonly when?: ViewCondition;
  readonly verdict: ViewVerdict;
}

/** The domain of packets whose rules decide about views. */
export const viewDomain = "mcp-surface/routing";

/** Rules that are installed together, for example from one file. */
export interface ViewPacket {
  readonly id: string;
  readonly domain: typeof viewDomain;
  readonly description?: string;
  /**
   * The project of the requests that this packet decides about, instead of the global packet. Clients choose their project freely.
   * @default all requests
   */
  readonly project?: string;
  /** At least one. */
  readonly rules: readonly ViewRule[];
}

/** A view by name, as an author writes it. */
export type NamedView = Omit<SurfaceVerdict, "kind"> | { readonly deny: string };

/** Views by name. Clients choose one by its exact name, else get `default`, which shows everything if it is left out. */
export type NamedViews = Readonly<Record<string, NamedView>>;

/** Rules in each of their forms. A list of rules is one global packet. The last packet of a scope is in force. */
export type ViewRules = readonly ViewRule[] | ViewPacket | readonly ViewPacket[];

/** The argument of `.views()`: views by name, rules, or a source of rules, which may change while the app is open. */
export type ViewsInput = NamedViews | ViewRules | Source<ViewRules>;
