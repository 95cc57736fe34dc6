import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { SurfaceError } from "../../src/errors.ts";
import { untilAborted } from "../../src/spine/signals.ts";

const doing = "Calling it";

describe("untilAborted()", () => {
  it("untilAborted() settles as the work does when the signal stays silent, and leaves no listener", async () => {
    const { signal } = new AbortController();
    await expect(untilAborted({ start: async () => 1, signal, doing })).resolves.toBe(1);
    const failing = untilAborted({ start: () => Promise.reject(new Error("no")), signal, doing });
    await expect(failing).rejects.toThrow("no");
    const throwing = untilAborted({
      start: () => {
        throw new Error("at once");
      },
      signal,
      doing,
    });
    await expect(throwing).rejects.toThrow("at once");
    await new Promise((resolve) => setImmediate(resolve));
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
  });

  it("untilAborted() rejects at once when the signal fires, and drops what the work comes to", async () => {
    const controller = new AbortController();
    let fail = (_cause: Error): void => {};
    const start = (): Promise<never> => new Promise((_resolve, reject) => (fail = reject));
    const work = untilAborted({ start, signal: controller.signal, doing });
    controller.abort();
    await expect(work).rejects.toMatchObject({ code: "ABORTED", message: "Calling it: the caller cancelled" });
    fail(new Error("late"));
  });

  it("untilAborted() does not start the work when the signal has fired", async () => {
    let started = false;
    const start = async (): Promise<void> => void (started = true);
    const reason = new SurfaceError("TIMEOUT", "Calling: too late");
    await expect(untilAborted({ start, signal: AbortSignal.abort(reason), doing })).rejects.toBe(reason);
    expect(started).toBe(false);
  });
});
