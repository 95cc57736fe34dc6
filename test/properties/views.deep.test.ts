import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { amount } from "../setup/test-length.ts";
import { checkHidden } from "./views-hidden.ts";

// Some patterns fit nothing, which the package warns of.
beforeEach(() => void vi.spyOn(console, "error").mockReturnValue());
afterEach(() => void vi.restoreAllMocks());

describe("any apps, rules and callers", () => {
  it("get the answer for an unknown entry for each hidden one, byte for byte, by every method in both eras", async () => {
    const tried = await checkHidden({
      numRuns: amount(30, 60),
      seed: 20_260_728,
      plugins: [fc.interruptAfterTimeLimit(25_000)],
    });
    expect(tried).toBeGreaterThan(10);
  }, 120_000);
});
