import type { Caller } from "../surface/caller.ts";
import type { Views } from "./decision.ts";
import { packetsOf } from "./list-views.ts";
import { toEntity } from "./to-entity.ts";
import type { ViewEntity, ViewPacket, ViewRule, ViewVerdict } from "./view-rules.ts";

/** One rule, as somebody sees it who wonders which of them decides. */
export interface DescribedRule {
  readonly id: string;
  /** What it says, in a word. */
  readonly classification: ViewVerdict["kind"];
  /** Whether it is for the view that was asked about, whatever else it asks for. */
  readonly matches_surface: boolean;
}

/** The packet that holds for somebody, and what it says of them. */
export interface ViewDescription {
  readonly entity: ViewEntity;
  /** Left out where there is none for them. */
  readonly packet?: Omit<ViewPacket, "rules">;
  readonly rules: readonly DescribedRule[];
  readonly verdict: ViewVerdict;
  /** The rule that decided; left out where none fitted. */
  readonly rule?: string;
}

function isForSurface({ when }: ViewRule, surface: string): boolean {
  const wanted = when?.surface;
  if (wanted === undefined) return true;
  return typeof wanted === "string" ? wanted === surface : wanted.includes(surface);
}

/** The packet that holds for a caller by their view, its rules in short, and what they come to. */
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
