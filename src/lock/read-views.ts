import type { CatalogEntries, EntryFilter } from "../catalog/catalog.ts";
import { canonicalText } from "../schema/json.ts";
import { defaultView } from "../surface/caller.ts";
import { compileRules } from "../views/compile-rules.ts";
import { toKeep } from "../views/show.ts";
import type { ViewPacket, ViewRule } from "../views/view-rules.ts";

/** One view of an app: a rule, or the default view where no rule decides about it. */
export interface AppView {
  /** The id of the rule, or its number; after the project if its packet is for one. */
  readonly name: string;
  /** The condition and the decision of the rule. */
  readonly fields: object;
  /** `undefined` for a view that denies every request. */
  readonly keep: EntryFilter | undefined;
  /** Whether only the requests for a view of this name have it, so that its place among the rules is without effect. */
  readonly isNamed: boolean;
}

const everything = toKeep({ verdict: { kind: "tool_surface" } });
const fallback: Omit<AppView, "name"> = { fields: {}, keep: everything, isNamed: true };

function toView(rule: ViewRule, name: string, server: string): AppView {
  const { when = {}, verdict } = rule;
  const isNamed = canonicalText({ surface: name }) === canonicalText({ ...when });
  const condition = isNamed || Object.keys(when).length === 0 ? {} : { when };
  if (verdict.kind === "deny") {
    return { name, fields: { ...condition, deny: verdict.reason }, keep: undefined, isNamed };
  }
  const { kind: _kind, allow, disallow, readOnly, ...others } = verdict;
  const fields = {
    ...condition,
    ...others,
    allow: allow?.toSorted(),
    disallow: disallow?.toSorted(),
    readOnly: readOnly === true ? true : undefined,
  };
  return { name, fields, keep: toKeep({ verdict, rule: name, server }), isNamed };
}

/** Returns the rules of a packet as views, with the default view if no rule decides about it for every caller. */
function readPacket({ project, ...packet }: ViewPacket, server: string): readonly AppView[] {
  const views = packet.rules.map((rule, index) => toView(rule, rule.id ?? `${index + 1}`, server));
  const { rule } = compileRules([packet])({ surface: defaultView });
  const all = rule === undefined ? [...views, { name: defaultView, ...fallback }] : views;
  if (project === undefined) return all;
  return all.map(({ name, fields, ...view }) => ({
    name: `${project}/${name}`,
    fields: { project, ...fields },
    ...view,
  }));
}

/** Returns the views of the packets that are in force: the last one of each project, and the last one without. Their names differ. */
export function readAppViews(packets: readonly ViewPacket[], server: string): readonly AppView[] {
  const inForce = new Map(packets.map((packet) => [packet.project, packet]));
  const views = [...inForce.values()].flatMap((packet) => readPacket(packet, server));
  if (!inForce.has(undefined)) views.push({ name: defaultView, ...fallback });
  const taken = new Set<string>();
  return views.map((view) => {
    let { name } = view;
    for (let count = 2; taken.has(name); count += 1) name = `${view.name} (${count})`;
    taken.add(name);
    return { ...view, name };
  });
}

/** Returns the namespaces of the operations behind a gateway: ids without their last segment. */
export function namespacesOf({ tools }: Pick<CatalogEntries, "tools">): readonly string[] {
  return [...new Set(tools.map(({ id }) => id.split(".").slice(0, -1).join(".")))]
    .filter((name) => name !== "")
    .toSorted();
}
