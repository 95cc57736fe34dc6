import { assert, asyncProperty } from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { disagreements } from "./reachability.ts";
import { randomSurface } from "./random-surface.ts";

describe("the reachable members", () => {
  // Some of the names are ones that the package warns about.
  beforeEach(() => void vi.spyOn(console, "error").mockReturnValue());
  afterEach(() => void vi.restoreAllMocks());

  it("are the exposed ones for every caller, by every method, in both eras and over every transport", async () => {
    await assert(
      asyncProperty(randomSurface, async (surface) => {
        expect(await disagreements(surface)).toEqual([]);
      }),
      // A sample of the deep test, which tries 300.
      { numRuns: 5, seed: 20_260_728 },
    );
  }, 120_000);
});
