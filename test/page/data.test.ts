import { describe, expect, it } from "vitest";
import { compareViews, differenceOf, matches, toMembers } from "../../page/data/exposure.ts";
import { addRows, isGap, keptRows, listItems } from "../../page/data/history-rows.ts";
import { PageData } from "../../page/data/page-data.ts";
import type { HistoryRow } from "../../src/inspector/messages.ts";
import { sampleApp, sampleEntry, sampleExposure, sampleRow, sampleSnapshot, sampleTime } from "./samples.ts";

const noFilters = { tool: "", caller: "", outcome: "" };
const rowsOf = (...seqs: number[]): HistoryRow[] => seqs.map((seq) => sampleRow(seq));
const seqsOf = (rows: readonly HistoryRow[]): number[] => rows.map(({ seq }) => seq);

describe("the rows of the history", () => {
  it("stay in order and single when newer, older and known ones are added", () => {
    const rows = rowsOf(5, 6);
    addRows(rows, rowsOf(7, 8));
    addRows(rows, rowsOf(2, 3, 5));
    expect(seqsOf(rows)).toEqual([2, 3, 5, 6, 7, 8]);
  });

  it("lose the oldest when there are more than the page keeps", () => {
    const rows: HistoryRow[] = [];
    const total = keptRows + keptRows / 10;
    const many = Array.from({ length: total }, (_, index) => ({ ...sampleRow(1), seq: index + 1 }));
    addRows(rows, many);
    expect(rows).toHaveLength(keptRows);
    expect(rows.at(-1)?.seq).toBe(total);
  });

  it("are listed newest first, with the gaps between them, when there is no filter", () => {
    const items = listItems(rowsOf(2, 3, 9), noFilters);
    expect(items.map((item) => (isGap(item) ? item : item.seq))).toEqual([9, { from: 4, to: 8 }, 3, 2]);
  });

  it("are listed without gaps, and only those that match all filters, when there are filters", () => {
    const rows = [sampleRow(1, { name: "a", outcome: "ok" }), sampleRow(5, { name: "Ab", outcome: "failed" })];
    expect(listItems(rows, { ...noFilters, tool: "A" })).toHaveLength(2);
    expect(listItems(rows, { ...noFilters, tool: "a", outcome: "failed" })).toEqual([rows[1]]);
    expect(listItems(rows, { ...noFilters, caller: "nobody else" })).toEqual([]);
  });

  it("are found by their method when they have no name", () => {
    const { name: _name, ...row } = sampleRow(1, { method: "tools/list" });
    expect(listItems([row], { ...noFilters, tool: "list" })).toEqual([row]);
  });

  it("end at the row of the pause when the list is paused", () => {
    const items = listItems(rowsOf(1, 2, 3), noFilters, 2);
    expect(items.map((item) => (isGap(item) ? item : item.seq))).toEqual([2, 1]);
  });
});

describe("the state of the page", () => {
  it("keeps the parts that an update does not have", () => {
    const data = new PageData(() => 0);
    data.applySnapshot(sampleSnapshot());
    data.applyUpdate({ at: sampleTime + 100, links: [], history: [sampleRow(1001)], oldest: 7 });
    expect(data.state?.links).toEqual([]);
    expect(data.state?.clients.rows).toHaveLength(2);
    expect([data.history.at(-1)?.seq, data.oldest]).toEqual([1001, 7]);
  });

  it("ignores updates before the first snapshot", () => {
    const data = new PageData(() => 0);
    data.applyUpdate({ at: sampleTime, links: [] });
    expect([data.state, data.now]).toEqual([undefined, 0]);
  });

  it("keeps older rows when a snapshot of the same start comes, and none of another start", () => {
    const data = new PageData(() => 0);
    data.applySnapshot(sampleSnapshot({ history: rowsOf(1, 2) }));
    data.exposure = sampleExposure();
    data.applySnapshot(sampleSnapshot({ history: rowsOf(9) }));
    expect(seqsOf(data.history)).toEqual([1, 2, 9]);
    data.applySnapshot(sampleSnapshot({ history: rowsOf(1), app: { ...sampleApp, instance: "i2" } }));
    expect([seqsOf(data.history), data.exposure]).toEqual([[1], undefined]);
  });

  it("follows the clock of the server, when the clock of the browser differs", () => {
    let monotonic = 50;
    const data = new PageData(() => monotonic);
    data.applySnapshot(sampleSnapshot());
    monotonic += 1500;
    expect(data.now).toBe(sampleTime + 1500);
    data.applyUpdate({ at: sampleTime - 60_000 });
    expect(data.now).toBe(sampleTime - 60_000);
  });
});

describe("an approval", () => {
  it("takes consent a second after it was first drawn at its place, and not after it arrived, when the page was hidden", () => {
    let now = 0;
    const data = new PageData(() => now);
    const { approvals } = sampleSnapshot();
    data.applySnapshot(sampleSnapshot());
    now = 60_000;
    expect(data.isSettled("a1")).toBe(false);
    now += 999;
    expect(data.isSettled("a1")).toBe(false);
    now += 1;
    expect([data.isSettled("a1"), data.isSettled("a2"), data.isSettled("unknown")]).toEqual([true, false, false]);
    now += 1000;
    expect(data.isSettled("a2")).toBe(true);
    data.applyUpdate({ at: sampleTime, approvals: approvals.toReversed() });
    now += 5000;
    expect([data.isSettled("a1"), data.isSettled("a2")]).toEqual([false, false]);
  });
});

describe("the exposure", () => {
  it("has all entries and unexposed members as rows, with keys that differ", () => {
    const rows = toMembers(sampleExposure());
    expect(rows).toHaveLength(12);
    expect(new Set(rows.map(({ key }) => key)).size).toBe(12);
  });

  it.each([
    ["a part of the name", "USER_INV", ["user_invite"]],
    ["words of several texts", "delete admin", ["board_delete"]],
    ["the reason of an unexposed member", "no tag", ["user.remove", "secrets"]],
    ["a word that no text has", "issue_create zebra", []],
  ])("shows the rows that match when the filter is %s", (_what, filter, names) => {
    const rows = toMembers(sampleExposure()).filter((row) => matches(row, filter));
    expect(rows.map(({ name }) => name)).toEqual(names);
  });

  it("differs between two views by what each shows, and how", () => {
    const entry = sampleEntry(0, { shown: [{ as: "listed" }, { hiddenBy: "x" }, { as: "operation" }] });
    expect(differenceOf(entry, [0, 1])).toBe("only in the first");
    expect(differenceOf(entry, [1, 2])).toBe("only in the second");
    expect(differenceOf(entry, [0, 2])).toBe("shown differently");
    expect(differenceOf(entry, [1, 1])).toBe("same");
    expect(differenceOf(entry, [0, 9])).toBe("only in the first");
  });

  it("counts the differences between two views, and their tokens", () => {
    expect(compareViews(sampleExposure(), [0, 1])).toBe(
      "5 only in the first, 0 only in the second, 0 shown differently; -1,180 tokens",
    );
    expect(compareViews(sampleExposure(), [0, 2])).toContain(" 10 shown differently;");
  });
});
