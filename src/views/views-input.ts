import type { Source } from "../surface/source.ts";
import type { SurfaceVerdict, ViewPacket, ViewRule } from "./view-rules.ts";

/** A view by its name, as an author writes it: what is left of the catalog, or that nobody gets in by it. */
export type NamedView = Omit<SurfaceVerdict, "kind"> | { readonly deny: string };

/**
 * Views by name, which callers choose and which are compared as they are, case and all. `default` is the view of whoever names none,
 * or an empty one; left out, it shows everything.
 */
export type NamedViews = Readonly<Record<string, NamedView>>;

/** Rules in every form in which they come. A list of rules is one packet for everybody; of packets the last of its scope holds. */
export type ViewRules = readonly ViewRule[] | ViewPacket | readonly ViewPacket[];

/** What `.views()` takes: views by name, rules, or a source of rules that may be replaced while they are in force. */
export type ViewsInput = NamedViews | ViewRules | Source<ViewRules>;
