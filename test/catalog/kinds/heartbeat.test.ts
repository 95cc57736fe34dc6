import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { CallContext } from "../../../src/call/call-context.ts";
import type { ProgressReport } from "../../../src/catalog/entry.ts";
import { withHeartbeat } from "../../../src/catalog/kinds/waiting-tool.ts";
import { SurfaceError } from "../../../src/errors.ts";

describe("withHeartbeat()", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("withHeartbeat() reports each second until the work settles", async () => {
    const reports: ProgressReport[] = [];
    const work = new Promise<string>((resolve) => setTimeout(() => resolve("done"), 2500));
    const waiting = withHeartbeat(work, new CallContext({ sink: (report) => reports.push(report) }));
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await waiting).toBe("done");
    expect(reports.map(({ progress }) => progress)).toEqual([1, 2]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("withHeartbeat() leaves no timer when the work fails", async () => {
    const cause = new SurfaceError("CLOSED", "gone");
    await expect(withHeartbeat(Promise.reject(cause), new CallContext())).rejects.toBe(cause);
    expect(vi.getTimerCount()).toBe(0);
  });
});
