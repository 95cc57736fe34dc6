import { describe, expect, it, vi } from "vitest";
import { CallContext } from "../../src/call/call-context.ts";
import type { ProgressReport } from "../../src/catalog/entry.ts";
import { SurfaceError } from "../../src/errors.ts";

const late = new SurfaceError("TIMEOUT", "late");

function recording(): { readonly call: CallContext; readonly reports: ProgressReport[] } {
  const reports: ProgressReport[] = [];
  return { call: new CallContext({ sink: (report) => reports.push(report) }), reports };
}

describe("CallContext.signal", () => {
  it("signal is created once, at first use", () => {
    let made = 0;
    vi.stubGlobal(
      "AbortController",
      class extends AbortController {
        constructor() {
          super();
          made += 1;
        }
      },
    );
    try {
      const call = new CallContext();
      call.abort(late);
      call.finish();
      expect(made).toBe(0);
      expect(call.signal).toBe(call.signal);
      expect(made).toBe(1);
    } finally {
      vi.unstubAllGlobals();
    }
  });

  it("signal fires with the reason of a later abort", () => {
    const call = new CallContext();
    const { signal } = call;
    expect(signal.aborted).toBe(false);
    call.abort(late);
    expect(signal.reason).toBe(late);
  });

  it("signal has fired when the call was aborted before its first use", () => {
    const call = new CallContext();
    call.abort(late);
    expect(call.signal.aborted).toBe(true);
    expect(call.signal.reason).toBe(late);
  });

  it("whenAborted() makes no signal, and calls back once with the reason, in order, until it is stopped", () => {
    const call = new CallContext();
    const asked = vi.spyOn(call, "signal", "get");
    const seen: unknown[] = [];
    const note = (reason: unknown): void => void seen.push(reason);
    call.whenAborted(note);
    call.whenAborted(note);
    const stop = call.whenAborted(() => seen.push("stopped before"));
    call.whenAborted(() => stopLast());
    const stopLast = call.whenAborted(() => seen.push("stopped by another"));
    stop();
    stop();
    call.abort(late);
    call.cancel();
    expect(seen).toEqual([late, late]);
    call.whenAborted(note);
    expect(seen).toEqual([late, late, late]);
    expect(asked).not.toHaveBeenCalled();
  });

  it("whenAborted() calls nothing when the call has finished before its abort", () => {
    const call = new CallContext();
    call.whenAborted(() => expect.unreachable());
    call.finish();
    call.abort(late);
  });

  it("abort() keeps the first reason when it is called twice", () => {
    const call = new CallContext();
    call.cancel();
    call.abort(late);
    expect(call.signal.reason).toMatchObject({ code: "ABORTED" });
  });

  it("abort() does nothing when the call has finished", () => {
    const call = new CallContext();
    const { signal } = call;
    call.finish();
    call.abort(late);
    expect(signal.aborted).toBe(false);
    expect(() => call.assertRunning()).not.toThrow();
  });

  it("assertRunning() throws the reason of the end", () => {
    const call = new CallContext();
    call.assertRunning();
    call.abort(late);
    expect(() => call.assertRunning()).toThrow(late);
  });
});

