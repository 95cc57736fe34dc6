import { describe, expect, it, vi } from "vitest";
import { CallContext } from "../../../src/call/call-context.ts";
import type { ProgressReport } from "../../../src/catalog/entry.ts";
import { EntryUse, toProgressReport } from "../../../src/catalog/kinds/procedure-mapping.ts";
import { cyclic } from "../support.ts";

describe("toProgressReport()", () => {
  it.each<[unknown, ProgressReport]>([
    ["half way", { progress: 3, message: "half way" }],
    [0.5, { progress: 0.5 }],
    [Number.NaN, { progress: 3 }],
    [undefined, { progress: 3 }],
    [null, { progress: 3 }],
    [true, { progress: 3 }],
    [
      { progress: 7, total: 9, message: "m" },
      { progress: 7, total: 9, message: "m" },
    ],
    [{ done: 1 }, { progress: 3, message: '{"done":1}' }],
    [{ progress: "7", total: Number.POSITIVE_INFINITY, message: 1, x: undefined }, { progress: 3 }],
    [[1], { progress: 3, message: "[1]" }],
    [10n, { progress: 3 }],
    [{ n: 10n }, { progress: 3 }],
    [new Map(), { progress: 3 }],
    [{ toJSON: () => undefined }, { progress: 3 }],
    [cyclic(), { progress: 3 }],
    [Object.create({ progress: 7, message: "inherited" }), { progress: 3 }],
  ])("toProgressReport() of %o", (value, expected) => {
    expect(toProgressReport(value, 3)).toMatchObject(expected);
  });
});

describe("EntryUse", () => {
  it("onProgress() counts what says no number of its own, also when it was taken out of the use", () => {
    const reports: ProgressReport[] = [];
    const { onProgress } = new EntryUse(new CallContext({ sink: (report) => reports.push(report) }), true);
    onProgress("a");
    onProgress("b");
    expect(reports).toEqual([
      { progress: 1, message: "a" },
      { progress: 2, message: "b" },
    ]);
  });

  it("signal is the call's, made when it is asked for", () => {
    const call = new CallContext();
    const asked = vi.spyOn(call, "signal", "get");
    const use = new EntryUse(call, false);
    const reasons: unknown[] = [];
    use.whenAborted((reason) => reasons.push(reason));
    call.cancel();
    expect(reasons).toEqual([expect.objectContaining({ code: "ABORTED" })]);
    expect(asked).not.toHaveBeenCalled();
    expect(use.signal).toBe(call.signal);
  });
});
