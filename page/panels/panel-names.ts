import type { Cut } from "../../src/inspector/messages.ts";
import type { PageData } from "../data/page-data.ts";

export type PanelName = "now" | "exposure" | "history" | "values" | "approvals";

/** A tab: the panel, its title, and the number beside it. */
export interface Tab {
  readonly name: PanelName;
  readonly title: string;
  readonly count?: number | undefined;
  readonly isUrgent?: boolean;
}

/** Counts the rows of a list, and those that were left out. */
export const totalOf = (list: Cut<unknown> | undefined): number =>
  list === undefined ? 0 : list.rows.length + list.more;

/** Lists the tabs. The approvals are one only if the server lets the page decide. */
export function listTabs({ app, state, history, exposure }: PageData): Tab[] {
  const waiting = state?.approvals.length ?? 0;
  return [
    { name: "now", title: "Now", count: totalOf(state?.calls) },
    ...(app?.approve === true
      ? [{ name: "approvals", title: "Approvals", count: waiting, isUrgent: waiting > 0 } as const]
      : []),
    { name: "exposure", title: "Exposure", count: exposure?.entries.length },
    { name: "history", title: "History", count: history.at(-1)?.seq ?? 0 },
    { name: "values", title: "Values", count: totalOf(state?.values) },
  ];
}

/** Reads the panel from the fragment of the address. */
export function panelOf(hash: string, data: PageData): PanelName {
  return listTabs(data).find(({ name }) => `#${name}` === hash)?.name ?? "now";
}
