import type { HistoryRow } from "../../src/inspector/messages.ts";

/** The number of rows that the page keeps. */
export const keptRows = 100_000;

/** Rows that are missing between two known ones, by the first and last `seq` of them. */
export interface Gap {
  readonly from: number;
  readonly to: number;
}

export type HistoryItem = HistoryRow | Gap;

/** The filters of the history. An empty text lets all rows pass. */
export interface HistoryFilters {
  readonly tool: string;
  readonly caller: string;
  readonly outcome: string;
}

export const isGap = (item: HistoryItem): item is Gap => "from" in item;

/** Adds rows to known ones, both with `seq` ascending. Changes the known list, and drops the oldest over the bound. */
export function addRows(known: HistoryRow[], added: readonly HistoryRow[]): void {
  const last = known.at(-1)?.seq ?? 0;
  const first = added[0];
  if (first === undefined) return;
  if (first.seq > last) {
    for (const row of added) known.push(row);
  } else {
    const bySeq = new Map(known.map((row) => [row.seq, row]));
    for (const row of added) bySeq.set(row.seq, row);
    const merged = [...bySeq.values()].toSorted((a, b) => a.seq - b.seq);
    known.length = 0;
    for (const row of merged) known.push(row);
  }
  // Rarely and many at once: each cut moves all rows.
  if (known.length > keptRows * 1.05) known.splice(0, known.length - keptRows);
}

const has = (text: string | undefined, part: string): boolean =>
  part === "" || (text ?? "").toLowerCase().includes(part.toLowerCase());

/** Whether any filter is set. */
export const isFiltered = ({ tool, caller, outcome }: HistoryFilters): boolean => `${tool}${caller}${outcome}` !== "";

/** Returns the filter that the rows must pass. */
export function toFilter({ tool, caller, outcome }: HistoryFilters): (row: HistoryRow) => boolean {
  return (row) =>
    (outcome === "" || row.outcome === outcome) && has(row.name ?? row.method, tool) && has(row.caller, caller);
}

/** Lists the rows newest first, up to the row `newest`. Without filters, gaps stand between them. */
export function listItems(rows: readonly HistoryRow[], filters: HistoryFilters, newest = Infinity): HistoryItem[] {
  const passes = toFilter(filters);
  const withGaps = !isFiltered(filters);
  const items: HistoryItem[] = [];
  let above = 0;
  for (let index = rows.length - 1; index >= 0; index -= 1) {
    const row = rows[index];
    if (row === undefined || row.seq > newest) continue;
    if (withGaps && above > row.seq + 1) items.push({ from: row.seq + 1, to: above - 1 });
    above = row.seq;
    if (passes(row)) items.push(row);
  }
  return items;
}
