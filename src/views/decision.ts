import type { ViewEntity, ViewPacket, ViewVerdict } from "./view-rules.ts";

/** What was decided about one entity. */
export interface Decision {
  readonly verdict: ViewVerdict;
  /** The packet whose rules were asked; left out where there is none. */
  readonly packet?: string;
  /** The rule that decided, by its id; left out where none fitted. */
  readonly rule?: string;
  /** How the server names itself: patterns may spell a tool with it. */
  readonly server?: string;
}

/** What is installed now: packets, or why there are none to be had. */
export type InstalledViews =
  | { readonly kind: "packets"; readonly packets: readonly ViewPacket[] }
  | { readonly kind: "unreadable"; readonly reason: string };

/** The rules of an app, compiled. Whoever made it closes it. */
export interface Views {
  /** Whether the rules can ever be others. */
  readonly canChange: boolean;
  readonly installed: InstalledViews;
  /** The one decision about who sees what: pure, and remembered until the rules are others. Never throws. */
  decide(entity: ViewEntity): Decision;
  /** Calls `changed` after each change of the rules, at once. Returns what stops it. */
  subscribe(changed: () => void): () => void;
  /** Lets go of what it listens to. Callable twice. */
  close(): void;
}