describe("CallContext.outcome()", () => {
  it("outcome() settles as the work does", async () => {
    await expect(new CallContext().outcome(Promise.resolve(7))).resolves.toBe(7);
    await expect(new CallContext().outcome(Promise.reject(late))).rejects.toBe(late);
  });

  it("outcome() rejects at once when the call is aborted and the work goes on for ever", async () => {
    const call = new CallContext();
    const outcome = call.outcome(new Promise(() => {}));
    call.abort(late);
    await expect(outcome).rejects.toBe(late);
  });

  it("outcome() rejects when the call was aborted before", async () => {
    const call = new CallContext();
    call.abort(late);
    await expect(call.outcome(Promise.resolve(7))).rejects.toBe(late);
  });

  it("outcome() handles the rejection of work that fails after the abort", async () => {
    const unhandled: unknown[] = [];
    const note = (cause: unknown): number => unhandled.push(cause);
    process.on("unhandledRejection", note);
    try {
      const call = new CallContext();
      let fail: (cause: unknown) => void = () => {};
      const outcome = call.outcome(new Promise((_resolve, reject) => (fail = reject)));
      call.abort(late);
      await expect(outcome).rejects.toBe(late);
      fail(new SurfaceError("INTERNAL", "too late"));
      await new Promise((resolve) => setImmediate(resolve));
      expect(unhandled).toEqual([]);
    } finally {
      process.off("unhandledRejection", note);
    }
  });

  it("outcome() waits for a thenable that is no promise", async () => {
    const thenable: PromiseLike<number> = Promise.resolve(7);
    // oxlint-disable-next-line unicorn/no-thenable -- a thenable that is no promise is what it is about
    const foreign = { then: thenable.then.bind(thenable) };
    await expect(new CallContext().outcome(foreign)).resolves.toBe(7);
  });
});

describe("CallContext.progress()", () => {
  it("progress() passes on growing reports and drops the others", () => {
    const { call, reports } = recording();
    for (const progress of [1, 1, 0, 2, Number.NaN, Number.POSITIVE_INFINITY, 1.5, 2.5]) call.progress({ progress });
    expect(reports).toEqual([{ progress: 1 }, { progress: 2 }, { progress: 2.5 }]);
  });

  it("progress() drops values that are no number", () => {
    const { call, reports } = recording();
    for (const progress of ["3", 3n, null, undefined, {}]) call.progress({ progress } as unknown as ProgressReport);
    expect(reports).toEqual([]);
  });

  it("progress() bounds a message to one line and drops an invalid total", () => {
    const { call, reports } = recording();
    call.progress({ progress: 1, total: Number.NaN, message: `a\u001b[31m\nb${"é".repeat(1000)}` });
    call.progress({ progress: 2, total: 4, message: 5 as unknown as string });
    const [first, second] = reports;
    expect(first?.message).toMatch(/^a \[31m b/);
    expect(Buffer.byteLength(first?.message ?? "")).toBeLessThanOrEqual(512);
    expect(first).not.toHaveProperty("total");
    expect(second).toEqual({ progress: 2, total: 4 });
  });

  it("progress() falls silent when the call has finished or was aborted", () => {
    const finished = recording();
    finished.call.finish();
    finished.call.progress({ progress: 1 });
    const aborted = recording();
    aborted.call.abort(late);
    aborted.call.progress({ progress: 1 });
    expect([finished.reports, aborted.reports]).toEqual([[], []]);
  });

  it("progress() does nothing without a progress token", () => {
    expect(() => new CallContext().progress({ progress: 1 })).not.toThrow();
  });
});

describe("CallContext.whenIdle()", () => {
  it("resolves at once without pending work, and after pending work has ended", async () => {
    const told = vi.fn<() => void>();
    const call = new CallContext();
    call.whenIdle(told);
    await call.outcome(Promise.resolve(1));
    call.finish();
    call.whenIdle(told);
    expect(told).toHaveBeenCalledTimes(2);
  });

  it.each(["resolves", "rejects"])("resolves when aborted work %s, and not before", async (how) => {
    const told = vi.fn<() => void>();
    const call = new CallContext();
    let end = (): void => {};
    const work = new Promise<void>((resolve, reject) => (end = how === "resolves" ? resolve : () => reject(late)));
    const outcome = call.outcome(work);
    call.cancel();
    await expect(outcome).rejects.toMatchObject({ code: "ABORTED" });
    call.finish();
    call.whenIdle(told);
    await Promise.resolve();
    expect(told).not.toHaveBeenCalled();
    end();
    await new Promise((resolve) => setImmediate(resolve));
    expect(told).toHaveBeenCalledTimes(1);
  });
});
