import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { tryLive } from "./live-exposure.ts";
import { draws } from "../setup/test-length.ts";

// Some patterns of the drawn rules fit nothing, which the package warns of.
beforeEach(() => void vi.spyOn(console, "error").mockReturnValue());
afterEach(() => void vi.restoreAllMocks());

describe("while view rules change between the requests of callers with one id,", () => {
  it("each response holds and runs what the declaration and the rules in force allow its caller", async () => {
    const { wrong, counts } = await tryLive(20_260_728, draws(1200, 2500));
    expect(wrong).toEqual([]);
    for (const count of Object.values(counts)) expect(count).toBeGreaterThan(10);
  }, 60_000);
});
