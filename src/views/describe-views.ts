import type { Caller } from "../surface/caller.ts";
import { toEntity } from "./compile-rules.ts";
import type { Views } from "./create-views.ts";
import type { ViewEntity, ViewPacket, ViewRule, ViewVerdict } from "./view-rules.ts";

/** One packet of rules in {@link ViewList}. */
interface ListedPacket {
  readonly id: string;
  readonly scope: "global" | "project";
  readonly project?: string;
  readonly rule_count: number;
}

/** The installed packets in their order: of the packets of one scope the last holds. */
export interface ViewList {
  readonly surface_packets: readonly ListedPacket[];
  readonly count: number;
  /** The reason why the rules cannot be read, while every view is denied. */
  readonly unreadable?: string;
}

/** One rule in {@link ViewDescription}. */
interface DescribedRule {
  readonly id: string;
  readonly classification: ViewVerdict["kind"];
  /** Whether the rule is for the view that was asked about, if its other conditions fit. */
  readonly matches_surface: boolean;
}

/** The packet that holds for a caller, and its decision. */
export interface ViewDescription {
  readonly entity: ViewEntity;
  /** Left out if no packet holds. */
  readonly packet?: Omit<ViewPacket, "rules">;
  readonly rules: readonly DescribedRule[];
  readonly verdict: ViewVerdict;
  /** The rule that decided; left out if none fits. */
  readonly rule?: string;
}

/** Returns the installed packets; none while the rules cannot be read. */
export function packetsOf({ installed }: Views): readonly ViewPacket[] {
  return installed.kind === "packets" ? installed.packets : [];
}

/** Returns a summary of the installed packets. */
export function listViews(views: Views): ViewList {
  const packets = packetsOf(views).map(({ id, project, rules }): ListedPacket => ({
    id,
    ...(project === undefined ? { scope: "global" } : { scope: "project", project }),
    rule_count: rules.length,
  }));
  const { installed } = views;
  const reason = installed.kind === "unreadable" ? { unreadable: installed.reason } : {};
  return { surface_packets: packets, count: packets.length, ...reason };
}

function isForSurface({ when }: ViewRule, surface: string): boolean {
  const wanted = when?.surface;
  if (wanted === undefined) return true;
  return typeof wanted === "string" ? wanted === surface : wanted.includes(surface);
}

/** Returns the packet that holds for a caller's view, a summary of its rules, and the decision. */
export function describeViews(views: Views, caller: Caller): ViewDescription {
  const entity = toEntity(caller);
  const { verdict, rule } = views.decide(entity);
  const packets = packetsOf(views);
  const own = packets.findLast(({ project }) => project !== undefined && project === entity.project);
  const inForce = own ?? packets.findLast(({ project }) => project === undefined);
  const { rules, ...packet } = inForce ?? { rules: [] };
  return {
    entity,
    ...("id" in packet ? { packet } : {}),
    rules: rules.map((each, index) => ({
      id: each.id ?? `${index + 1}`,
      classification: each.verdict.kind,
      matches_surface: isForSurface(each, entity.surface),
    })),
    verdict,
    ...(rule === undefined ? {} : { rule }),
  };
}
