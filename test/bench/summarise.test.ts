import { describe, expect, it } from "vitest";
import { toSample, type Sample } from "../../bench/measure/sample.ts";
import { takeTurns } from "../../bench/measure/take-turns.ts";
import { median, quantile } from "../../bench/report/statistics.ts";
import { summarise } from "../../bench/report/summarise.ts";
import { toGoalTable, toTable } from "../../bench/report/to-table.ts";

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
    expect(verdictOf("call p50, µs (legacy)", 91)).toBe("over");
    expect(verdictOf("bridged change to notice p50, ms (modern)", 300)).toBe("ok");
    expect(verdictOf("bridged change to notice p50, ms (modern)", 301)).toBe("over");
    expect(verdictOf("allowed: notices of 10,000 writes at once (legacy)", 100)).toBe("ok");
    expect(verdictOf("allowed: notices of 10,000 writes at once (legacy)", 101)).toBe("over");
  });

  it.each([
    { figure: "calls /s, 32 in flight (legacy)", ok: 500, close: 450, over: 449 },
    { figure: "calls /s, 32 in flight (modern)", ok: 700, close: 630, over: 629 },
    { figure: "CPU a call, µs (legacy)", ok: 14, close: 15, over: 16 },
    { figure: "reads /s (legacy)", ok: 500, close: 450, over: 449 },
    { figure: "reads /s (modern)", ok: 600, close: 540, over: 539 },
    { figure: "call p99, µs (modern)", ok: 100, close: 110, over: 111 },
    { figure: "HTTP calls /s, 32 sessions (legacy)", ok: 500, close: 450, over: 449 },
    { figure: "HTTP calls /s, 32 sessions (modern)", ok: 700, close: 630, over: 629 },
    { figure: "HTTP CPU a call, µs (modern)", ok: 20, close: 22, over: 23 },
    { figure: "scale: CPU a call with 10,000 tools, µs", ok: 100, close: 110, over: 111 },
    // Bounds of the value itself, whatever the base is.
    { figure: "HTTP heap a session, kB (legacy)", ok: 5, close: 5.5, over: 5.51 },
    { figure: "HTTP RSS a session, kB (legacy)", ok: 15, close: 16.5, over: 16.51 },
  ])("summarise() fails a figure that misses its goal by more than a tenth: $figure", ({ figure, ok, close, over }) => {
    expect([ok, close, over].map((ours) => verdictOf(figure, ours))).toEqual(["ok", "close", "over"]);
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
    expect(verdictOf("HTTP call p50, µs (legacy)", 900)).toBe("");
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
    expect(table).toMatch(/at least 5 +\| ok +\|$/m);
  });

  it("toGoalTable() shows each figure with a budget beside its goal when a run ends", () => {
    const samples = [
      ...rounds("calls /s, 32 in flight (legacy)", [440, 100]),
      ...rounds("HTTP heap a session, kB (legacy)", [5.2, 20]),
      ...rounds("HTTP call p50, µs (legacy)", [1, 2]),
    ];
    const [, , ...lines] = toGoalTable(summarise(samples)).split("\n");
    expect(lines.map((line) => line.split("|").map((cell) => cell.trim()))).toEqual([
      ["", "calls /s, 32 in flight (legacy)", "4.40x", "at least 5, fails below 4.5", "NO", ""],
      [
        "",
        "HTTP heap a session, kB (legacy)",
        "5.20",
        "at most 5, fails above 5.5",
        "close: fails only beyond the slack",
        "",
      ],
    ]);
  });
});
