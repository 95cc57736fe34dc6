import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { amount } from "../setup/test-length.ts";
import { tryLive } from "./live-exposure.ts";

// Some patterns of the drawn rules fit nothing, which the package warns of.
beforeEach(() => void vi.spyOn(console, "error").mockReturnValue());
afterEach(() => void vi.restoreAllMocks());

describe("while view rules change between the requests of callers with one id,", () => {
  it("each of thousands of responses holds and runs what the declaration and the rules in force allow its caller", async () => {
    // Seeds of its own: `live-exposure.test.ts` and `npm run properties` start elsewhere.
    const { wrong, seed } = await tryLive(500_000, amount(10_000, 30_000));
    expect(wrong, `seed ${seed}`).toEqual([]);
  }, 300_000);
});
