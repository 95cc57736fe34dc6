import type { Approvals } from "../call/approvals.ts";
import type { CallTree } from "../call/call-tree.ts";
import type { LiveCatalog } from "../catalog/mounts/live-catalog.ts";
import type { MemberExposure } from "../catalog/read-exposures.ts";
import type { ResourceWatches } from "../catalog/resources/resource-watches.ts";
import type { LinkChange } from "../links/dial-link.ts";
import type { Observers } from "../observe/observers.ts";
import type { FaultReporter } from "../surface/fault.ts";
import type { Surface } from "../surface/define-surface.ts";
import type { Spec } from "../surface/member.ts";
import type { ConfirmRule } from "../tags/tool-options.ts";
import type { Views } from "../views/views.ts";
import type { Skill } from "./extensions/skill.ts";
import type { AppRuntime, ServerInfo } from "./servable-app.ts";

/** The parts of an app that exist before it is opened. */
export interface InspectedDefinition {
  readonly info: ServerInfo;
  readonly surface: Surface<Spec>;
  readonly exposures: readonly MemberExposure[];
  /** The rule for tools that may change something and do not set `confirm`. */
  readonly confirm: ConfirmRule | undefined;
  readonly observers: Observers;
  readonly calls: CallTree;
  readonly report: FaultReporter;
  readonly approvals: Approvals;
  /** Whether the app reaches its surface over a link. */
  readonly isLinked: boolean;
}

/** The parts of an open app. */
export interface OpenedApp {
  readonly live: LiveCatalog;
  readonly views: Views;
  readonly viewFor: AppRuntime["viewFor"];
  readonly watches: ResourceWatches;
  readonly skills: readonly Skill[];
}

/** The connection to the live surface. `idle`: none was needed yet, or this side closed it. */
export interface LinkState {
  readonly state: "up" | "down" | "idle";
  /** Unix time in milliseconds. Left out before the first change. */
  readonly since?: number;
  readonly reason?: Exclude<LinkChange, "up"> | "unreachable";
  /** The number of connections after the first one. */
  readonly reconnects: number;
}

/**
 * An app as an inspector reads it: one for all transports that serve the app. It never opens the app, so it has no {@link opened} parts
 * before a transport does.
 */
export class InspectedApp {
  readonly parts: InspectedDefinition;
  /** Differs after each change of the entries or view rules. */
  version = 0;
  link: LinkState = { state: "idle", reconnects: 0 };
  /** The open ones: each transport may open the app for itself. */
  readonly #opened: OpenedApp[] = [];
  /** Open connections, and all that were ever open. */
  #up = 0;
  #ups = 0;

  constructor(parts: InspectedDefinition) {
    this.parts = parts;
  }

  /** The parts of all transports, the last opened first. Their entries and rules are the same. */
  get opened(): readonly OpenedApp[] {
    return this.#opened;
  }

  /** Adds the parts of an app that has opened. Returns a function that removes them; callable twice. */
  add(parts: OpenedApp): () => void {
    const changed = (): void => {
      this.version += 1;
    };
    this.#opened.unshift(parts);
    changed();
    const stops = [parts.live.subscribe(changed), parts.views.subscribe(changed)];
    return () => {
      const at = this.#opened.indexOf(parts);
      if (at === -1) return;
      this.#opened.splice(at, 1);
      for (const stop of stops) stop();
      changed();
    };
  }

  /** Notes a change of a connection to the live surface. */
  noteLink(change: LinkChange | "unreachable"): void {
    const since = Date.now();
    if (change === "up") {
      this.#up += 1;
      this.#ups += 1;
    } else if (change !== "unreachable") this.#up -= 1;
    const reconnects = Math.max(0, this.#ups - 1);
    if (change === "up") this.link = { state: "up", since, reconnects };
    else if (this.#up <= 0)
      this.link = { state: change === "closed" ? "idle" : "down", since, reason: change, reconnects };
  }
}

/** The key under which an app has what inspectors read. */
export const kInspected: unique symbol = /* @__PURE__ */ Symbol.for("surface-mcp.inspected");
