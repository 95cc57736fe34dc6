import type { Views } from "./decision.ts";
import type { ViewPacket } from "./view-rules.ts";

/** One packet of rules, in a list of them. */
export interface ListedPacket {
  readonly id: string;
  readonly scope: "global" | "project";
  readonly project?: string;
  readonly rule_count: number;
}

/** The packets that are installed, in their order: of those of one scope the last holds. */
export interface ViewList {
  readonly surface_packets: readonly ListedPacket[];
  readonly count: number;
  /** Why there are none to be had; nobody gets in then. Left out where there are. */
  readonly unreadable?: string;
}

/** The packets that are installed; none where they cannot be had. */
export function packetsOf({ installed }: Views): readonly ViewPacket[] {
  return installed.kind === "packets" ? installed.packets : [];
}

/** The packets that are installed, in short. */
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
