import { assert, asyncProperty, interruptAfterTimeLimit } from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { amount } from "../setup/test-length.ts";
import { disagreements } from "./reachability.ts";
import { randomSurface } from "./random-surface.ts";

describe("the reachable members", () => {
  // The package warns about some of the names.
  beforeEach(() => void vi.spyOn(console, "error").mockReturnValue());
  afterEach(() => void vi.restoreAllMocks());

  it("are the exposed ones on many random surfaces, by every method, in both eras and over every transport", async () => {
    await assert(
      asyncProperty(randomSurface, async (surface) => {
        expect(await disagreements(surface)).toEqual([]);
      }),
      // As many as the time limit allows: `npm run properties` tries more.
      { numRuns: 300, seed: 20_260_729, plugins: [interruptAfterTimeLimit(amount(10_000, 25_000))] },
    );
  }, 120_000);
});
