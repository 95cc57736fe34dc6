import { describe, expect, it } from "vitest";
import { toSample, type Sample } from "../../bench/measure/sample.ts";
import { takeTurns } from "../../bench/measure/take-turns.ts";
import { median, quantile } from "../../bench/report/statistics.ts";
import { summarise } from "../../bench/report/summarise.ts";
import { toTable } from "../../bench/report/to-table.ts";

/** Rounds of one figure, as pairs of ours and theirs. */
function rounds(figure: string, ...pairs: readonly (readonly [ours: number, written: number])[]): Sample[] {
  return pairs.map(([ours, written]) => toSample({ [figure]: ours }, { [figure]: written }));
}

function verdictOf(figure: string, ours: number): string | undefined {
  return summarise(rounds(figure, [ours, 100]))[0]?.verdict;
}

describe("the benchmark's report", () => {
  it("summarise() compares round by round when one round was disturbed", () => {
    const [row] = summarise(rounds("call p50, µs", [50, 100], [5_000, 10_000], [60, 100]));
    expect(row).toMatchObject({ ours: 60, base: 100, ratio: 0.5, least: 0.5, greatest: 0.6, verdict: "ok" });
  });

  it("summarise() judges at the bound and beyond it when a figure has a budget", () => {
    expect(verdictOf("cold start to initialize, ms", 110)).toBe("ok");
    expect(verdictOf("cold start to initialize, ms", 111)).toBe("over");
    expect(verdictOf("calls /s, 32 in flight (modern)", 300)).toBe("ok");
    expect(verdictOf("calls /s, 32 in flight (modern)", 299)).toBe("over");
    expect(verdictOf("CPU a call, µs (legacy)", 31)).toBe("over");
    expect(verdictOf("call p50, µs (legacy)", 91)).toBe("over");
    expect(verdictOf("bridged change to notice p50, ms (modern)", 300)).toBe("ok");
    expect(verdictOf("bridged change to notice p50, ms (modern)", 301)).toBe("over");
    expect(verdictOf("allowed: notices of 10,000 writes at once (legacy)", 100)).toBe("ok");
    expect(verdictOf("allowed: notices of 10,000 writes at once (legacy)", 101)).toBe("over");
  });

  it("summarise() judges the worst round when a budget holds in every one", () => {
    const figure = "allowed: notices of 10,000 writes at once (legacy)";
    expect(summarise(rounds(figure, [1, 2], [3, 2], [1, 2]))[0]?.verdict).toBe("over");
    expect(summarise(rounds(figure, [1, 2], [2, 2], [1, 2]))[0]?.verdict).toBe("ok");
  });

  it("summarise() calls it missed and not over when a goal is not reached", () => {
    expect(verdictOf("tools/list of 1000, ms", 91)).toBe("missed");
    expect(verdictOf("change to notice p50, ms (legacy)", 81)).toBe("missed");
  });

  it("summarise() gives no verdict when a figure has no budget", () => {
    expect(verdictOf("call p99, µs (legacy)", 900)).toBe("");
  });

  it("toSample() leaves a figure out when one side could not take it", () => {
    expect([...toSample({ cpu: undefined, wall: 1 }, { cpu: 2, wall: 2 }).keys()]).toEqual(["wall"]);
  });

  it("median() and quantile() sort first when values come in any order", () => {
    expect(median([9, 1, 5])).toBe(5);
    expect(median([4, 1, 3, 2])).toBe(2.5);
    expect(quantile([30, 10, 20], 0.99)).toBe(30);
  });

  it("toTable() says what is compared when it is not the server written by hand", () => {
    const table = toTable(summarise(rounds("warm: reads /s", [3, 1])), ["taken", "against"]);
    expect(table).toMatch(/^\| figure +\| taken +\| against +\| ratio/);
  });

  it("takeTurns() goes the other way round when the round is an odd one", async () => {
    const order: string[] = [];
    const step = async (side: string): Promise<number> => order.push(side);
    expect(await takeTurns(0, ["a", "b", "c"], step)).toEqual({ a: 1, b: 2, c: 3 });
    expect(await takeTurns(1, ["a", "b", "c"], step)).toEqual({ c: 4, b: 5, a: 6 });
    expect(order.join("")).toBe("abccba");
  });

  it("toTable() names the budget and the verdict when it prints a row", () => {
    const table = toTable(summarise(rounds("calls /s, 32 in flight (legacy)", [120_000, 20_000])));
    expect(table).toContain("| 120,000 | 20,000 ");
    expect(table).toContain("| 6.00 ");
    expect(table).toMatch(/at least 3 +\| ok +\|$/m);
  });
});
