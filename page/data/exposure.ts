import type { ExposureRow, PageExposure, ShownAs } from "../../src/inspector/messages.ts";
import { toCount } from "../text/format.ts";

/** A row of the exposure table: an entry, or a member that no agent can reach, with the reason. */
export interface MemberRow extends Partial<Omit<ExposureRow, "kind" | "name">> {
  readonly key: string;
  readonly kind: string;
  readonly name: string;
  readonly why?: string;
}

export type MemberKind = ExposureRow["kind"] | "unexposed";

const differences = ["only in the first", "only in the second", "shown differently"] as const;

/** How an entry differs between two views. */
export type Difference = "same" | (typeof differences)[number];

/** Lists entries and unexposed members as rows of one table. */
export function toMembers({ entries, unexposed }: PageExposure): MemberRow[] {
  return [
    ...entries.map((entry) => ({ key: `${entry.kind} ${entry.name}`, ...entry })),
    ...unexposed.map((row) => ({ key: `unexposed ${row.kind} ${row.name}`, ...row })),
  ];
}

/** Whether a row is of a kind. */
export const isOfKind = ({ kind, why }: MemberRow, wanted: MemberKind | "all"): boolean =>
  wanted === "all" || wanted === (why === undefined ? kind : "unexposed");

/** Whether the words of a filter all stand in the texts of a row. */
export function matches(row: MemberRow, filter: string): boolean {
  const { id, name, title, description, kind, why, effects = [], scopes = [] } = row;
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const texts = [kind, id, name, title, description, why, ...effects, ...scopes];
  return words.every((word) => texts.some((text) => text?.toLowerCase().includes(word)));
}

const hidden = "hidden";

/** Says how a view shows an entry, in one word. */
const wordOf = (shown: ShownAs | undefined): string => (shown !== undefined && "as" in shown ? shown.as : hidden);

/** Says how a view shows an entry, or what hides it. */
export const toShownText = (shown: ShownAs): string => ("as" in shown ? shown.as : `${hidden}: ${shown.hiddenBy}`);

/** Compares two views at one row, by their positions in the list of views. */
export function differenceOf({ shown = [] }: Pick<MemberRow, "shown">, views: readonly number[]): Difference {
  const [a, b] = views.map((view) => wordOf(shown[view]));
  if (a === b) return "same";
  if (b === hidden) return differences[0];
  return a === hidden ? differences[1] : differences[2];
}

/** Says how many entries differ between two views, and how many tokens the second costs more. */
export function compareViews({ entries, views }: PageExposure, compared: readonly number[]): string {
  const found = entries.map((entry) => differenceOf(entry, compared));
  const counts = differences.map((one) => `${toCount(found.filter((other) => other === one).length)} ${one}`);
  const tokens = compared.reduce((less, view) => (views[view]?.tokens ?? 0) - less, 0);
  return `${counts.join(", ")}; ${tokens > 0 ? "+" : ""}${toCount(tokens)} tokens`;
}
