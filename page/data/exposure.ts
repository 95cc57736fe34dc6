import type { ExposureRow, PageExposure, ShownAs } from "../../src/inspector/messages.ts";

type UnexposedRow = PageExposure["unexposed"][number];

/** A row of the exposure table: an entry, or a member that no agent can reach. */
export type MemberRow =
  | { readonly key: string; readonly entry: ExposureRow }
  | { readonly key: string; readonly unexposed: UnexposedRow };

export type MemberKind = ExposureRow["kind"] | "unexposed";

/** How an entry differs between two views. */
export type Difference = "same" | "only first" | "only second" | "shown differently";

/** The differences between two views, counted, and the tokens that the second costs more. */
export interface ViewDifference {
  readonly onlyFirst: number;
  readonly onlySecond: number;
  readonly differently: number;
  readonly tokens: number;
}

export const kindOf = (row: MemberRow): MemberKind => ("entry" in row ? row.entry.kind : "unexposed");

/** Lists entries and unexposed members as rows of one table. */
export function toMembers({ entries, unexposed }: PageExposure): MemberRow[] {
  return [
    ...entries.map((entry) => ({ key: `${entry.kind} ${entry.name}`, entry })),
    ...unexposed.map((row) => ({ key: `unexposed ${row.kind} ${row.name}`, unexposed: row })),
  ];
}

function textsOf(row: MemberRow): readonly (string | undefined)[] {
  if ("unexposed" in row) return [row.unexposed.name, row.unexposed.kind, row.unexposed.why];
  const { id, name, title, description, effects, scopes } = row.entry;
  return [id, name, title, description, ...effects, ...scopes];
}

/** Whether the words of a filter all stand in the texts of a row. */
export function matches(row: MemberRow, filter: string): boolean {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const texts = textsOf(row).map((text) => text?.toLowerCase() ?? "");
  return words.every((word) => texts.some((text) => text.includes(word)));
}

const labelOf = (shown: ShownAs | undefined): string => (shown !== undefined && "as" in shown ? shown.as : "hidden");

/** Compares two views at one entry. The views are positions in the list of views. */
export function differenceOf(entry: ExposureRow, first: number, second: number): Difference {
  const [a, b] = [labelOf(entry.shown[first]), labelOf(entry.shown[second])];
  if (a === b) return "same";
  if (b === "hidden") return "only first";
  return a === "hidden" ? "only second" : "shown differently";
}

/** Counts the differences between two views. */
export function compareViews(exposure: PageExposure, first: number, second: number): ViewDifference {
  const found = exposure.entries.map((entry) => differenceOf(entry, first, second));
  const count = (kind: Difference): number => found.filter((one) => one === kind).length;
  return {
    onlyFirst: count("only first"),
    onlySecond: count("only second"),
    differently: count("shown differently"),
    tokens: (exposure.views[second]?.tokens ?? 0) - (exposure.views[first]?.tokens ?? 0),
  };
}
